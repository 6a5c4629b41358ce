import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { slidingTiles, type TilesAction } from '../../src/environments/index.ts';
import {
  linearConflict,
  manhattanDistance,
} from '../../src/environments/puzzles/sliding-tiles-heuristic.ts';
import { told } from '../support/told.ts';

const solved = '123456780';

describe('sliding tiles', () => {
  it('are moved by the blank, and solved when they are in order', () => {
    const instance = slidingTiles.parse('1 2 3 4 5 6 0 7 8');
    const environment = slidingTiles.environment(instance);
    expect(environment.actions(environment.reset().state)).toEqual(['up', 'right']);
    const { state, terminal } = environment.step(environment.reset().state, 'right');
    expect(terminal).toBeUndefined();
    expect(state.tiles).toEqual([1, 2, 3, 4, 5, 6, 7, 0, 8]);
    expect(environment.step(state, 'right')).toMatchObject({ reward: 1, terminal: true });
    expect(slidingTiles.check(instance, ['right', 'right'])).toEqual({ correct: true });
    expect(slidingTiles.check(instance, ['right']).rationale).toBe(
      'After 1 step: Expected the tiles in order, got `1 2 3 / 4 5 6 / 7 0 8`.',
    );
    expect(slidingTiles.check(instance, ['right', 'right', 'up']).rationale).toBe(
      'Step 3: Expected no action in a solved state, got `up`.',
    );
  });

  it('do not leave the board', () => {
    const environment = slidingTiles.environment(slidingTiles.parse('1 2 3 4 5 6 0 7 8'));
    expect(() => environment.step(environment.reset().state, 'left')).toThrow(
      'Expected one of up, right, got `"left"`.',
    );
    expect(() => environment.step(environment.reset().state, 'north' as TilesAction)).toThrow(
      '`"north"`',
    );
  });

  it.each([
    ['Right', 'right'],
    ['Move the blank right.', 'right'],
    ['left or right?\n**up**', 'up'],
  ])('read what models write: %s', (text, action) => {
    const environment = slidingTiles.environment(slidingTiles.parse('1 2 3 4 5 6 0 7 8'));
    expect(told(environment.notation.parse(text, environment.reset().state))).toBe(action);
    expect(told(environment.notation.parse('down', environment.reset().state))).toEqual({
      kind: 'parse',
      message: 'Expected one of up, right, got `"down"`.',
    });
  });

  it('are drawn with aligned columns', () => {
    const { rows, columns, tiles } = slidingTiles.parse(
      '1 2 3 4 / 5 6 7 8 / 9 10 11 12 / 13 14 _ 15',
    );
    expect([rows, columns]).toEqual([4, 4]);
    expect(slidingTiles.render({ columns, tiles })).toBe(
      ' 1  2  3  4\n 5  6  7  8\n 9 10 11 12\n13 14  _ 15',
    );
  });
});

describe('reading boards', () => {
  it('knows squares on one line, and other boards by their rows', () => {
    expect(slidingTiles.parse('1,2,3,4,5,6,7,0,8')).toMatchObject({ rows: 3, columns: 3 });
    expect(slidingTiles.parse('1 2 3\n4 0 5\n')).toEqual({
      rows: 2,
      columns: 3,
      tiles: [1, 2, 3, 4, 0, 5],
    });
  });

  it.each([
    [
      '1 2 3 4 5 6 8 7 0',
      'Expected a board that can be solved, got the unsolvable `1 2 3 / 4 5 6 / 8 7 0`',
    ],
    ['1 2 3 4 5 6 7 8 8', 'Expected `tiles` to be the numbers from 0 to 8, each once'],
    ['1 2 3 4 5 6 7 8 9', 'Expected `tiles` to be the numbers from 0 to 8, each once'],
    ['1 2 3 / 4 5', 'Expected `rows` to be 3 tiles each, like the first one'],
    ['1 2 3 4 5 6 7 8 x', 'Expected the tiles of a board such as `1 2 3 4 5 6 7 8 0`, got `"x"`.'],
    ['0', 'Expected `rows` to be an integer from 2 to 10, got `1`.'],
    ['1 0', 'Expected `rows` to be an integer from 2 to 10, got `1`.'],
  ])('refuses %s', (text, message) => {
    expect(() => slidingTiles.parse(text)).toThrow(message);
  });

  it('refuses instances that are no board', () => {
    const tiles = [1, 2, 3, 0];
    expect(() => slidingTiles.environment({ rows: 1, columns: 4, tiles })).toThrow('`rows`');
    expect(() => slidingTiles.environment({ rows: 2, columns: 11, tiles })).toThrow('`columns`');
    expect(() => slidingTiles.environment({ rows: 2, columns: 3, tiles })).toThrow('from 0 to 5');
    expect(() => slidingTiles.environment({ rows: 2, columns: 2, tiles: [1, 2, 3, 0.5] })).toThrow(
      '`tiles`',
    );
  });
});

