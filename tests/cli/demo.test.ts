import { beforeAll, expect, test } from 'vitest';
import { build, espalier, shell, start } from './espalier.ts';

beforeAll(build, 60_000);

test('--json prints the rows and nothing else', async () => {
  const { code, stdout, stderr } = await espalier('demo', '--puzzles', '5', '--json');
  const amount: unknown = expect.any(Number);
  const row = { of: 5, solved: amount, low: amount, high: amount, calls: amount, ms: amount };
  expect(JSON.parse(stdout)).toEqual({
    rows: ['one random walk', 'best of N random walks', 'MCTS', 'A* on 1 − value'].map(
      (method) => ({
        method,
        ...row,
      }),
    ),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('draws a tree, says what it uses, and ends in an aligned table', async () => {
  const { stdout } = await espalier('demo', '--puzzles', '5', '--calls', '12');
  expect(stdout).toMatch(/^Game of 24: make 24 from 4, 9, 10, 13\./);
  expect(stdout).toContain('Policy: the legal moves, all alike. Value: an inexact estimate,\n');
  const lines = stdout.split('\n');
  const head = lines.findIndex((line) => line.startsWith('method '));
  const table = lines.slice(head, head + 5);
  expect(new Set(table.map((line) => line.length)).size).toBe(1);
  expect(lines[head + 5]).toBe('');
});

test('says nothing when its reader has read enough', async () => {
  const { stdout, stderr } = await shell('demo --puzzles 3 | head -1');
  expect(stdout).toMatch(/^Game of 24: .*\n$/);
  expect(stderr).toBe('');
});

test('the same seed draws the same puzzles', async () => {
  const [one, two, other] = await Promise.all(
    ['1', '1', '2'].map(async (seed) => {
      const { stdout } = await espalier(
        ...['demo', '--puzzles', '20', '--calls', '6', '--json', '--seed', seed],
      );
      const { rows } = JSON.parse(stdout) as { rows: { solved: number; calls: number }[] };
      return rows.map(({ solved, calls }) => [solved, calls]);
    }),
  );
  expect(two).toEqual(one);
  expect(other).not.toEqual(one);
});

test('Ctrl-C ends it with the table of the puzzles so far', async () => {
  const { process: child, finished } = start('demo', '--puzzles', '1362', '--calls', '200');
  child.stdout?.once('data', () => setTimeout(() => child.kill('SIGINT'), 500));
  const { code, stdout } = await finished;
  const [, of] = /^MCTS +\d+\/(\d+) /m.exec(stdout) ?? [];
  expect(Number(of)).toBeLessThan(1362);
  expect(code).toBe(0);
});
