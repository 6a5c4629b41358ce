import { EspalierError } from '../../base/errors.ts';
import {
  describeValue,
  expectation,
  expectInteger,
  expectObject,
  expectText,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Random } from '../../contracts/context.ts';
import type { Transition } from '../../contracts/environment.ts';
import type { Puzzle, PuzzleEnvironment } from './puzzle.ts';
import { replay } from './replay.ts';
import { isSolvable, isSolved, type TilesState } from './sliding-tiles-board.ts';
import { linearConflict, manhattanDistance } from './sliding-tiles-heuristic.ts';
import {
  moveBlank,
  neighbours,
  openDirections,
  readMove,
  type TilesAction,
} from './sliding-tiles-move.ts';
import { formatRows, renderBoard, tilesNotation } from './sliding-tiles-text.ts';

/** A board to solve. */
export interface TilesInstance extends TilesState {
  /** The number of rows: an integer from 2 to 10. */
  readonly rows: number;
}

/**
 * Sliding tiles (the 8-puzzle, the 15-puzzle): move tiles into the blank until they are in order, the
 * blank last. There are no dead ends.
 */
export const slidingTiles: Puzzle<
  TilesInstance,
  TilesState,
  TilesAction,
  {
    /** The number of rows: an integer from 2 to 10. @defaultValue 3 */
    readonly rows?: number;
    /** The number of columns: an integer from 2 to 10. @defaultValue 3 */
    readonly columns?: number;
    /**
     * The number of random moves, none of which reverses the previous one, that produce the board: an upper bound on
     * the length of its solution. An integer from 1 to 10,000. If left out, all solvable boards are equally likely.
     */
    readonly moves?: number;
  }
> = {
  name: 'tiles',
  title: 'Sliding tiles',
  environment,
  generate,
  parse,
  format: ({ columns, tiles }) => formatRows({ columns, tiles }, ' / '),
  check: (instance, actions) =>
    replay(environment(instance), actions, (state) =>
      isSolved(state)
        ? undefined
        : `Expected the tiles in order, got \`${formatRows(state, ' / ')}\`.`,
    ),
  render: renderBoard,
  estimate,
  heuristic: linearConflict,
};

function environment(instance: TilesInstance): PuzzleEnvironment<TilesState, TilesAction> {
  expectBoard(instance);
  const { columns, tiles } = instance;
  const start = { columns, tiles };
  return {
    name: slidingTiles.name,
    reset: () => ({ state: start, ...(isSolved(start) && { reward: 1, terminal: true }) }),
    step,
    actions: (state) => (isSolved(state) ? [] : openDirections(state)),
    // Adding 48 turns small numbers into digits.
    key: (state) => String.fromCharCode(...state.tiles.map((tile) => tile + 48)),
    notation: tilesNotation,
  };
}

function step(state: TilesState, action: TilesAction): Transition<TilesState> {
  const blank = readMove(state, action);
  if (typeof blank === 'string') throw new EspalierError('usage', blank, { scope: 'item' });
  const next = moveBlank(state, blank);
  return isSolved(next) ? { state: next, reward: 1, terminal: true } : { state: next };
}

/** `1 / (1 + m / (rows + columns))`, where `m` is the Manhattan distance. */
function estimate(state: TilesState): number {
  const rows = state.tiles.length / state.columns;
  return 1 / (1 + manhattanDistance(state) / (rows + state.columns));
}

/** Rows are lines, or separated by slashes; a single row is a square board. */
function parse(text: string): TilesInstance {
  expectText('text', text);
  const rows = text
    .trim()
    .split(/(?<!\s)\s*[/\n]\s*/)
    .map((row) => row.split(/[\s,]+/).map(readTile));
  const [first = [], ...others] = rows;
  const side = Math.sqrt(first.length);
  const columns = others.length === 0 && Number.isInteger(side) ? side : first.length;
  if (others.some((row) => row.length !== columns)) {
    throw expectation('rows', `${columns} tiles each, like the first one`, text);
  }
  const tiles = rows.flat();
  const instance = { rows: tiles.length / columns, columns, tiles };
  expectBoard(instance);
  return instance;
}

function readTile(word: string): number {
  if (word === '_') return 0;
  if (/^\d{1,3}$/.test(word)) return Number(word);
  throw new EspalierError(
    'usage',
    `Expected the tiles of a board such as \`1 2 3 4 5 6 7 8 0\`, got ${describeValue(word)}.`,
  );
}

function expectBoard(instance: TilesInstance): void {
  expectObject('instance', instance);
  const { rows, columns, tiles } = instance;
  expectInteger('rows', rows, { min: 2, max: 10 });
  expectInteger('columns', columns, { min: 2, max: 10 });
  const places = rows * columns;
  const isComplete = tiles.length === places && new Set(tiles).size === places;
  if (!isComplete || tiles.some((tile) => !Number.isInteger(tile) || tile < 0 || tile >= places)) {
    throw expectation('tiles', `the numbers from 0 to ${places - 1}, each once`, tiles.join(' '));
  }
  if (!isSolvable({ columns, tiles })) {
    const got = formatRows({ columns, tiles }, ' / ');
    throw new EspalierError(
      'usage',
      `Expected a board that can be solved, got the unsolvable \`${got}\`; swap any two of its tiles.`,
    );
  }
}

function generate(
  random: Random,
  options: Parameters<typeof slidingTiles.generate>[1] = {},
): TilesInstance {
  expectOptions('slidingTiles.generate', options, 'rows columns moves');
  const { rows = 3, columns = 3, moves } = options;
  expectInteger('rows', rows, { min: 2, max: 10 });
  expectInteger('columns', columns, { min: 2, max: 10 });
  if (moves !== undefined) expectInteger('moves', moves, { min: 1, max: 10_000 });
  const ordered = Array.from({ length: rows * columns }, (_, place) => place + 1);
  const solved = { columns, tiles: ordered.with(-1, 0) };
  for (;;) {
    const state = moves === undefined ? shuffle(random, solved) : walk(random, solved, moves);
    if (!isSolved(state)) return { rows, columns, tiles: state.tiles };
  }
}

/** A random solvable board. */
function shuffle(random: Random, { columns, tiles }: TilesState): TilesState {
  const rest = [...tiles];
  const drawn = tiles.flatMap(() => rest.splice(random.integer(rest.length), 1));
  if (isSolvable({ columns, tiles: drawn })) return { columns, tiles: drawn };
  // Swapping two tiles maps each unsolvable board to a solvable one.
  const swapped = drawn.map((tile) => (tile === 1 ? 2 : tile === 2 ? 1 : tile));
  return { columns, tiles: swapped };
}

/** The board after random moves, none of which reverses the previous one. */
function walk(random: Random, solved: TilesState, moves: number): TilesState {
  let state = solved;
  let before: number | undefined;
  for (let count = 0; count < moves; count++) {
    const blank = state.tiles.indexOf(0);
    const places = neighbours(state).filter((place) => place !== before);
    state = moveBlank(state, places[random.integer(places.length)] ?? blank);
    before = blank;
  }
  return state;
}
