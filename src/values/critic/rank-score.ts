/**
 * A value for a place among the proposals of a node.
 *
 * @param rank - The place, from 1 for the best to `count`.
 * @param count - K, how many were ranked.
 * @returns a value in [0, 1].
 */
export type RankScore = (rank: number, count: number) => number;

/**
 * `1 − (rank − 1) / (K − 1)`: the best is worth 1, the worst 0, and the places between them are evenly apart; a
 * single one is worth 1.
 */
export function linearRank(rank: number, count: number): number {
  return count <= 1 ? 1 : 1 - (rank - 1) / (count - 1);
}

/** `1 / rank`: 1, 1/2, 1/3 and so on, however many there are. */
export function reciprocalRank(rank: number): number {
  return 1 / rank;
}