describe('generating boards', () => {
  const random = seededRandom('boards');

  it('makes every board of 2 × 3 that can be solved about equally often', () => {
    const reachable = breadthFirst('123450', 3);
    const counts = new Map<string, number>();
    for (let round = 0; round < 7_180; round++) {
      const { tiles } = slidingTiles.generate(random.split(round), { rows: 2 });
      counts.set(tiles.join(''), (counts.get(tiles.join('')) ?? 0) + 1);
    }
    // 6! / 2 boards less the solved one; 20 draws for each.
    expect(reachable.size).toBe(360);
    expect(counts.size).toBe(359);
    for (const [board, count] of counts) {
      expect(reachable.has(board)).toBe(true);
      expect(count).toBeLessThan(45);
    }
  });

  it('makes boards at most as many moves away as wanted', () => {
    const reachable = breadthFirst(solved, 3);
    for (let round = 0; round < 60; round++) {
      const { tiles } = slidingTiles.generate(random.split(round), { moves: 1 + (round % 12) });
      const distance = reachable.get(tiles.join('')) ?? Number.NaN;
      expect(distance).toBeGreaterThan(0);
      expect(distance).toBeLessThanOrEqual(1 + (round % 12));
    }
  });

  it('refuses options out of range', () => {
    expect(() => slidingTiles.generate(random, { rows: 1 })).toThrow(
      'Expected `rows` to be an integer from 2 to 10, got `1`.',
    );
    expect(() => slidingTiles.generate(random, { columns: 11 })).toThrow('`columns`');
    expect(() => slidingTiles.generate(random, { moves: 0 })).toThrow('`moves`');
  });
});

describe('the heuristics of sliding tiles', () => {
  const truth = breadthFirst(solved, 3);

  it('are what was worked out by hand', () => {
    const board = (text: string) => ({ columns: 3, tiles: [...text].map(Number) });
    expect(manhattanDistance(board('213456780'))).toBe(2);
    expect(linearConflict(board('213456780'))).toBe(4);
    // 3 and 1 change places: each is 2 away, and two tiles have to let one stay.
    expect(manhattanDistance(board('321456780'))).toBe(4);
    expect(linearConflict(board('321456780'))).toBe(8);
    // 1 and 7 in the first column.
    expect(linearConflict(board('723456180'))).toBe(4 + 4);
    expect(linearConflict(board('123456708'))).toBe(1);
  });

  it('meet the known facts of the 8-puzzle', () => {
    const hardest = [...truth.values()].reduce((a, b) => Math.max(a, b));
    expect(truth.size).toBe(181_440);
    expect(hardest).toBe(31);
    expect([...truth.values()].filter((distance) => distance === 31)).toHaveLength(2);
  });

  it.each([
    ['manhattanDistance', manhattanDistance],
    ['linearConflict', linearConflict],
  ])('%s is admissible and consistent in all 181,440 states', (_name, heuristic) => {
    const claims = new Map<string, number>();
    for (const board of truth.keys()) {
      claims.set(board, heuristic({ columns: 3, tiles: [...board].map(Number) }));
    }
    const claim = (board: string) => claims.get(board) ?? Number.NaN;
    const boards = [...truth.keys()];
    const inadmissible = boards.filter((board) => !(claim(board) <= (truth.get(board) ?? -1)));
    const inconsistent = boards.filter((board) =>
      neighbours(board, 3).some((next) => !(claim(board) <= 1 + claim(next))),
    );
    expect([inadmissible, inconsistent]).toEqual([[], []]);
    expect(claims.get(solved)).toBe(0);
  });

  it('linearConflict is never below manhattanDistance, and above it in many states', () => {
    let better = 0;
    for (const board of truth.keys()) {
      const state = { columns: 3, tiles: [...board].map(Number) };
      const gain = linearConflict(state) - manhattanDistance(state);
      if (gain < 0 || gain % 2 !== 0) expect.fail(board);
      if (gain > 0) better += 1;
    }
    expect(better / truth.size).toBeGreaterThan(0.3);
  });

  it('value the closeness of a state', () => {
    expect(slidingTiles.estimate({ columns: 3, tiles: [...'123456708'].map(Number) })).toBeCloseTo(
      6 / 7,
      12,
    );
  });
});

describe('the moves of sliding tiles', () => {
  it('lead to the neighbours that swapping characters finds', () => {
    const random = seededRandom('moves');
    const environment = slidingTiles.environment(slidingTiles.parse('1 2 3 4 5 6 7 0 8'));
    let state = environment.reset().state;
    for (let step = 0; step < 500; step++) {
      const expected = neighbours(state.tiles.join(''), 3);
      const legal = environment.actions(state);
      const reached = legal.map((action) => environment.step(state, action).state);
      expect(reached.map(({ tiles }) => tiles.join('')).toSorted()).toEqual(expected.toSorted());
      const next = reached.filter(({ tiles }) => tiles.join('') !== solved);
      state = next[random.integer(next.length)] ?? state;
    }
  });
});

/** The distance of every board from `start`, by code that shares nothing with the puzzle. */
function breadthFirst(start: string, columns: number): ReadonlyMap<string, number> {
  const found = new Map([[start, 0]]);
  for (const [board, distance] of found) {
    for (const next of neighbours(board, columns)) {
      if (!found.has(next)) found.set(next, distance + 1);
    }
  }
  return found;
}

function neighbours(board: string, columns: number): readonly string[] {
  const blank = board.indexOf('0');
  const column = blank % columns;
  const places = [
    ...(blank >= columns ? [blank - columns] : []),
    ...(blank + columns < board.length ? [blank + columns] : []),
    ...(column > 0 ? [blank - 1] : []),
    ...(column < columns - 1 ? [blank + 1] : []),
  ];
  return places.map((place) => {
    const tile = board[place] ?? '';
    return board.replace('0', '_').replace(tile, '0').replace('_', tile);
  });
}
