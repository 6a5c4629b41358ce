import type { Notation } from '../../contracts/environment.ts';
import type { TilesState } from './sliding-tiles-board.ts';
import { directions, readMove, type TilesAction } from './sliding-tiles-move.ts';
import { wordNotation } from './words.ts';

/** The notation of sliding tiles. */
export const tilesNotation: Notation<TilesState, TilesAction> = wordNotation({
  prompt,
  expected: () => `one direction (${directions.join(', ')})`,
  find: firstDirection,
  read: readMove,
});

/** The direction in the first line that names exactly one. */
function firstDirection(text: string): TilesAction | undefined {
  for (const line of text.toLowerCase().split('\n')) {
    const words: readonly string[] = line.match(/[a-z]+/g) ?? [];
    const [named, ...others] = directions.filter((direction) => words.includes(direction));
    if (named !== undefined && others.length === 0) return named;
  }
  return undefined;
}

// The parts that change least come first, so that the prompts of a search share a prefix as long as possible.
function prompt(state: TilesState): string {
  const rows = state.tiles.length / state.columns;
  const goal = { columns: state.columns, tiles: [...state.tiles.keys()].map((place) => place + 1) };
  goal.tiles[goal.tiles.length - 1] = 0;
  return [
    `Slide the tiles of a board with ${rows} rows and ${state.columns} columns until they are in order.`,
    'One move swaps the blank, written _, with the tile above, below, left or right of it.',
    '',
    'Write the direction in which the blank moves next (up, down, left or right), and nothing else.',
    '',
    'Goal:',
    renderBoard(goal),
    '',
    'Now:',
    renderBoard(state),
  ].join('\n');
}

/** The rows of a board as text, the blank as 0. */
export function formatRows(
  { columns, tiles }: { readonly columns: number; readonly tiles: readonly (number | string)[] },
  separator: string,
): string {
  const rows: string[] = [];
  for (let first = 0; first < tiles.length; first += columns) {
    rows.push(tiles.slice(first, first + columns).join(' '));
  }
  return rows.join(separator);
}

/** A board with aligned columns, the blank as _. */
export function renderBoard({ columns, tiles }: TilesState): string {
  const width = String(tiles.length - 1).length;
  const cells = tiles.map((tile) => (tile === 0 ? '_' : String(tile)).padStart(width));
  return formatRows({ columns, tiles: cells }, '\n');
}
