import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isHeldOut } from '../../../src/backends/tiny/held-out.ts';
import type { BenchInstance } from '../../../src/bench/task.ts';
import { unseenGames } from '../../../src/bench/tasks/game24.ts';
import { taskNamed } from '../../../src/bench/tasks/tasks.ts';
import { puzzles } from '../../../src/environments/index.ts';
import { plainContext } from '../../../src/testing/index.ts';

const names = ['blocksworld', 'countdown', 'game24', 'tiles'] as const;
const folder = mkdtempSync(join(tmpdir(), 'espalier-puzzles-'));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Whether some path leads to an end with reward 1, by trying all. */
async function canBeSolved({ environment }: BenchInstance): Promise<boolean> {
  const puzzle = environment as BenchInstance['environment'] & {
    actions(state: unknown): readonly unknown[];
    key(state: unknown): string;
  };
  const { state: start } = await puzzle.reset(plainContext());
  const open = [start];
  const seen = new Set([puzzle.key(start)]);
  // In breadth: solutions of boards are short, and paths are not.
  for (const state of open) {
    for (const action of puzzle.actions(state)) {
      const next = await puzzle.step(state, action, plainContext());
      if (next.terminal === true && next.reward === 1) return true;
      const key = puzzle.key(next.state);
      if (next.terminal !== true && !seen.has(key)) open.push(next.state);
      seen.add(key);
    }
  }
  return false;
}

describe.each(names)('%s', (name) => {
  test('draws instances that can be solved, all different', async () => {
    const task = await taskNamed(name);
    const instances = await task.instances({ limit: 6, seed: 3 });
    expect(instances).toHaveLength(6);
    expect(new Set(instances.map(({ id }) => id)).size).toBe(6);
    for (const instance of instances) expect(await canBeSolved(instance)).toBe(true);
  }, 60_000);

  test('draws the same for the same seed, and the beginning of it for a lower limit', async () => {
    const task = await taskNamed(name);
    const ids = async (seed: number | string, limit = 10) =>
      (await task.instances({ limit, seed })).map(({ id }) => id);
    expect(await ids('a')).toEqual(await ids('a'));
    expect((await ids('a')).slice(0, 4)).toEqual(await ids('a', 4));
    expect(await ids('a')).not.toEqual(await ids('b'));
  });

  test('makes 100 where nobody says how many', async () => {
    expect(await (await taskNamed(name)).instances({ seed: 0 })).toHaveLength(100);
  });
});

test.each(['blocksworld', 'countdown', 'game24'] as const)(
  '%s keeps to puzzles that the packaged model has not learnt, unless all are asked for',
  async (name) => {
    const task = await taskNamed(name);
    const shareOf = async (split: string | undefined, limit: number) => {
      const request = { seed: 1, limit, ...(split !== undefined && { split }) };
      const instances = await task.instances(request);
      const texts = await Promise.all(
        instances.map(async ({ id, environment }) =>
          name === 'blocksworld'
            ? puzzles.blocksworld.format((await environment.reset(plainContext())).state)
            : id,
        ),
      );
      return texts.filter(isHeldOut).length / texts.length;
    };
    expect(task.splits).toEqual(['unseen', 'all']);
    expect(await shareOf(undefined, 20)).toBe(1);
    expect(await shareOf('unseen', 20)).toBe(1);
    // Some are held out among all, 31 % of them.
    const share = await shareOf('all', 100);
    expect(share).toBeGreaterThan(0.15);
    expect(share).toBeLessThan(0.5);
  },
);

test('of the 1,362 games 441 are unseen, however many are asked for', async () => {
  const task = await taskNamed('game24');
  expect(await task.instances({ limit: 10_000, seed: 0 })).toHaveLength(441);
  expect(await task.instances({ limit: 10_000, seed: 0, split: 'all' })).toHaveLength(1_362);
  const drawn = await task.instances({ limit: 3, seed: 'x' });
  expect(drawn.map(({ id }) => id)).toEqual(
    unseenGames('x')
      .slice(0, 3)
      .map((numbers) => numbers.join(' ')),
  );
});

