import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  build,
  endless,
  espalier,
  fileIn,
  pddl,
  start,
  temporaryFolder,
  untilRunning,
} from './espalier.ts';

beforeAll(build, 60_000);
const folder = temporaryFolder();
const game = ['search', '--task', 'game24', '--input', '4 9 10 13'] as const;

test('prints a plan for people, and nothing on stderr where it is no terminal', async () => {
  const { code, stdout, stderr } = await espalier(...game);
  expect(stdout).toMatch(
    /^Game of 24: 4 9 10 13\n\n1\. .*\n2\. .*\n3\. .* = 24 \(left: 24\)\n\nSolved in 3 steps: .*\n\d+ simulations · \d+ calls · \d+ ms\n$/,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test.each(['mcts', 'astar', 'best-of-n'])('--json prints one document, with %s', async (name) => {
  const { code, stdout } = await espalier(...game, '--algorithm', name, '--json');
  const report = JSON.parse(stdout) as { answer: string };
  const amount: unknown = expect.any(Number);
  expect(report).toEqual({
    solved: true,
    answer: expect.stringMatching(/^[-+*/() \d]+$/) as unknown,
    path: [1, 2, 3].map(() => expect.stringMatching(/ = .* \(left: .*\)$/) as unknown),
    stopReason: 'solved',
    spend: { simulations: amount, calls: amount, tokens: 0, usd: 0, ms: amount },
    optimal: name === 'astar',
  });
  // What is printed is arithmetic, nothing else: see the pattern above.
  expect(new Function(`return ${report.answer}`)()).toBeCloseTo(24, 9);
  expect(code).toBe(0);
});

test('reads a problem from a file, shows its states, and knows that A* is optimal', async () => {
  const path = fileIn(folder, 'small.pddl', pddl);
  const { stdout } = await espalier(
    ...['search', '--task', 'blocksworld', '--input', path, '--algorithm', 'astar'],
  );
  expect(stdout.replace(path, 'FILE').replace(/\d+ ms/, 'TIME')).toBe(`Blocksworld: FILE

   | a
   | b
   hand: empty
1. (pick-up a)
   | b
   hand: a
2. (stack a b)
   | b a
   hand: empty

Solved in 2 steps, and no plan is shorter.
3 simulations · 2 calls · TIME
`);
});

test.each([
  ['tiles', '1 2 3 / 4 5 6 / 7 0 8', '1 2 3\n4 5 6\n7 8 _'],
  ['countdown', '3 5 -> 15', '3 * 5'],
  ['tiles', '1 2 3 / 4 5 6 / 7 8 0', '1 2 3\n4 5 6\n7 8 _'],
])('answers %s %s', async (task, input, answer) => {
  const { code, stdout } = await espalier('search', '--task', task, '--input', input, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ solved: true, answer, stopReason: 'solved' });
  expect(code).toBe(0);
});

test('ends with the best so far where the budget is spent', async () => {
  const { code, stdout } = await espalier(...game, '--calls', '2');
  expect(stdout).toContain('The best path so far:\n');
  expect(stdout).toContain('Not solved: the budget of 2 calls is spent.\n');
  expect(code).toBe(0);
});

test('says so where there is no solution', async () => {
  const { code, stdout } = await espalier(
    ...['search', '--task', 'game24', '--input', '1 1 1 1', '--json'],
  );
  expect(JSON.parse(stdout)).toMatchObject({
    solved: false,
    answer: null,
    stopReason: 'exhausted',
  });
  expect(code).toBe(0);
});

test('is repeated by its seed, also with results in the order of issue', async () => {
  const options = ['--concurrency', '8', '--order', 'issued', '--seed', 'a word', '--json'];
  const [first, second] = await Promise.all([
    espalier(...game, ...options),
    espalier(...game, ...options),
  ]);
  const { spend: spent, ...report } = JSON.parse(first.stdout) as { spend: { calls: number } };
  const { spend, ...again } = JSON.parse(second.stdout) as { spend: { calls: number } };
  expect(again).toEqual(report);
  expect(spend.calls).toBe(spent.calls);
});

describe('Ctrl-C', () => {
  test.each(['mcts', 'astar'])('ends %s with the best so far', async (algorithm) => {
    const run = join(folder, algorithm);
    const { process: child, finished } = start(
      ...[...endless, '--algorithm', algorithm, '--json', '--save', run],
    );
    await untilRunning(run);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await finished;
    expect(JSON.parse(stdout)).toMatchObject({ solved: false, stopReason: 'stopped' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('counts two signals of one key press as one', async () => {
    const run = join(folder, 'pressed');
    const { process: child, finished } = start(...endless, '--json', '--save', run);
    await untilRunning(run);
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGINT'), 5);
    expect((await finished).code).toBe(0);
  });
});

test('a search that fails is an exit code of 1', async () => {
  const { code, stdout, stderr } = await espalier(...game, '--save', join('/dev/null', 'run'));
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^`\/dev\/null\/run` could not be used: .*\.\n$/);
});
