import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BenchReport } from '../../src/bench/report.ts';
import { build, espalier, start } from './espalier.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-cli-bench-'));
beforeAll(build, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const small = ['--task', 'game24', '--limit', '4', '--budgets', 'calls=8,16', '--no-times'];

test('measures, keeps the report, and goes on with more', async () => {
  const out = join(folder, 'small');
  const { code, stdout } = await espalier('bench', ...small, '--out', out);
  expect(code).toBe(0);
  expect(stdout).toContain('Model: espalier-tiny, the toy that comes with the package');
  expect(stdout).toMatch(/^best-of-n +16 calls +4 /m);
  expect(stdout).toContain('Undecided: not to be trusted with 4 independent problems');
  for (const name of ['report.json', 'report.md', 'report.html']) {
    expect(existsSync(join(out, name))).toBe(true);
  }
  const again = await espalier('bench', ...small, '--methods', 'mcts,beam', '--out', out, '--json');
  const report = JSON.parse(again.stdout) as BenchReport;
  expect(report.points.map(({ method }) => method)).toContain('beam');
  expect(readFileSync(join(out, 'report.json'), 'utf8')).toContain('"beam"');
}, 60_000);

test('is killed at any time, and comes to the same report', async () => {
  const args = [...small, '--limit', '12', '--seeds', '2', '--methods', 'mcts,beam', '--out'];
  const whole = join(folder, 'whole');
  await espalier('bench', ...args, whole);
  const out = join(folder, 'killed');
  for (const ms of [700, 900, 1_100, 1_300]) {
    const { process: child, finished } = start('bench', ...args, out);
    setTimeout(() => child.kill('SIGKILL'), ms);
    await finished;
  }
  const { code } = await espalier('bench', ...args, out);
  expect(code).toBe(0);
  const [expected, found] = [whole, out].map(
    (path) => JSON.parse(readFileSync(join(path, 'report.json'), 'utf8')) as BenchReport,
  );
  // What a kill lost on its way was bought twice.
  const comparable = (report = expected) => ({
    ...report,
    spend: report?.spend.charged,
    sum: null,
  });
  expect(comparable(found)).toEqual(comparable());
}, 60_000);

test('reads a suite, in which the command line has the last word', async () => {
  const path = join(folder, 'suite.yaml');
  const out = join(folder, 'suite');
  writeFileSync(path, 'task: game24\nlimit: 9\nmethods: [beam]\nbudgets: { calls: 8 }\nseeds: 2\n');
  const { stdout } = await espalier(
    ...['bench', path, '--limit', '2', '--no-times', '--out', out, '--json'],
  );
  const { task, seeds, points } = JSON.parse(stdout) as BenchReport;
  expect([task.instances, seeds]).toEqual([2, 2]);
  expect(points.map(({ method, n }) => [method, n])).toEqual([
    ['greedy', 4],
    ['best-of-n', 4],
    ['beam', 4],
  ]);
}, 60_000);

test('says beforehand what it may cost, and spends nothing', async () => {
  const out = join(folder, 'dry');
  const { code, stdout } = await espalier(
    ...['bench', '--task', 'game24', '--limit', '20', '--seeds', '2', '--budgets', 'tokens=1k,2k'],
    ...['--model', 'openai:gpt-6-luna', '--dry-run', '--out', out],
  );
  expect(code).toBe(0);
  expect(stdout).toContain('20 problems, 3 methods, 2 budgets, 2 seeds: 240 searches.');
  // 20 · 2 · 3 searches at 1,000 and at 2,000 tokens.
  expect(stdout).toContain('Charged are at most 360,000 tokens, $');
  expect(stdout).toContain('Bought are about 240,000 tokens or less, $');
  expect(existsSync(out)).toBe(false);
});

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

test.each([
  [['--task', 'gam24'], 'There is no task `"gam24"`. Did you mean `game24`?'],
  [[...small, '--methods', 'mctss'], 'There is no method `"mctss"`. Did you mean `mcts`?'],
  [[...small, '--budgets', '2k'], 'Expected `--budgets` as in tokens=2k,8k,32k'],
  [[...small, '--fail-if-worse', 'mcts'], 'Expected a check such as mcts:best-of-n@8k'],
  [[...small, '--fail-if-worse', 'mcts:lats@8'], 'Expected `--fail-if-worse` to be two methods'],
  [[], 'Expected `--task`, `--replay` or a suite'],
  [['nowhere.yaml'], '`nowhere.yaml`'],
  [['--task', 'questions:none.jsonl', '--model', 'ollama:x'], 'none.jsonl'],
])('%j is refused in one sentence', async (args, message) => {
  const out = join(folder, 'refused');
  const { code, stderr } = await espalier('bench', ...args, '--out', out);
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(code).toBe(2);
  expect(existsSync(out)).toBe(false);
});

test('fails where a method is worse than it may be', async () => {
  const out = join(folder, 'checked');
  const options = ['--task', 'game24', '--limit', '60', '--budgets', 'tokens=1k', '--no-times'];
  const { code, stdout } = await espalier(
    ...['bench', ...options, '--temperature', '0.7', '--out', out],
    ...['--fail-if-worse', 'greedy:mcts@1k', '--fail-if-worse', 'mcts:greedy@1k'],
  );
  expect(stdout).toMatch(
    /^Failed: greedy is worse than mcts at 1,000 tokens: −\d+\.\d \[.*\] points\.$/m,
  );
  expect(stdout).not.toContain('mcts is worse than greedy');
  expect(code).toBe(1);
}, 120_000);
