/**
 * A language model that plays the journal of a run: no key, no network, no cost.
 *
 * @module
 */

export { type ReplayOptions, replay } from './replay.ts';
