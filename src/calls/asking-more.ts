import type { FailedAttempt, ModelCall } from '../contracts/language-model.ts';

/**
 * The context of a call that asks for more of the budget in another way.
 *
 * @param before - Called before it asks, with whether the request is charged. Returns what changes in it.
 */
export function askingMore(
  call: ModelCall,
  before: (isCharged: boolean) => Pick<FailedAttempt, 'waits'>,
): ModelCall {
  const { retry, requestExtraCall } = call;
  return {
    ...call,
    ...(retry !== undefined && {
      retry: (attempt) => retry({ ...attempt, ...before(attempt.charged) }),
    }),
    ...(requestExtraCall !== undefined && {
      requestExtraCall: (reason, options) =>
        requestExtraCall(reason, { ...options, ...before(true) }),
    }),
  };
}
