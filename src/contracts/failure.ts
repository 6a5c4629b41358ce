/**
 * Why one proposal, step or evaluation came to nothing. A failure is a result: it marks one child and
 * leaves its siblings alone.
 *
 * - `call`: a model or a tool failed.
 * - `parse`: a reply could not be read.
 * - `empty`: there was nothing to go on with.
 * - `invalid`: a plug-in broke its contract (a prior below 0, a value that is no number).
 * - `environment`: the environment threw while stepping.
 * - `interrupted`: an effect was open when the process died, and its outcome is unknown.
 * - `unrecorded`: a replay came to a call that its journal does not hold.
 * - `stale`: a live world no longer goes the way that led to the state.
 */
export interface Failure {
  /** What came to nothing. */
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
  /** Present where the same may go well later: a server was busy, or could not be reached. */
  readonly transient?: true;
}

/** An item that came to nothing: it stands where the item would. */
export interface Failed {
  /** Why. */
  readonly failure: Failure;
}

/** Failures of one kind at one place. */
export interface CountedFailure extends Failure {
  /** How many there were; `message` is that of the first. */
  readonly count: number;
}
