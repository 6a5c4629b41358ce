import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { algorithms } from '../../src/index.ts';
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
const game = ['search', '--task', 'game24', '--input', '4 9 10 13', '--model', 'none'] as const;

test('prints a plan for people, and nothing on stderr where it is no terminal', async () => {
  const { code, stdout, stderr } = await espalier(...game);
  expect(stdout).toMatch(
    /^Game of 24: 4 9 10 13\nModel: none; .*\n\n1\. .*\n2\. .*\n3\. .* = 24 \(left: 24\)\n\nSolved in 3 steps: .*\n\d+ simulations · \d+ calls · \d+ ms\n$/,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test.each(['mcts', 'astar', 'best-of-n', 'beam', 'lats'])(
  '--json prints one document, with %s',
  async (name) => {
    const { code, stdout } = await espalier(...game, '--algorithm', name, '--json');
    const report = JSON.parse(stdout) as { answer: string };
    const amount: unknown = expect.any(Number);
    expect(report).toEqual({
      solved: true,
      answer: expect.stringMatching(/^[-+*/() \d]+$/) as unknown,
      path: [1, 2, 3].map(() => expect.stringMatching(/ = .* \(left: .*\)$/) as unknown),
      stopReason: 'solved',
      model: null,
      spend: { simulations: amount, calls: amount, tokens: 0, usd: 0, ms: amount },
      usage: [],
      optimal: name === 'astar',
    });
    // What is printed is arithmetic, nothing else: see the pattern above.
    expect(new Function(`return ${report.answer}`)()).toBeCloseTo(24, 9);
    expect(code).toBe(0);
  },
);

test('reads a problem from a file, shows its states, and knows that A* is optimal', async () => {
  const path = fileIn(folder, 'small.pddl', pddl);
  const { stdout } = await espalier(
    ...[
      'search',
      '--task',
      'blocksworld',
      '--input',
      path,
      '--algorithm',
      'astar',
      '--model',
      'none',
    ],
  );
  expect(stdout.replace(path, 'FILE').replace(/\d+ ms/, 'TIME')).toBe(`Blocksworld: FILE
Model: none; the legal moves and an estimate instead.

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
  const { code, stdout } = await espalier(
    ...['search', '--task', task, '--input', input, '--model', 'none', '--json'],
  );
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
    ...['search', '--task', 'game24', '--input', '1 1 1 1', '--model', 'none', '--json'],
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

test('what a killed process lost is said beside the sum', async () => {
  const run = join(folder, 'killed');
  const options = [...game.slice(0, -2), '--calls', '8', '--save', run];
  await espalier(...options);
  const journal = join(run, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').split('\n');
  const last = lines.findLastIndex((line) => line.includes('"type":"intent"'));
  const { reserved } = JSON.parse(lines[last] ?? '') as { reserved: Record<string, number> };
  // A process that dies here never learns what the call has cost.
  writeFileSync(journal, `${lines.slice(0, last + 1).join('\n')}\n`);
  const { stdout } = await espalier(...options);
  expect(stdout).toContain(
    `\nLost with a killed process: 1 call, counted above at the maximum cost of ${reserved['tokens']} tokens.\n`,
  );
  const again = await espalier(...options, '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ lost: reserved });
});

test('nothing is said of killed processes where time was up', async () => {
  const asked = ['search', '--task', 'game24', '--input', '4 9 10 13', '--algorithm', 'best-of-n'];
  for (const ms of ['1', '40', '80']) {
    const run = ['--ms', ms, '--fill', '--concurrency', '8', '--save', join(folder, `late-${ms}`)];
    const { stdout } = await espalier(...asked, ...run, '--json');
    expect(JSON.parse(stdout)).not.toHaveProperty('lost');
  }
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
    expect(code).toBe(130);
    expect(stderr).toMatch(/^Stopping when [^\n]*\n$/);
  });

  test('counts two signals of one key press as one', async () => {
    const run = join(folder, 'pressed');
    const { process: child, finished } = start(...endless, '--json', '--save', run);
    await untilRunning(run);
    child.kill('SIGINT');
    setImmediate(() => child.kill('SIGINT'));
    expect(await finished).toMatchObject({
      code: 130,
      stdout: expect.stringMatching(/"stopped"/) as string,
    });
  });
});

test('what was found is printed even where it cannot be saved', async () => {
  const run = join(folder, 'unsaved');
  await espalier(...game, '--save', run);
  mkdirSync(join(run, 'report.json.new'));
  const { code, stdout, stderr } = await espalier(...game, '--save', run);
  expect(stdout).toMatch(/^Solved in 3 steps: /m);
  expect([code, stderr]).toEqual([2, expect.stringContaining('report.json` could not be used')]);
});

test('a folder that cannot be made is an exit code of 2', async () => {
  const { code, stdout, stderr } = await espalier(...game, '--save', join('/dev/null', 'run'));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^`\/dev\/null\/run` could not be used: .*\.\n$/);
});

describe('a model', () => {
  const asked = game.slice(0, -2);

  test('is tiny where none is named, and the report says so', async () => {
    const { code, stdout, stderr } = await espalier(...asked, '--calls', '8');
    expect(stdout).toMatch(
      /^Game of 24: 4 9 10 13\nModel: espalier-tiny, the toy that comes with the package, in this process\. Another one: --model\.\n/,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  const voting = ['adaptive-consistency', 'esc', 'self-consistency'];

  test.each(algorithms.map(({ name }) => name).filter((name) => !voting.includes(name)))(
    'is metered and repeated, with %s',
    async (name) => {
      const run = join(folder, `model-${name}`);
      const options = ['--algorithm', name, '--calls', '20', '--save', run];
      const first = JSON.parse((await espalier(...asked, ...options, '--json')).stdout) as {
        spend: { calls: number; tokens: number };
      };
      expect(first).toMatchObject({ model: 'tiny:espalier-tiny' });
      expect(first.spend.calls).toBeLessThanOrEqual(20);
      expect(first.spend.tokens).toBeGreaterThan(first.spend.calls);
      const { calls } = first.spend;
      const again = await espalier(...asked, ...options);
      expect(again.stdout).toContain(`${calls} calls (${calls} from the journal)`);
    },
  );

  test.each(voting)('is not asked by %s, where there is no answer to vote on', async (name) => {
    const { code, stderr } = await espalier(...asked, '--algorithm', name);
    expect(stderr).toBe(
      `Expected a question for \`--algorithm ${name}\`, which lets answers vote: a puzzle has none. Take best-of-n.\n`,
    );
    expect(code).toBe(2);
  });

  test('is not used for a puzzle that it was not taught', async () => {
    const { stdout } = await espalier(
      'search',
      '--task',
      'tiles',
      '--input',
      '1 2 3 / 4 5 6 / 7 0 8',
    );
    expect(stdout).toContain(
      '\nModel: none, for the one in the package was not taught this puzzle;',
    );
  });
});

describe('a search that ends with more than half of its budget unused', () => {
  const hard = ['search', '--task', 'game24', '--input', '3 3 8 8'];
  const unusedIn = async (...options: readonly string[]) => {
    const { stdout } = await espalier(...hard, ...options);
    return /^Used .*$/m.exec(stdout)?.[0];
  };

  test('says so and why, and what would use it', async () => {
    expect(await unusedIn('--method', 'mcts-dpo', '--calls', '60')).toMatch(
      /^Used \d+ of 60 calls: every node has all the actions that the method draws. `--fill` draws more\.$/,
    );
    expect(await unusedIn('--algorithm', 'depth-first', '--calls', '60')).toMatch(
      /^Used \d+ of 60 calls: every node has all the actions that the algorithm draws\. `--fill`/,
    );
    expect(await unusedIn('--algorithm', 'greedy')).toMatch(
      /^Used \d of 400 calls: greedy draws 1 path\. `--algorithm best-of-n` draws more\.$/,
    );
  });

  test('claims nothing about an algorithm of one`s own but that it ended', async () => {
    const path = fileIn(
      folder,
      'idle.mjs',
      "export default { name: 'idle', concurrency: 'any', laws: [], run: async () => 'exhausted' };",
    );
    expect(await unusedIn('--algorithm', path)).toBe(
      'Used 0 of 400 calls: the algorithm ended its search.',
    );
  });

  test('says so in the document too', async () => {
    const options = ['--algorithm', 'depth-first', '--calls', '60', '--json'];
    const report = JSON.parse((await espalier(...hard, ...options)).stdout) as object;
    expect(report).toMatchObject({
      solved: false,
      stopReason: 'exhausted',
      unused: { unit: 'calls', of: 60, use: '--fill' },
    });
  });

  test.each([
    ['with --fill', ['--method', 'mcts-dpo', '--calls', '60', '--fill']],
    ['with a budget that is spent', ['--method', 'mcts-dpo', '--calls', '20']],
    ['once it is solved', ['--model', 'none']],
  ])('says nothing of it %s', async (_, options) => {
    expect(await unusedIn(...options)).toBeUndefined();
  });

  test('is another run with --fill', async () => {
    const run = join(folder, 'filled');
    const options = ['--method', 'mcts-dpo', '--calls', '60', '--fill', '--save', run, '--json'];
    const first = JSON.parse((await espalier(...hard, ...options)).stdout) as {
      spend: { calls: number };
    };
    expect(first.spend.calls).toBeGreaterThan(50);
    const again = await espalier(...hard, ...options.slice(0, -1));
    const { calls } = first.spend;
    expect(again.stdout).toContain(`${calls} calls (${calls} from the journal)`);
  });
});
