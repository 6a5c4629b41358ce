import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Emulator, emulator } from '../../src/testing/index.ts';
import { build, espalier, fileIn, start, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const puzzles = ['4 9 10 13', '1 3 4 6', '2 4 6 7', '3 3 8 8', '5 5 5 1'];
const questions = ['one', 'two', 'three', 'four'].map((name, index) => ({
  id: name,
  question: `What is ${index + 1} + 1?`,
  answer: `${index + 2}`,
}));
let server: Emulator;
let slow: Emulator;

/** Every second sample is right, whoever asks. */
function answer({
  messages,
  sample,
}: {
  readonly messages: readonly { readonly content: string }[];
  readonly sample: number;
}) {
  const prompt = messages.map(({ content }) => content).join('\n');
  if (prompt.includes('Judge how likely')) return 'likely';
  const first = Number(/What is (\d+)/.exec(prompt)?.[1]);
  return `The answer is ${first + (sample % 2 === 0 ? 1 : 2)}.`;
}

beforeAll(async () => {
  await build();
  server = await emulator({ dialect: 'vllm', models: ['adder'], answer });
  slow = await emulator({ dialect: 'vllm', models: ['adder'], answer, latencyMs: 150 });
}, 60_000);
afterAll(async () => {
  await server.close();
  await slow.close();
});

function lines(...path: readonly string[]): readonly Record<string, unknown>[] {
  return readFileSync(join(folder, ...path), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The options that all runs here need. */
function options(name: string, problems: string, ...more: readonly string[]): readonly string[] {
  const place = ['--run', join(folder, `run-${name}`), '--out', join(folder, name)];
  return ['generate', '--problems', problems, ...place, ...more];
}

test('puzzles become trees, and trees pairs', async () => {
  const problems = fileIn(folder, 'puzzles.txt', `${puzzles.join('\n')}\n`);
  const plain = [
    '--task',
    'game24',
    '--model',
    'none',
    '--simulations',
    '60',
    '--max-pairs',
    '20',
    '--min-visits',
    '1',
  ];
  const { code, stdout, stderr } = await espalier(...options('puzzles', problems, ...plain));
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Searched 5 problems: 5 trees grown, \d of them solved\.$/m);
  const rows = lines('puzzles', 'agent-q', 'train-00000-of-00001.jsonl');
  expect(rows.length).toBeGreaterThan(20);
  expect([...new Set(rows.map(({ problem_id }) => problem_id))]).toEqual(puzzles);
  expect(rows.every(({ chosen, rejected }) => chosen !== rejected)).toBe(true);
  expect(rows.every(({ guidance }) => guidance === 'rewarded')).toBe(true);
  expect(readFileSync(join(folder, 'puzzles', 'README.md'), 'utf8')).toContain(
    'config_name: "agent-q"',
  );

  const drawn = await espalier('tree', join(folder, 'run-puzzles'), '--depth', '1');
  expect(drawn.code).toBe(0);
  expect(drawn.stdout).toContain('Game of 24');
}, 60_000);

test('known answers reward ends, and stamp the rows', async () => {
  const problems = fileIn(
    folder,
    'questions.jsonl',
    questions.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  const model = ['--model', `vllm:${server.url}#adder`, '--calls', '12'];
  const { code, stdout } = await espalier(...options('gold', problems, ...model, '--json'));
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    stopReason: 'finished',
    done: 4,
    solved: 4,
    failed: [],
  });
  const rows = lines('gold', 'agent-q', 'train-00000-of-00001.jsonl');
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.every(({ guidance }) => guidance === 'oracle-guided')).toBe(true);
  expect(rows.find(({ problem_id }) => problem_id === 'three')?.['chosen']).toContain(
    'The answer is 4.',
  );

  const unrewarded = await espalier(
    ...options(
      'judged',
      problems,
      ...model,
      '--no-answers',
      '--rule',
      'unpaired-siblings',
      '--json',
    ),
  );
  // Nobody said which ends are right: there are no pairs.
  expect(unrewarded.code).toBe(1);
  expect(JSON.parse(unrewarded.stdout)).toMatchObject({ done: 4, solved: 0 });
});