describe('a table of games', () => {
  const rows = Array.from({ length: 3 }, (_, index) => `${900 + index},1 1 ${4 + index} 6,4.4`);
  const csv = fileOf('ranked.csv', `\uFEFFRank,Puzzles,Time (s)\r\n${rows.join('\r\n')}\r\n`);

  test('is read by its column, the first rows first', async () => {
    const task = await taskNamed(`game24:${csv}`);
    const ids = (await task.instances({ limit: 2, seed: 0 })).map(({ id }) => id);
    expect(ids).toEqual(['1 1 4 6', '1 1 5 6']);
    expect(task.source).toBe('ranked.csv');
  });

  test('has the ranks that papers report on, and the puzzles that the packaged model has not seen', async () => {
    const task = await taskNamed(csv);
    const ids = async (split: string) =>
      (await task.instances({ split, seed: 0 })).map(({ id }) => id);
    expect(await ids('ranks-901-1000')).toEqual(['1 1 5 6', '1 1 6 6']);
    expect(await ids('unseen')).toEqual(['1 1 4 6', '1 1 5 6', '1 1 6 6'].filter(isHeldOut));
  });

  test('may be bare lines; a puzzle that stands there twice counts once', async () => {
    const task = await taskNamed(
      `game24:${fileOf('bare.csv', '4 9 10 13\n\n1 1 4 6\n4 9 10 13\n')}`,
    );
    const ids = (await task.instances({ seed: 0 })).map(({ id }) => id);
    expect(ids).toEqual(['4 9 10 13', '1 1 4 6']);
  });

  test.each([
    ['Rank,Puzzles\n1,1 1 4 6\n2,a b c d\n', /^Line 3 of `.*`: Expected numbers and a target/],
    ['Rank,Puzzles\n1\n', /^Line 2 of `.*`: expected 2 columns\.$/],
    ['Rank,Puzzles\nx,1 1 4 6\n', /^Line 2 of `.*`: expected a whole number as its rank\.$/],
    ['Rank,Puzzles\n', /^Line 1 of `.*`: expected puzzles below\.$/],
  ])('is refused where it cannot be read: %j', async (text, message) => {
    const task = await taskNamed(`game24:${fileOf('bad.csv', text)}`);
    await expect(async () => task.instances({ seed: 0 })).rejects.toThrow(message);
  });
});

describe('problems in PDDL', () => {
  const pddl = puzzles.blocksworld.format({
    blocks: ['a', 'b'],
    places: [-1, -1],
    goal: { places: [1, null], clear: [], handEmpty: false },
  });

  test.each(['blocksworld:', ''])('are read from a file with one, named `%s…`', async (prefix) => {
    const task = await taskNamed(`${prefix}${fileOf('one.pddl', pddl)}`);
    const [instance, ...others] = await task.instances({ seed: 0 });
    expect(others).toEqual([]);
    expect(instance && (await canBeSolved(instance))).toBe(true);
    const state = (await instance?.environment.reset(plainContext()))?.state;
    expect(puzzles.blocksworld.format(state)).toBe(pddl);
  });

  test('are read from lines, with their ids', async () => {
    const task = await taskNamed(fileOf('many.jsonl', `${JSON.stringify({ id: 7, pddl })}\n`));
    expect(task.name).toBe('blocksworld');
    expect((await task.instances({ seed: 0 })).map(({ id }) => id)).toEqual(['7']);
  });

  test('are refused with the place of what is wrong', async () => {
    const domain = await taskNamed(fileOf('domain.pddl', '(define (domain blocks))'));
    await expect(async () => domain.instances({ seed: 0 })).rejects.toThrow(
      /^In `.*domain\.pddl`: Expected `\(problem …\)` after `define`, got .* at line 1, column 9\.$/,
    );
  });
});

test('lines with boards are read where there is no other form', async () => {
  const task = await taskNamed(`tiles:${fileOf('boards.txt', '1 2 3 / 4 5 6 / 7 0 8\n')}`);
  const [instance] = await task.instances({ seed: 0 });
  expect(instance && (await canBeSolved(instance))).toBe(true);
  expect(task.splits).toBeUndefined();
});
