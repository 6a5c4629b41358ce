import { wrongResult } from '../base/expect.ts';

/** Throws unless the user's function `actions` returned an array; the error fails only this proposal. */
export function expectActions(actions: unknown): void {
  if (!Array.isArray(actions))
    throw wrongResult('actions', actions, { returns: 'an array', scope: 'item' });
}