test('the same command again costs nothing; other options want another run', async () => {
  const problems = join(folder, 'questions.jsonl');
  const model = ['--model', `vllm:${server.url}#adder`];
  const before = server.account.requests;
  const again = await espalier(...options('gold', problems, ...model, '--calls', '12', '--json'));
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ done: 4, unfinished: 0 });
  expect(server.account.requests - before).toBeLessThanOrEqual(1);
  const other = await espalier(...options('gold', problems, ...model, '--calls', '13'));
  expect(other.code).toBe(2);
  expect(other.stderr).toMatch(
    /^The run in `.*run-gold` is another one: its `budget` is \{"calls":12\}, this command has \{"calls":13\}\. Take another `--run`\.\n$/,
  );
});

test('a budget for all ends the run, and a larger one goes on', async () => {
  const problems = join(folder, 'questions.jsonl');
  const model = ['--model', `vllm:${server.url}#adder`, '--calls', '12', '--concurrency', '1'];
  const short = await espalier(
    ...options('short', problems, ...model, '--budget-calls', '7', '--json'),
  );
  expect(JSON.parse(short.stdout)).toMatchObject({ stopReason: 'budget' });
  const rest = await espalier(...options('short', problems, ...model, '--json'));
  expect(JSON.parse(rest.stdout)).toMatchObject({ stopReason: 'finished', done: 4 });
  const file = ['agent-q', 'train-00000-of-00001.jsonl'];
  expect(lines('short', ...file)).toEqual(lines('gold', ...file));
});

test('export makes other rows of the same trees without a call', async () => {
  const before = server.account.requests;
  const run = join(folder, 'run-gold');
  const out = join(folder, 'steps');
  const { code, stdout } = await espalier(
    ...['export', run, '--rule', 'math-shepherd,prompts', '--file', 'parquet', '--out', out],
  );
  expect(code).toBe(0);
  expect(stdout).toContain('math-shepherd');
  expect(readdirSync(out).toSorted()).toEqual(['README.md', 'math-shepherd', 'prompts']);
  expect(existsSync(join(out, 'prompts', 'train-00000-of-00001.parquet'))).toBe(true);
  const chat = await espalier(
    ...[
      'export',
      run,
      '--format',
      'trl-conversational',
      '--notation',
      'restated',
      '--out',
      join(folder, 'chat'),
    ],
  );
  expect(chat.code).toBe(0);
  const [row] = lines('chat', 'agent-q', 'train-00000-of-00001.jsonl');
  expect(row?.['chosen']).toMatchObject([{ role: 'assistant' }]);
  expect(server.account.requests).toBe(before);
});

test.each(['gold', 'steps', 'chat', 'puzzles'])(
  'what is written passes the audit: %s',
  async (name) => {
    const { code, stdout } = await espalier('check-dataset', join(folder, name), '--json');
    const report = JSON.parse(stdout) as {
      readonly errors: number;
      readonly sets: readonly { readonly rows: number }[];
    };
    expect(report.errors).toBe(0);
    expect(code).toBe(0);
    expect(report.sets.length).toBeGreaterThan(0);
    expect(report.sets.every(({ rows }) => rows > 0)).toBe(true);
  },
);

test('a chat template is read from the configuration of a tokenizer', async () => {
  const template =
    '{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}';
  const good = fileIn(folder, 'tokenizer_config.json', JSON.stringify({ chat_template: template }));
  const broken = fileIn(folder, 'broken.json', '{"chat_template": ');
  const args = [
    'export',
    join(folder, 'run-gold'),
    '--notation',
    'restated',
    '--end-token',
    '<|end|>',
  ];
  const rendered = await espalier(
    ...args,
    '--out',
    join(folder, 'rendered'),
    '--chat-template',
    good,
  );
  expect(rendered.code).toBe(0);
  const [row] = lines('rendered', 'agent-q', 'train-00000-of-00001.jsonl');
  expect(String(row?.['prompt'])).toMatch(/^<\|user\|>.*<\|end\|><\|assistant\|>$/s);
  expect(String(row?.['chosen'])).toMatch(/The answer is \d+\.<\|end\|>$/);
  const refused = await espalier(...args, '--out', join(folder, 'no'), '--chat-template', broken);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/^Expected `.*broken\.json` to hold a `chat_template`\.\n$/);
  const missing = await espalier(
    ...args,
    '--out',
    join(folder, 'no'),
    '--chat-template',
    'no.jinja',
  );
  expect(missing.stderr).toMatch(/^`no\.jinja` cannot be read: /);
});

