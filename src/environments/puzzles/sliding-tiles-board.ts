/** A board of sliding tiles. */
export interface TilesState {
  /** The number of columns: from 2 to 10. */
  readonly columns: number;
  /** The tiles row by row: each number from 0, the blank, to the last one, once. */
  readonly tiles: readonly number[];
}

/** The place where a tile belongs: 1 is first and the blank last. */
export function homeOf(tile: number, places: number): number {
  return tile === 0 ? places - 1 : tile - 1;
}

/** Whether the tiles are in order with the blank last. */
export function isSolved({ tiles }: TilesState): boolean {
  return tiles.every((tile, place) => homeOf(tile, tiles.length) === place);
}

/** The rows plus columns between two places. */
export function distance(columns: number, from: number, to: number): number {
  const rows = Math.abs(Math.floor(from / columns) - Math.floor(to / columns));
  return rows + Math.abs((from % columns) - (to % columns));
}

/**
 * Whether a board with at least two rows and two columns can be solved.
 *
 * A move swaps the blank with a neighbour: it changes the parity of the permutation and, always with it, the parity of
 * the blank's distance from its home. In the solved board both are even, so a board on which they differ cannot be
 * solved; all others can.
 *
 * @see Johnson and Story, "Notes on the '15' Puzzle", 1879.
 */
export function isSolvable({ tiles, columns }: TilesState): boolean {
  const blank = tiles.indexOf(0);
  const blankDistance = distance(columns, blank, homeOf(0, tiles.length));
  return (swapsToSort(tiles) + blankDistance) % 2 === 0;
}

/** The number of swaps that sort the tiles: the places minus the cycles of the permutation. */
function swapsToSort(tiles: readonly number[]): number {
  const visited = new Set<number>();
  let cycles = 0;
  for (const start of tiles.keys()) {
    if (visited.has(start)) continue;
    cycles += 1;
    for (let place = start; !visited.has(place); place = homeOf(tiles[place] ?? 0, tiles.length)) {
      visited.add(place);
    }
  }
  return tiles.length - cycles;
}
