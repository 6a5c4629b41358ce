import type { Notation } from '../../spec/environment.ts';
import type { TilesState } from './sliding-tiles-board.ts';

/** The direction in which the blank moves. The tile next to it moves the other way. */
export type TilesAction = 'up' | 'down' | 'left' | 'right';

/** The four directions in the order in which actions are listed. */
export const directions: readonly TilesAction[] = ['up', 'down', 'left', 'right'];

/** How sliding tiles look to a model. */
export const tilesNotation: Notation<TilesState, TilesAction> = {
  prompt: (state) => [{ role: 'user', content: prompt(state) }],
  format: (action) => action,
  parse(text) {
    for (const line of text.split('\n')) {
      const words: readonly string[] = line.toLowerCase().match(/[a-z]+/g) ?? [];
      const named = directions.filter((direction) => words.includes(direction));
      if (named.length === 1 && named[0] !== undefined) return named[0];
    }
    const shown = text.trim().slice(0, 80);
    const message = `Expected one direction (${directions.join(', ')}), got \`${shown}\`.`;
    return { kind: 'parse', message };
  },
};

function prompt(state: TilesState): string {
  const rows = state.tiles.length / state.columns;
  const goal = { columns: state.columns, tiles: [...state.tiles.keys()].map((place) => place + 1) };
  goal.tiles[goal.tiles.length - 1] = 0;
  return [
    `Slide the tiles of a board with ${rows} rows and ${state.columns} columns until they are in order.`,
    'One move swaps the blank, written _, with the tile above, below, left or right of it.',
    '',
    'Now:',
    renderBoard(state),
    '',
    'Goal:',
    renderBoard(goal),
    '',
    'Write the direction in which the blank moves next (up, down, left or right), and nothing else.',
  ].join('\n');
}

/** The rows of a board as text, the blank as 0. */
export function formatRows({ columns, tiles }: TilesState, separator: string): string {
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
  const rows: string[] = [];
  for (let first = 0; first < cells.length; first += columns) {
    rows.push(cells.slice(first, first + columns).join(' '));
  }
  return rows.join('\n');
}
