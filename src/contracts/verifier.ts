import type { CallContext } from './context.ts';
import type { MaybePromise } from './json.ts';
import type { Provenance } from './provenance.ts';

/** Whether a state meets its task. */
export interface Verdict {
  /** Whether it is correct. */
  readonly correct: boolean;
  /** Partial credit in [0, 1]. Left out: 1 if correct, else 0. */
  readonly score?: number;
  /** Why, in words. */
  readonly rationale?: string;
}

/** Decides using only what is available at run time (tests, a checker, a rule). It may guide a search. */
export interface Verifier<State> extends Pick<Provenance, 'stamps'> {
  /** Checks a state. */
  verify(state: State, context: CallContext): MaybePromise<Verdict>;
}

/** Knows the gold answer. It labels finished trees; searches refuse it. */
export interface Oracle<State> {
  /** Compares a state with the gold answer. */
  label(state: State, context: CallContext): MaybePromise<Verdict>;
}
