/**
 * Why one proposal, step or evaluation failed. A failure is a result: it marks one child and does not affect its
 * siblings.
 *
 * - `call`: a model or a tool failed.
 * - `parse`: a reply could not be parsed.
 * - `empty`: no usable action was proposed.
 * - `invalid`: a plug-in broke its contract (a prior below 0, a value that is not a number).
 * - `environment`: the environment threw while stepping.
 * - `interrupted`: the process died during an effect, and its outcome is unknown.
 * - `unrecorded`: a replay reached a call that is not in its journal.
 * - `stale`: a live world no longer reproduces the path to the state.
 */
export interface Failure {
  /** The kind of failure. */
  readonly kind:
    | 'call'
    | 'parse'
    | 'empty'
    | 'invalid'
    | 'environment'
    | 'interrupted'
    | 'unrecorded'
    | 'stale';
  /** One sentence for a person. */
  readonly message: string;
  /** Present if a retry may succeed: a server was busy or unreachable. */
  readonly transient?: true;
  /** What was thrown, if anything was. It is not enumerable and not saved. */
  readonly cause?: unknown;
}

/** A failed item, in place of the item itself. */
export interface Failed {
  /** Why. */
  readonly failure: Failure;
}

/** Failures of one kind at one place. */
export interface CountedFailure extends Failure {
  /** Their number; `message` is that of the first. */
  readonly count: number;
}
