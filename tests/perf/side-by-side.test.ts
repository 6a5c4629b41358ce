import { expect, test } from 'vitest';
import { compare, type Method } from './side-by-side.ts';

/** Solves the even problems, at as many calls as the problem says. */
const even: Method<number> = {
  name: 'even',
  run: (problem) =>
    Promise.resolve({ solved: problem % 2 === 0, calls: problem, tokens: 9, usd: 2 }),
};
const never: Method<number> = {
  name: 'never',
  run: () => Promise.resolve({ solved: false, calls: 1, tokens: 0, usd: 0 }),
};

test('counts, averages and keeps what each method made of each problem', async () => {
  const { rows, solved } = await compare({ problems: [1, 2, 3, 4], methods: [even, never] });
  expect(rows).toMatchObject([
    { method: 'even', solved: 2, of: 4, calls: 2.5, tokens: 9, usd: 2 },
    { method: 'never', solved: 0, of: 4, low: 0, calls: 1, tokens: 0, usd: 0 },
  ]);
  expect(solved).toEqual([
    [false, true, false, true],
    [false, false, false, false],
  ]);
});

test('ends early with the problems that every method has finished', async () => {
  const seen: number[] = [];
  const { rows } = await compare({
    problems: [2, 4, 6, 8],
    methods: [even, never],
    onProgress: (done) => seen.push(done),
    stopped: () => seen.length === 2,
  });
  expect(seen).toEqual([1, 2]);
  expect(rows.map(({ of }) => of)).toEqual([2, 2]);
});

test('has some problems under way at once, of one method at a time', async () => {
  const log: string[] = [];
  const logging = (name: string): Method<number> => ({
    name,
    async run(problem, index) {
      log.push(`${name} begins ${problem} at ${index}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      log.push(`${name} ends ${problem}`);
      return { solved: true, calls: 0, tokens: 0, usd: 0 };
    },
  });
  const { rows } = await compare({
    problems: [5, 6, 7],
    methods: [logging('a'), logging('b')],
    atOnce: 2,
  });
  expect(log).toEqual([
    ...['a begins 5 at 0', 'a begins 6 at 1', 'a ends 5', 'a ends 6'],
    ...['b begins 5 at 0', 'b begins 6 at 1', 'b ends 5', 'b ends 6'],
    ...['a begins 7 at 2', 'a ends 7', 'b begins 7 at 2', 'b ends 7'],
  ]);
  // Two waits of 20 ms for three problems.
  for (const { ms } of rows) expect(ms).toBeGreaterThan(12);
});

test('has no mean without problems', async () => {
  const { rows } = await compare({ problems: [], methods: [even] });
  expect(rows).toEqual([
    { method: 'even', solved: 0, of: 0, low: 0, high: 1, calls: 0, tokens: 0, usd: 0, ms: 0 },
  ]);
});
