/** A saved run is searched again by other methods, with what was recorded. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { BenchReport } from '../../src/bench/report.ts';
import { type EmulatedQuestion, emulator } from '../../src/testing/index.ts';
import { build, espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
beforeAll(build, 60_000);

const problemsFile = (content: string) => fileIn(folder, `${content.length}.txt`, content);

test('searches the recorded thoughts of a run, for nothing', async () => {
  const problems = join(folder, 'problems.txt');
  const run = join(folder, 'run');
  writeFileSync(problems, '4 9 10 13\n2 4 6 7\n');
  await espalier(
    ...['generate', '--problems', problems, '--task', 'game24', '--calls', '30'],
    ...['--run', run, '--out', join(folder, 'data')],
  );
  const { stdout } = await espalier(
    ...[
      'bench',
      '--replay',
      run,
      '--budgets',
      'calls=12',
      '--out',
      join(folder, 'replayed'),
      '--json',
    ],
  );
  const { model, points, spend } = JSON.parse(stdout) as BenchReport;
  expect(model).toBeNull();
  expect(spend.bought.calls).toBe(0);
  const mcts = points.find(({ method }) => method === 'mcts');
  expect(mcts).toMatchObject({ n: 2, failed: 0, usd: 0 });
}, 60_000);

test('prices recorded thoughts, and searches other ones anew', async () => {
  const run = join(folder, 'priced');
  const price = ['--price-in', '1000', '--price-out', '2000'];
  const grown = (seed: string) =>
    espalier(
      ...[
        'generate',
        '--problems',
        problemsFile('4 9 10 13\n'),
        '--task',
        'game24',
        '--calls',
        '20',
      ],
      ...['--run', run, '--out', join(folder, 'priced-data'), '--seed', seed, ...price],
    );
  await grown('1');
  const replayed = async (...options: string[]) => {
    const { stdout } = await espalier(
      ...['bench', '--replay', run, '--methods', 'beam', '--json', ...options],
    );
    const { points, spend } = JSON.parse(stdout) as BenchReport;
    expect(spend.bought.calls).toBe(0);
    return points.map(({ method, tokens, usd }) => ({ method, tokens, usd }));
  };
  const out = ['--budgets', 'calls=12', '--out', join(folder, 'priced-bench')];
  const known = await replayed(...out, ...price);
  for (const { tokens, usd } of known) {
    expect(usd).toBeGreaterThanOrEqual((tokens * 1_000) / 1e6);
    expect(usd).toBeLessThanOrEqual((tokens * 2_000) / 1e6);
  }
  const inDollars = ['--budgets', 'usd=4', '--out', join(folder, 'dollars')];
  const limited = (await replayed(...inDollars, ...price)).map(({ usd }) => usd ?? Number.NaN);
  // A greedy search asks what was not recorded.
  expect(Math.max(...limited)).toBeGreaterThan(0.2);
  expect(Math.max(...limited)).toBeLessThanOrEqual(4);
  const limit = await espalier('bench', '--replay', run, '--budget-usd', '1');
  expect(limit.stderr).toContain('`--replay` asks none');
  // Dollars that nobody knows cannot be limited.
  rmSync(join(run, 'report.json'));
  const unknown = await espalier('bench', '--replay', run, ...inDollars.slice(0, 2));
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toMatch(
    /^Expected `prices` \(`--price-in` and `--price-out`\) to hold a price for `.*`, because dollars are limited, got none\.$/m,
  );
  rmSync(run, { recursive: true });
  await grown('2');
  const other = await replayed(...out, ...price);
  const fresh = await replayed('--budgets', 'calls=12', '--out', join(folder, 'fresh'), ...price);
  expect(other).toEqual(fresh);
  expect(other).not.toEqual(known);
}, 60_000);

test('a run without answers of a model cannot be replayed, and is named', async () => {
  const run = join(folder, 'no-model');
  const asked = ['--task', 'game24', '--input', '4 9 10 13', '--model', 'none'];
  await espalier('search', ...asked, '--save', run);
  const { code, stderr } = await espalier('bench', '--replay', run);
  expect(stderr).toMatch(/^The run in `.*no-model` cannot be replayed: [^\n]*\.\n$/);
  expect(code).toBe(2);
});

test('replays to the end what was recorded in part, and says that it was', async () => {
  const run = join(folder, 'partial');
  const problems = Array.from(
    { length: 32 },
    (_, place) => `${1 + (place % 8)} ${2 + (place >> 3)} 9 13`,
  );
  await espalier(
    ...['generate', '--problems', problemsFile(problems.join('\n')), '--task', 'game24'],
    ...['--calls', '12', '--run', run, '--out', join(folder, 'partial-data')],
  );
  const { code, stdout } = await espalier(
    ...['bench', '--replay', run, '--budgets', 'calls=12', '--out', join(folder, 'partial-bench')],
  );
  expect(stdout).not.toContain('STOPPED');
  expect(stdout).toContain('Undecided. Too many searches asked for what was not recorded: ');
  expect(code).toBe(0);
}, 60_000);

test('the run of a server is replayed under the name it serves, at its price and with its steps', async () => {
  const answer = ({ messages, sample }: EmulatedQuestion) =>
    JSON.stringify(messages).includes('Judge how likely')
      ? 'likely'
      : `4 ${'+-*'[sample % 3]} 9 = ${[13, -5, 36][sample % 3]}`;
  const server = await emulator({ dialect: 'vllm', models: ['Qwen/Served'], answer });
  const run = join(folder, 'served');
  const spec = `vllm:${server.url}/v1`;
  try {
    await espalier(
      ...['generate', '--problems', problemsFile('4 9 10 13\n4 9 1 2\n4 9 3 3\n')],
      ...['--task', 'game24', '--model', spec, '--calls', '20', '--max-tokens', '48'],
      ...['--price-in', '100', '--price-out', '300', '--run', run],
      ...['--out', join(folder, 'served-data')],
    );
  } finally {
    await server.close();
  }
  const saved = readFileSync(join(run, 'run.json'), 'utf8');
  expect(JSON.parse(saved)).toMatchObject({ model: 'vllm:Qwen/Served', maxTokens: 48 });
  const asked = ['bench', '--replay', run, '--budgets', 'calls=12', '--no-times'];
  const { stdout } = await espalier(...asked, '--out', join(folder, 'served-bench'), '--json');
  const { points, spend } = JSON.parse(stdout) as BenchReport;
  expect(spend.bought.calls).toBe(0);
  const { n, failed, usd, inputTokens, outputTokens } =
    points.find(({ method }) => method === 'mcts') ?? {};
  expect([n, failed]).toEqual([3, 0]);
  expect(outputTokens).toBeGreaterThan(0);
  expect(usd).toBeCloseTo((100 * (inputTokens ?? 0) + 300 * (outputTokens ?? 0)) / 1e6, 9);
  const told = await espalier(...asked, '--out', join(folder, 'served-told'));
  expect(told.stdout).toContain(
    'Model: what was recorded, priced as then at $100 and $300 a million tokens, with steps of at most 48 tokens as then.\n',
  );
  const given = ['--price-in', '1', '--price-out', '2', '--max-tokens', '48'];
  const other = await espalier(...asked, ...given, '--out', join(folder, 'served-other'));
  expect(other.stdout).toContain('Model: what was recorded.\n');
}, 60_000);
