/**
 * What changes an environment, whichever it is.
 *
 * @module
 */

export { type NotatedEnvironment, withOutcome } from './with-outcome.ts';
