import { beforeAll, expect, test } from 'vitest';
import { algorithmNames } from '../../src/runs/algorithms.ts';
import { build, espalier, fileIn, temporaryFolder } from './espalier.ts';

beforeAll(build, 60_000);
const folder = temporaryFolder();
const noPddl = fileIn(folder, 'plan.txt', 'stack all the blocks');
const game = 'search --task game24 --input';
const either =
  'Expected a question in quotes, `--task` and its input for a puzzle, or `--environment`.';

// Words between quotes are one argument.
test.concurrent.each([
  ['nope', "Unknown command 'nope'."],
  ['help nope', "Unknown command 'nope'."],
  ['help serch', "Unknown command 'serch'. (Did you mean search?)"],
  [`${game} 5 --json=maybe`, 'Expected no value after `--json`, got `maybe`.'],
  ['generate --no-answers=yes', 'Expected no value after `--no-answers`, got `yes`.'],
  ['search', either],
  ['search --input 5', either],
  ['search --task game24', either],
  [
    'search --task game24 "4 9"',
    'Expected four numbers, such as `4 9 10 13`, or numbers and a target, such as `4 9 10 -> 23`, got `"4 9"`.',
  ],
  [`${game} "4 9" --input "5 6"`, 'Expected one `--input`, got `4 9` and `5 6`.'],
  [`${game} 4 9 10 13`, 'Expected one value after `--input`, got 3 more; put it in quotes.'],
  [
    'search --task chess --input 5',
    "Expected `--task` to be 'blocksworld' or 'countdown' or 'game24' or 'tiles', got `\"chess\"`.",
  ],
  [`${game} ${folder}`, `\`${folder}\` cannot be read: it is a folder. Name a file instead.`],
  ['search --task blocksworld --input no.pddl', 'There is no file `no.pddl`.'],
  [
    `search --task blocksworld --input ${noPddl}`,
    `In \`${noPddl}\`: Expected \`(define (problem …) …)\`, got \`stack\` at line 1, column 1.`,
  ],
  [`${game} five`, 'Expected numbers and a target such as `4 9 10 13 -> 24`, got `"five"`.'],
  [
    `${game} "4 9" --simulations 0`,
    'Expected `--simulations` to be an integer from 1 up, got `0`.',
  ],
  [
    `${game} "4 9" --concurrency x`,
    'Expected `--concurrency` to be an integer from 1 up, got `"x"`.',
  ],
  [`${game} "4 9" --ms -1`, 'Expected `--ms` to be a finite number from 0 up, got `-1`.'],
  [
    `${game} "4 9" --algorithm dfs`,
    `Expected \`--algorithm\` to be ${algorithmNames.map((name) => `'${name}'`).join(' or ')}, got \`"dfs"\`.`,
  ],
  [
    `${game} "4 9" --model gemma`,
    'Expected `--model` to be tiny, tiny:FILE.gguf, llama:FILE.gguf, anthropic:MODEL, openai:MODEL, openrouter:MODEL, gemini:MODEL, groq:MODEL, mistral:MODEL, deepseek:MODEL, together:MODEL, fireworks:MODEL, azure:DEPLOYMENT, bedrock:MODEL, vertex:MODEL, vllm, sglang, llama-server, ollama, lm-studio, transformers, SERVER:MODEL, SERVER:http://HOST:PORT#MODEL, http://HOST:PORT#MODEL, replay:RUN, got `"gemma"`.',
  ],
  [
    `${game} "4 9" --model gpt`,
    'Expected `--model` to name a known provider, got `"gpt"`. Did you mean `openai:gpt`?',
  ],
  [
    `${game} "4 9" --model opnai:gpt-6-luna`,
    'Expected `--model` to name a known provider, got `"opnai:gpt-6-luna"`. Did you mean `openai:gpt-6-luna`?',
  ],
  [
    `${game} "4 9 10 13" --model no/model.gguf`,
    `There is no file \`${process.cwd()}/no/model.gguf\`.`,
  ],
  [
    `${game} "4 9 10 13" --model gpt-6-luna`,
    'Expected `--model` to name a known provider, got `"gpt-6-luna"`. Did you mean `openai:gpt-6-luna`?',
  ],
  [
    'search "Why?" --model tiny',
    'Expected `--model`: a question needs a model, and the model in the package knows only its puzzles. For example --model openai:gpt-6-luna or --model ollama:qwen3.',
  ],
  [
    `${game} "4 9 10 13" --algorithm agent-q`,
    '`agent-q` is a method, and no algorithm: write `--method agent-q`.',
  ],
  [`${game} "4 9" --order any`, "Expected `--order` to be 'arrival' or 'issued', got `\"any\"`."],
  [`${game} "4 9" --cals 5`, "Unknown option '--cals'. (Did you mean --calls?)"],
  [`${game} "4 9" --usd 1`, "Unknown option '--usd'. (Did you mean --budget-usd?)"],
  [
    `${game} "4 9" --budget 50`,
    "Unknown option '--budget': name its unit, such as `--calls` or `--simulations`.",
  ],
  ['completion pwsh', "Expected `shell` to be 'bash' or 'zsh' or 'fish', got `\"pwsh\"`."],
  ['methods agent-q', '`espalier methods` takes no arguments but options, got 1.'],
  [
    `${game} "4 9 10 13" --calls 1e400`,
    'Expected `--calls` to be an integer from 1 up, got `"1e400"`.',
  ],
  [
    `${game} "1 2 3"`,
    'Expected four numbers, such as `4 9 10 13`, or numbers and a target, such as `4 9 10 -> 23`, got `"1 2 3"`.',
  ],
  ['doctor', 'Expected `--model <spec>`, got none. `espalier doctor --help` has examples.'],
  [
    'search "Why?"',
    'Expected `--model`: a question needs a model, and the model in the package knows only its puzzles. For example --model openai:gpt-6-luna or --model ollama:qwen3.',
  ],
  ['search Why not?', 'Expected one question, got also `not?`; put it in quotes.'],
  ['tree', 'Expected a folder, got none. `espalier tree --help` has examples.'],
  [
    'tree no/run',
    'There is no run in `no/run`: it has no run.json, journal.jsonl or problems.jsonl.',
  ],
  ['demo --puzzles none', 'Expected `--puzzles` to be an integer from 1 up, got `"none"`.'],
])('%s', async (command, sentence) => {
  const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word ?? '',
  );
  expect(await espalier(...args)).toEqual({ code: 2, stdout: '', stderr: `${sentence}\n` });
});

