import { wrongResult } from '../base/expect.ts';

/** Throws unless the function `actions` of a user returned an array: that ends the proposal, and no more. */
export function expectActions(actions: unknown): void {
  if (!Array.isArray(actions))
    throw wrongResult('actions', actions, { returns: 'an array', scope: 'item' });
}
