import { expectMethods } from '../base/expect.ts';
import { expectVerifier, scoreIn } from '../base/expect-no-oracle.ts';
import { asNative } from '../base/is-thenable.ts';
import { provenanceOf } from '../base/provenance.ts';
import { actingAfter } from '../calls/acting-on.ts';
import type { CallContext } from '../contracts/context.ts';
import type { Environment, Transition } from '../contracts/environment.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { Verdict, Verifier } from '../contracts/verifier.ts';

/**
 * An environment whose ends are rewarded by a verifier instead of by its own rewards: the verifier's score, or else 1
 * for correct and 0 for wrong. Complete answers that may still be refined are rewarded too.
 *
 * The verifier's stamps, such as `oracle-guided`, are passed on.
 *
 * @throws EspalierError `usage` for an oracle: wrap it in `goldVerifier`.
 */
export function withOutcome<State, Action>(
  environment: Environment<State, Action>,
  verifier: Verifier<State>,
): Environment<State, Action> {
  expectMethods('environment', environment, ['reset', 'step']);
  expectVerifier(verifier, 'outcome');
  const { name, key, answer, notation, codec } = environment;
  const judge = (
    given: MaybePromise<Transition<State>>,
    action: Action | null,
    context: CallContext,
  ): MaybePromise<Transition<State>> => {
    const transition = asNative(given);
    if (transition instanceof Promise) {
      return transition.then((settled) => judge(settled, action, context));
    }
    if (transition.terminal !== true && transition.answer !== true) return transition;
    const { state } = transition;
    const acting = actingAfter(context, environment, { state, action });
    const verdict = asNative(verifier.verify(state, acting));
    return verdict instanceof Promise
      ? verdict.then((settled) => rewarded(transition, settled))
      : rewarded(transition, verdict);
  };
  return {
    ...provenanceOf({ stamps: environment.stamps ?? [] }, { stamps: verifier.stamps ?? [] }),
    name,
    reset: (context) => judge(environment.reset(context), null, context),
    step: (state, action, context) =>
      judge(environment.step(state, action, context), action, context),
    ...(key !== undefined && { key: (state: State) => environment.key?.(state) ?? '' }),
    ...(answer !== undefined && { answer: (state: State) => environment.answer?.(state) }),
    ...(notation !== undefined && { notation }),
    ...(codec !== undefined && { codec }),
  };
}

function rewarded<State>(transition: Transition<State>, verdict: Verdict): Transition<State> {
  return { ...transition, reward: scoreIn(verdict) };
}
