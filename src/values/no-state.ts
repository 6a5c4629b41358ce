import type { Failed } from '../contracts/failure.ts';

/** The failure of a node whose evaluation was requested before its action was taken. */
export const noState: Failed = {
  failure: {
    kind: 'invalid',
    message: 'Expected a node with a state, got a proposed one.',
  },
};