test('a problem whose search fails is listed, and the others are searched', async () => {
  const broken = await emulator({
    dialect: 'vllm',
    models: ['adder'],
    answer: (question) => {
      if (question.messages.some(({ content }) => content.includes('What is 2'))) return '';
      return answer(question);
    },
  });
  try {
    const problems = join(folder, 'questions.jsonl');
    const model = ['--model', `vllm:${broken.url}#adder`, '--calls', '12'];
    const { code, stdout } = await espalier(...options('failing', problems, ...model));
    expect(code).toBe(0);
    expect(stdout).toContain('Searched 4 problems: 3 trees grown, 3 of them solved.');
    expect(stdout).toMatch(/^1 failed; .* searches all again:\n {2}two: /m);
  } finally {
    await broken.close();
  }
});

test('Ctrl-C leaves a whole dataset of what is done', async () => {
  const many = Array.from({ length: 60 }, (_, index) => ({
    question: `What is ${index} + 1?`,
    answer: `${index + 1}`,
  }));
  const problems = fileIn(
    folder,
    'many.jsonl',
    many.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  const model = ['--model', `vllm:${slow.url}#adder`, '--calls', '6', '--concurrency', '2'];
  const running = start(...options('stopped', problems, ...model, '--json'));
  const outcomes = join(folder, 'run-stopped', 'problems.jsonl');
  while (!existsSync(outcomes) || lines('run-stopped', 'problems.jsonl').length < 2)
    await sleep(20);
  running.process.kill('SIGINT');
  const { code, stdout } = await running.finished;
  expect(code).toBe(130);
  const report = JSON.parse(stdout) as { readonly stopReason: string; readonly done: number };
  expect(report.stopReason).toBe('stopped');
  expect(report.done).toBeGreaterThanOrEqual(2);
  expect(report.done).toBeLessThan(60);
  const rows = lines('stopped', 'agent-q', 'train-00000-of-00001.jsonl');
  expect(new Set(rows.map(({ problem_id }) => problem_id)).size).toBe(report.done);
}, 30_000);

test('trees that others grew become rows', async () => {
  const tree = {
    question: 'What is 2 + 2?',
    final_answer: '4',
    reasoning_steps: {
      text: 'What is 2 + 2?',
      mc_value: 0.5,
      children: [
        { text: 'Two and two are four. The answer is 4.', mc_value: 1, children: [] },
        { text: 'Two and two are five. The answer is 5.', mc_value: 0, children: [] },
      ],
    },
  };
  const file = fileIn(folder, 'omega.jsonl', `${JSON.stringify(tree)}\n`);
  const out = ['--from', 'omegaprm', '--rule', 'step-dpo', '--out', join(folder, 'omega')];
  const { code } = await espalier('export', file, ...out);
  expect(code).toBe(0);
  const [row] = lines('omega', 'step-dpo', 'train-00000-of-00001.jsonl');
  expect(String(row?.['chosen'])).toContain('four');
  expect(String(row?.['rejected'])).toContain('five');
});

test.each([
  [
    ['generate', '--out', 'x'],
    'Expected `--problems <file>`, got none. `espalier generate --help` has examples.',
  ],
  [['generate', '--problems', 'none.jsonl', '--out', 'x'], '`none.jsonl` cannot be read: '],
  [['export', 'nowhere', '--out', 'x'], 'There is no run in `nowhere`: '],
  [['export', 'a', '--out', 'x', '--rule', 'q-star'], "Expected `--rule` to be 'agent-q' or "],
  [
    ['export', 'a', '--out', 'x', '--split', 'train=1,test=1'],
    'Expected `--split` to be shares above 0 that sum to 1',
  ],
  [['export', 'a', '--from', 'toolbench', '--out', 'x'], '`a` cannot be read: '],
])('%j is refused', async (args, message) => {
  const { code, stderr } = await espalier(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('what cannot be written is not paid for', async () => {
  const problems = join(folder, 'questions.jsonl');
  const before = server.account.requests;
  const model = ['--model', `vllm:${server.url}#adder`, '--calls', '12'];
  const form = ['--rule', 'math-shepherd', '--format', 'openai'];
  const { code, stderr } = await espalier(...options('unwritable', problems, ...model, ...form));
  expect(code).toBe(2);
  expect(stderr).toContain('Expected `--format` to have a place for stepwise rows');
  expect(server.account.requests).toBe(before);
  expect(existsSync(join(folder, 'run-unwritable'))).toBe(false);
});

test('a form that has no place for the rows says which it has', async () => {
  const out = join(folder, 'nothing');
  mkdirSync(out);
  writeFileSync(join(out, 'mine.txt'), 'mine');
  const { code, stderr } = await espalier(
    ...[
      'export',
      join(folder, 'run-gold'),
      '--rule',
      'math-shepherd',
      '--format',
      'openai',
      '--out',
      out,
    ],
  );
  expect(code).toBe(2);
  expect(stderr).toBe(
    'Expected `--format` to have a place for stepwise rows (rule math-shepherd), got `openai`, which takes preference, sft rows.\n',
  );
  expect(readdirSync(out)).toEqual(['mine.txt']);
});

test('a dataset that cannot be written is refused before anything is searched', async () => {
  const problems = fileIn(folder, 'two.txt', '4 9 10 13\n1 3 4 6\n');
  const task = ['--task', 'game24', '--model', 'none', '--simulations', '20'];
  const inTheWay = fileIn(folder, 'in-the-way', 'mine');
  const own = join(folder, 'own');
  mkdirSync(join(own, 'agent-q'), { recursive: true });
  const shard = fileIn(join(own, 'agent-q'), 'train-00000-of-00001.jsonl', '{"mine": true}\n');
  for (const [out, sentence] of [
    [
      inTheWay,
      `The folder \`${inTheWay}\` could not be used: there is a file where a folder is needed. Choose another path.\n`,
    ],
    [
      join(inTheWay, 'data'),
      `The folder \`${inTheWay}/data\` could not be used: there is a file where a folder is needed. Choose another path.\n`,
    ],
    [
      own,
      `\`${shard}\` was not written by espalier, and the dataset would take its place. Choose another folder.\n`,
    ],
  ] as const) {
    const run = join(folder, 'run-refused');
    const { stderr, code } = await espalier(
      ...['generate', '--problems', problems, ...task, '--run', run, '--out', out],
    );
    expect({ stderr, isRefused: code !== 0 }).toEqual({ stderr: sentence, isRefused: true });
    expect(existsSync(run)).toBe(false);
  }
  expect(readFileSync(shard, 'utf8')).toBe('{"mine": true}\n');
});

test('an export writes over its own dataset, and over nobody else’s', async () => {
  const problems = fileIn(folder, 'three.txt', '4 9 10 13\n');
  const task = ['--task', 'game24', '--model', 'none', '--simulations', '60'];
  const args = options('again', problems, ...task);
  expect(await espalier(...args)).toMatchObject({ code: 0, stderr: '' });
  const out = join(folder, 'again');
  const exported = ['export', join(folder, 'run-again'), '--out', out];
  expect(await espalier(...exported)).toMatchObject({ code: 0, stderr: '' });
  writeFileSync(join(out, 'README.md'), '# My notes\n');
  expect(await espalier(...exported)).toEqual({
    code: 2,
    stdout: '',
    stderr: `\`${out}/README.md\` was not written by espalier, and the dataset would take its place. Choose another folder.\n`,
  });
  expect(readFileSync(join(out, 'README.md'), 'utf8')).toBe('# My notes\n');
});

test('each attempt and each seed of the packaged model grows another tree, the same one again', async () => {
  const problems = fileIn(folder, 'one.txt', '2 4 6 7\n');
  const made = async (name: string, seed: string): Promise<readonly string[]> => {
    const search = ['--task', 'game24', '--algorithm', 'mcts', '--calls', '30', '--fill'];
    const { code } = await espalier(
      ...options(name, problems, ...search, '--attempts', '2', '--seed', seed),
    );
    expect(code).toBe(0);
    const trees = lines(`run-${name}`, 'trees.jsonl') as readonly Readonly<{
      attempt: number;
      tree: { readonly nodes: unknown };
    }>[];
    return trees
      .toSorted((one, other) => one.attempt - other.attempt)
      .map(({ tree }) => JSON.stringify(tree.nodes));
  };
  const first = await made('seed-0', '0');
  const again = await made('seed-0-again', '0');
  const other = await made('seed-1', '1');
  expect(again).toEqual(first);
  expect(new Set([...first, ...other]).size).toBe(4);
});
