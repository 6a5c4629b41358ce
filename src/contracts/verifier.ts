import type { CallContext } from './context.ts';
import type { MaybePromise } from './json.ts';
import type { Provenance } from './provenance.ts';

/** Whether a state holds what was asked for. */
export interface Verdict {
  /** Whether it does. */
  readonly correct: boolean;
  /** Partial credit in [0, 1]. Left out: 1 if correct, else 0. */
  readonly score?: number;
  /** Why, in words. */
  readonly rationale?: string;
}

/** Decides from what a user has at run time (tests, a checker, a rule). It may guide a search. */
export interface Verifier<State> extends Pick<Provenance, 'stamps'> {
  /** Looks at a state as a user could at run time. */
  verify(state: State, context: CallContext): MaybePromise<Verdict>;
}

/** Knows the gold answer. No search accepts one: it labels finished trees. */
export interface Oracle<State> {
  /** Compares a state with the gold answer. */
  label(state: State, context: CallContext): MaybePromise<Verdict>;
}
