import { createHash } from 'node:crypto';

/** The fraction of all puzzles that the packaged model has never seen. */
const share = 0.31;

/**
 * Whether a puzzle was held out from the training of the packaged model. It depends only on the text of the puzzle, as
 * written by its family's `format`.
 *
 * States of such a puzzle may still have been seen if they also occur in another one.
 */
export function isHeldOut(puzzle: string): boolean {
  return createHash('sha256').update(puzzle).digest().readUInt32BE(0) / 2 ** 32 < share;
}
