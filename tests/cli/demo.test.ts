import { beforeAll, expect, test } from 'vitest';
import type { BenchReport } from '../../src/bench/report.ts';
import { build, espalier, shell, start } from './espalier.ts';

beforeAll(build, 60_000);

test('--json prints the rows and nothing else', async () => {
  const { code, stdout, stderr } = await espalier(
    'demo',
    '--puzzles',
    '5',
    '--calls',
    '20',
    '--json',
  );
  const report = JSON.parse(stdout) as BenchReport;
  expect(report.points.map(({ method, n, budget }) => [method, n, budget.limit])).toEqual([
    ['greedy', 5, 20],
    ['best-of-n', 5, 20],
    ['astar', 5, 20],
    ['mcts', 5, 20],
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('draws a tree, says what it uses, and ends in an aligned table', async () => {
  const { stdout } = await espalier('demo', '--puzzles', '5', '--calls', '12');
  expect(stdout).toMatch(
    /^Model: espalier-tiny, the toy that comes with the package, in this process\./,
  );
  expect(stdout).toMatch(/^Game of 24: make 24 from [\d, ]+\. The tree of one search, by MCTS:$/m);
  expect(stdout).toContain('\n5 of the 441 solvable puzzles that the model has never seen, ');
  const lines = stdout.split('\n');
  const head = lines.findIndex((line) => line.startsWith('method '));
  const table = lines.slice(head, head + 5);
  expect(new Set(table.map((line) => line.length)).size).toBe(1);
  expect(lines[head + 5]).toBe('');
});

test('says nothing when its reader has read enough', async () => {
  const { stdout, stderr } = await shell('demo --puzzles 3 | head -1');
  expect(stdout).toMatch(/^Model: .*\n$/);
  expect(stderr).toBe('');
});

test('the same seed draws the same puzzles', async () => {
  const [one, two, other] = await Promise.all(
    ['1', '1', '2'].map(async (seed) => {
      const { stdout } = await espalier(
        ...['demo', '--puzzles', '4', '--calls', '9', '--json', '--seed', seed],
      );
      const { points } = JSON.parse(stdout) as BenchReport;
      return points.map(({ accuracy, calls }) => [accuracy, calls]);
    }),
  );
  expect(two).toEqual(one);
  expect(other).not.toEqual(one);
});

test('Ctrl-C ends it with the table of the puzzles so far', async () => {
  const { process: child, finished } = start('demo', '--puzzles', '441', '--calls', '200');
  child.stdout?.once('data', () => setTimeout(() => child.kill('SIGINT'), 2_500));
  const { code, stdout } = await finished;
  const [, of] = /^greedy +200 calls +(\d+) /m.exec(stdout) ?? [];
  expect(Number(of)).toBeLessThan(441);
  expect(code).toBe(130);
});
