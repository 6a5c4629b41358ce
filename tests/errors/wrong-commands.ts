// biome-ignore-all lint/complexity/noExcessiveLinesPerFunction: a list of uses
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileIn } from '../cli/espalier.ts';

/** What somebody typed, what the answer has to name, and the exit code. */
export type WrongCommand = readonly [
  use: string,
  args: readonly string[],
  names: readonly (RegExp | string)[],
  code?: number,
];

/** Files and servers that commands name. */
export interface Around {
  readonly folder: string;
  /** A server that knows the model `m` and the key `right`. */
  readonly server: string;
  /** A finished run of `search`. */
  readonly run: string;
  /** A run that another process holds. */
  readonly locked: string;
  /** The dataset of a run of `generate`. */
  readonly dataset: string;
}

const nobody = 'http://127.0.0.1:9/v1';

export function wrongCommands({
  folder,
  server,
  run,
  locked,
  dataset,
}: Around): readonly WrongCommand[] {
  const file = (name: string, text: string) => fileIn(folder, name, text);
  const notes = file('notes.txt', 'Buy milk.\n');
  const empty = file('empty.jsonl', '');
  const blank = file('blank.txt', '\n\n');
  const torn = file('torn.jsonl', '{"question": "a"}\n{"question": \n');
  const nameless = file('nameless.jsonl', '{"text": "What is 1 + 1?"}\n');
  const questions = file('questions.jsonl', '{"question": "What is 1 + 1?", "answer": "2"}\n');
  const unknown = file('unknown.jsonl', '{"task": "game25", "input": "4 9 10 13"}\n');
  const puzzles = file('puzzles.txt', '4 9 10 13\n');
  const three = file('three.txt', '4 9 10 13\n1 2\n');
  const gguf = file('model.gguf', 'no model');
  const suite = file('suite.json', '{"bench": []}');
  const emptyFolder = join(folder, 'nothing');
  mkdirSync(emptyFolder, { recursive: true });
  const mine = join(folder, 'mine');
  mkdirSync(mine, { recursive: true });
  file('mine/problems.jsonl', '{"question": "a"}\n');
  const treeless = join(folder, 'treeless');
  mkdirSync(treeless, { recursive: true });
  file('treeless/run.json', '{}');
  file('treeless/trees.jsonl', '{"problem": "a", "attempt": 0, "step": 0, "tree": {}}\n');
  const out = join(folder, 'out');
  const game = ['search', '--task', 'game24', '--input', '4 9 10 13'];
  const ask = ['search', 'What is 1 + 1?'];
  const generate = ['generate', '--problems', puzzles, '--task', 'game24', '--model', 'none'];
  const many = [...generate, '--out', out];
  const bench = ['bench', '--task', 'game24', '--limit', '1', '--out', join(folder, 'bench')];
  const exported = ['export', run, '--out', out];
  const model = `${server}#m`;

  return [
    // What is typed wrong.
    ['a command that is misspelt', ['serach', 'Why?'], ['serach', 'search']],
    [
      'an option that is misspelt',
      [...game, '--simulatons', '5'],
      ['--simulatons', '--simulations'],
    ],
    [
      'an option of another command',
      [...game, '--budgets', 'calls=3'],
      ['`espalier search` has no option `--budgets`: it belongs to `espalier bench`'],
    ],
    ['an option without its value', [...game, '--seed', '5', '--calls'], ['--calls']],
    ['no command, but a question', ['What is 1 + 1?'], ["search 'What is 1 \\+ 1\\?'"]],
    [
      'a question without quotes',
      ['search', 'Why', 'is', 'it', '--model', 'tiny'],
      ['2 more', 'quotes'],
    ],
    ['no question', ['search'], ['question', '--task']],
    ['a question and a puzzle', [...game, 'Why?'], ['^Give a question or `--input`, not both\\.']],
    [
      'an input without quotes',
      ['search', '--task', 'game24', '--input', '4', '9', '10', '13'],
      ['`--input`, got 3 more; put it in quotes'],
    ],
    ['a puzzle without its name', ['search', '--input', '4 9'], ['--task']],
    [
      'a task that is misspelt',
      ['search', '--task', 'game42', '--input', '4 9'],
      ['game42', 'game24'],
    ],
    ['an algorithm that is misspelt', [...game, '--algorithm', 'mtcs'], ['mtcs', 'mcts']],
    [
      'an algorithm and a method',
      [...game, '--algorithm', 'mcts', '--method', 'agent-q'],
      ['--algorithm', '--method'],
    ],
    ['a method that is misspelt', [...game, '--method', 'agentq'], ['agentq', 'agent-q']],
    // Numbers.
    ['a budget of nothing', [...game, '--simulations', '0'], ['--simulations', '`0`', 'from 1 up']],
    ['a budget of NaN', [...game, '--calls', 'NaN'], ['--calls', 'NaN']],
    ['a budget in words', [...game, '--tokens', '2k'], ['--tokens', '2k', 'integer']],
    [
      'dollars with their sign',
      [...game, '--budget-usd', '$5'],
      ['--budget-usd', '\\$5', 'number'],
    ],
    ['a negative limit', [...game, '--ms', '-1'], ['--ms', '-1', 'from 0 up']],
    ['half a simulation', [...game, '--concurrency', '1.5'], ['--concurrency', '1\\.5']],
    [
      'half a price',
      [...ask, '--model', model, '--price-in', '1'],
      ['--price-out', 'got only `--price-in`'],
    ],
    ['dollars and no price', [...ask, '--model', model, '--budget-usd', '1'], ['price']],
    // Puzzles.
    [
      'a puzzle that cannot be read',
      ['search', '--task', 'game24', '--input', 'five'],
      ['five', '4 9 10 13'],
    ],
    ['a puzzle in a folder', ['search', '--task', 'game24', '--input', folder], ['is a folder']],
    [
      'a file of PDDL that is not there',
      ['search', '--task', 'blocksworld', '--input', 'no.pddl'],
      ['no\\.pddl'],
    ],
    // Models.
    ['a question and no model', ask, ['--model']],
    ['a tree of no run', ['tree'], ['folder', 'espalier tree --help']],
    [
      'a completion of a shell that is misspelt',
      ['completion', 'bsh'],
      ['shell', 'bsh', "Did you mean 'bash'"],
    ],
    ['a completion of no shell', ['completion'], ['shell', 'espalier completion --help']],
    ['no problems', ['generate'], ['--problems', 'espalier generate --help']],
    ['no place for an export', ['export', run], ['--out', 'espalier export --help']],
    ['no model to probe', ['doctor'], ['--model', 'espalier doctor --help']],
    [
      'a model with its name run together',
      [...ask, '--model', 'gpt4'],
      ['Did you mean `openai:gpt4`'],
    ],
    [
      'a model of an address that holds a key',
      [...ask, '--model', 'vllm:http://key@localhost#m'],
      ['`--model` to be a spec without', '…@localhost'],
    ],
    ['a model without its provider', [...ask, '--model', 'gpt-5'], ['gpt-5', 'openai:']],
    ['no model, misspelt', [...ask, '--model', 'nonne'], ['--model', 'Did you mean `none`']],
    [
      'an effort that is misspelt',
      [...ask, '--model', 'openai:gpt-5', '--effort', 'hihg'],
      ['`--effort`', 'hihg', "Did you mean 'high'"],
    ],
    [
      'an effort of judges that is misspelt',
      [...ask, '--model', 'openai:gpt-5', '--judge-effort', 'hihg'],
      ['`--judge-effort`', 'hihg', "Did you mean 'high'"],
    ],
    [
      'an effort to probe that is misspelt',
      ['doctor', '--model', 'openai:gpt-5', '--effort', 'hihg'],
      ['`--effort`', 'hihg', "Did you mean 'high'"],
    ],
    ['a provider that is misspelt', [...ask, '--model', 'opnai:gpt-5'], ['opnai', 'openai']],
    ['a provider without a model', [...ask, '--model', 'openai:'], ['openai']],
    [
      'a key that is not set',
      [...ask, '--model', 'anthropic:claude-sonnet-5'],
      ['ANTHROPIC_API_KEY'],
    ],
    ['a server that is not there', [...ask, '--model', `${nobody}#m`], ['127\\.0\\.0\\.1:9'], 1],
    ['a base URL that is none', [...ask, '--model', 'vllm:htp://localhost'], ['htp']],
    ['a path where none is', [...ask, '--model', `${server}/v7#m`], ['/v7', '404'], 1],
    [
      'a model that the server does not know',
      [...ask, '--model', `${server}#n`],
      ['openai-compatible:n', 'serves m'],
      1,
    ],
    ['a GGUF file that is not there', [...game, '--model', 'no/model.gguf'], ['no/model\\.gguf']],
    ['a GGUF file that is none', [...game, '--model', `tiny:${gguf}`], ['model\\.gguf', 'GGUF']],
    ['a replay of no run', [...game, '--model', 'replay:no/run'], ['no/run']],
    // Runs.
    ['a run that is not there', ['tree', 'no/run'], ['no/run', 'run\\.json']],
    ['a run that is a file', ['tree', notes], ['notes\\.txt', 'file']],
    [
      'a folder with a problems.jsonl of their own',
      ['tree', mine],
      [
        'problems\\.jsonl` is not what a run of espalier writes there: field `problem`',
        'Name the folder of a run',
      ],
    ],
    [
      'a run with a file that is no tree',
      ['tree', treeless],
      ['treeless/trees\\.jsonl', 'format', 'got an object without it'],
    ],
    ['a run that another process holds', [...game, '--save', locked], ['locked', '\\b\\d+\\b']],
    [
      'a run of another puzzle',
      ['search', '--task', 'game24', '--input', '1 2 3 4', '--model', 'none', '--save', run],
      ['journal\\.jsonl', 'another state'],
    ],
    ['a run in place of a file', [...game, '--save', notes], ['notes\\.txt', 'file']],
    ['to retry what was not saved', [...game, '--retry-failed'], ['--save', '--retry-failed']],
    // Problems.
    [
      'problems that are not there',
      ['generate', '--problems', 'no.jsonl', '--out', out],
      ['no\\.jsonl'],
    ],
    ['problems in a folder', ['generate', '--problems', emptyFolder, '--out', out], ['folder']],
    [
      'a file without problems',
      ['generate', '--problems', empty, '--out', out, '--model', model],
      ['empty\\.jsonl'],
    ],
    [
      'a file of empty lines',
      ['generate', '--problems', blank, '--task', 'game24', '--out', out],
      ['blank\\.txt'],
    ],
    [
      'a line that is cut off',
      ['generate', '--problems', torn, '--out', out, '--model', model],
      ['torn\\.jsonl', 'Line 2'],
    ],
    [
      'a line without a question',
      ['generate', '--problems', nameless, '--out', out, '--model', model],
      ['nameless\\.jsonl', 'question', 'Line 1'],
    ],
    [
      'a line that is no puzzle',
      ['generate', '--problems', three, '--task', 'game24', '--out', out, '--model', 'none'],
      ['three\\.txt', 'Line 2', '1 2'],
    ],
    ['questions and no model', ['generate', '--problems', questions, '--out', out], ['--model']],
    [
      'an option of `generate` that is misspelt',
      ['generate', '--problem', puzzles, '--out', out],
      ["'--problem'", '--problems'],
    ],
    [
      'a puzzle of a task that is not there',
      ['generate', '--problems', unknown, '--out', out, '--model', 'none'],
      ['unknown\\.jsonl', 'Line 1', 'game25', 'game24'],
    ],
    ['no place for the dataset', generate, ['--out']],
    [
      'a trainer in place of a rule',
      [...exported, '--rule', 'dpo'],
      ['dpo', 'step-dpo', 'agent-q'],
    ],
    ['a rule that is misspelt', [...many, '--rule', 'step-dop'], ['step-dop', 'step-dpo']],
    [
      'a value of a rule that is misspelt',
      [...many, '--rule', 'math-shepherd:from=evalation'],
      ['--rule math-shepherd', 'evalation', "Did you mean 'evaluation'"],
    ],
    ['a format that is misspelt', [...many, '--format', 'tlr'], ['tlr', 'trl']],
    [
      'a rule that the format cannot hold',
      [...many, '--rule', 'math-shepherd', '--format', 'verl'],
      ['math-shepherd', 'verl'],
    ],
    // Datasets.
    ['an export of no run', ['export', emptyFolder, '--out', out], ['nothing']],
    ['an export to a place that is taken', ['export', run, '--out', notes], ['notes\\.txt']],
    [
      'an upload without an owner',
      [...exported, '--push', 'data'],
      ['--push|repo', 'data', 'owner/name'],
    ],
    [
      'an upload without a token',
      [...exported, '--push', 'me/data'],
      ['`--push` needs `HF_TOKEN`, a token'],
    ],
    ['an export of a dataset', ['export', dataset, '--out', out], ['data', 'is a dataset']],
    [
      'rows of a rule that has none',
      ['rows', dataset, '--rule', 'zzzzzzzzzz'],
      ['zzzzzzzzzz', 'Its rules are: agent-q'],
      1,
    ],
    ['rows of a run', ['rows', run], ['is a run', 'espalier export']],
    ['rows of no dataset', ['rows', emptyFolder], ['nothing']],
    [
      'rows of a rule that is not there',
      ['rows', dataset, '--rule', 'step-dop'],
      ['step-dop', 'agent-q'],
      1,
    ],
    ['a check of no file', ['check-dataset', 'no/data'], ['no/data']],
    [
      'a tokenizer that is none',
      ['check-dataset', dataset, '--tokenizer', notes],
      ['notes\\.txt', 'tokenizer'],
    ],
    // Benchmarks.
    [
      'a demo with too few tokens',
      ['demo', '--puzzles', '1', '--tokens', '5', '--json'],
      ['5 tokens', 'Raise the budget'],
    ],
    ['a benchmark of nothing', ['bench'], ['--task']],
    ['a task of benchmarks that is misspelt', ['bench', '--task', 'gsm9k'], ['gsm9k']],
    ['a suite that is none', ['bench', suite], ['suite\\.json']],
    ['a method of benchmarks that is misspelt', [...bench, '--methods', 'mtcs'], ['mtcs', 'mcts']],
    ['a budget without its unit', [...bench, '--budgets', '8k'], ['--budgets', '8k', 'tokens=']],
    ['a budget of another unit', [...bench, '--budgets', 'dollars=5'], ['dollars', 'usd']],
    [
      'a baseline that is not compared',
      [...bench, '--baseline', 'beam'],
      ['beam', '--baseline|baseline'],
    ],
    ['a split that is not there', [...bench, '--split', 'tset'], ['tset']],
  ];
}