test('shows help on stderr where no command is given', async () => {
  const { code, stdout, stderr } = await espalier();
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^Usage: espalier /);
});

test('help fits a terminal of 80 columns, but for commands to copy', async () => {
  const { stdout } = await espalier('--help');
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+) .*\[options\]/gm)].map(
    ([, name = '']) => name,
  );
  expect(commands.length).toBeGreaterThan(10);
  for (const command of commands) {
    const { stdout: help } = await espalier(command, '--help');
    const lines = help.split('\n').filter((line) => !/^(?:Example: | {2,}--)/.test(line));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  }
});

test.each(['search', 'tree', 'demo', 'doctor'])('%s --help gives an example', async (command) => {
  const { code, stdout } = await espalier(command, '--help');
  expect(stdout).toContain(`\nExample: espalier ${command} `);
  expect(code).toBe(0);
});

test.each([
  [['help'], /^Usage: espalier \[options\] \[command\]\n/],
  [['-h'], /^Usage: espalier \[options\] \[command\]\n/],
  [['help', 'search'], /^Usage: espalier search \[options\]/],
  [['-V'], /^\d+\.\d+\.\d+\n$/],
  [['-V', 'x'], /^\d+\.\d+\.\d+\n$/],
  [['--version'], /^\d+\.\d+\.\d+\n$/],
])('%j answers on stdout', async (typed, expected) => {
  const { code, stdout, stderr } = await espalier(...typed);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(expected);
});
