import { distance, homeOf, type TilesState } from './sliding-tiles-board.ts';

/**
 * The distance of each tile from home, in rows plus columns, summed over all tiles except the blank.
 *
 * Admissible and consistent, because a move shifts one tile to a neighbouring place and so changes the sum by exactly
 * 1.
 */
export function manhattanDistance({ tiles, columns }: TilesState): number {
  let sum = 0;
  for (let place = 0; place < tiles.length; place++) {
    const tile = tiles[place] ?? 0;
    if (tile !== 0) sum += distance(columns, place, homeOf(tile, tiles.length));
  }
  return sum;
}

/**
 * The Manhattan distance, plus two moves for each tile that has to leave its row or column to let others pass.
 *
 * Tiles that are in their home row in the wrong order cannot all stay in it: the tiles outside the longest ordered
 * subsequence, or at least as many, have to leave and come back, at two moves each that the Manhattan distance does not
 * count. The same holds for columns; the moves of the one are vertical and those of the other horizontal, so none is
 * counted twice. Hence admissible, and consistent as well.
 *
 * @see Hansson, Mayer and Yung, "Criticizing solutions to relaxed models yields powerful admissible heuristics",
 * Information Sciences 63, 1992.
 */
export function linearConflict(state: TilesState): number {
  const { tiles, columns } = state;
  const rows = tiles.length / columns;
  let leavers = 0;
  for (let row = 0; row < rows; row++) {
    leavers += outOfOrder(state, { first: row * columns, stride: 1, length: columns });
  }
  for (let column = 0; column < columns; column++) {
    leavers += outOfOrder(state, { first: column, stride: columns, length: rows });
  }
  return manhattanDistance(state) + 2 * leavers;
}

/** The minimum number of tiles that must leave a row or column, whose places are `stride` apart, to be put in order. */
function outOfOrder(
  { tiles }: TilesState,
  { first, stride, length }: Readonly<Record<'first' | 'length' | 'stride', number>>,
): number {
  const homes: number[] = [];
  for (let index = 0; index < length; index++) {
    const tile = tiles[first + index * stride] ?? 0;
    const offset = homeOf(tile, tiles.length) - first;
    const home = offset / stride;
    if (tile !== 0 && Number.isInteger(home) && home >= 0 && home < length) homes.push(home);
  }
  return homes.length - longestIncreasingRun(homes);
}

/** The length of the longest increasing subsequence. */
function longestIncreasingRun(numbers: readonly number[]): number {
  const lengths: number[] = [];
  let longest = 0;
  for (let index = 0; index < numbers.length; index++) {
    let length = 1;
    for (let before = 0; before < index; before++) {
      if ((numbers[before] ?? 0) < (numbers[index] ?? 0)) {
        length = Math.max(length, (lengths[before] ?? 0) + 1);
      }
    }
    lengths.push(length);
    longest = Math.max(longest, length);
  }
  return longest;
}
