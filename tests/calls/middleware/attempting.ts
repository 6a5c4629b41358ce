import { turn } from '#platform';
import { EspalierError } from '../../../src/base/errors.ts';
import type { CallRequest } from '../../../src/calls/call-request.ts';
import type { CallSpend } from '../../../src/calls/call-spend.ts';
import type { Ledger } from '../../../src/calls/ledger.ts';
import type { FailedAttempt, ModelCall } from '../../../src/contracts/language-model.ts';

/** Nothing at all. */
export const none: CallSpend = { calls: 0, tokens: 0, usd: 0 };
/** What a call of {@link calling} may cost. */
export const worst: CallSpend = { calls: 1, tokens: 10, usd: 0.5 };
/** What another request of it may cost. */
export const again: CallSpend = { calls: 0, tokens: 10, usd: 0.5 };
/** What it does cost. */
export const used: CallSpend = { calls: 1, tokens: 3, usd: 0.125 };

/** A failed attempt that the server may have charged for. */
export const paid: FailedAttempt = { message: 'No answer.', charged: true };
/** One that it has not. */
export const free: FailedAttempt = { message: 'Too many requests.', charged: false };

/** A call that does something first, and then answers. */
export function calling(
  ledger: Ledger,
  before: (call: ModelCall) => Promise<unknown>,
  { name = 'model', spend = used }: { name?: string; spend?: CallSpend } = {},
): CallRequest {
  return {
    kind: 'generate',
    name,
    request: null,
    reserve: worst,
    repeatable: true,
    ledger,
    run: async (call) => {
      await before(call);
      return { output: 'answer', spend };
    },
  };
}

/** What became of a call: its answer, or what the error is about. */
export function caught(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'answer',
    (error: unknown) => (EspalierError.isInstance(error) ? error.code : String(error)),
  );
}

/** Lets the event loop turn until all that has happened has had its turn. */
export async function quiet(): Promise<void> {
  for (let round = 0; round < 5; round++) await turn();
}
