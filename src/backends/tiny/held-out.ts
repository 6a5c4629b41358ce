import { createHash } from 'node:crypto';

/** The share of all puzzles that the model which comes with the package has never seen. */
const share = 0.31;

/**
 * Whether a puzzle was kept from the training of the model that comes with the package. It depends on the
 * text of the puzzle only: what its family's `format` writes.
 *
 * The states of such a puzzle may still have been seen, where they also follow from another one.
 */
export function isHeldOut(puzzle: string): boolean {
  return createHash('sha256').update(puzzle).digest().readUInt32BE(0) / 2 ** 32 < share;
}
