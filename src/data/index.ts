/**
 * Finished trees, read for training.
 *
 * @module
 */

export { type PairRule, type PreferencePair, pairsOf } from './pairs.ts';
