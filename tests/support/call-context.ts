import { seededRandom } from '../../src/base/random.ts';
import { contextFrom } from '../../src/calls/door.ts';
import type { CallContext } from '../../src/contracts/context.ts';

/** A call context without a search around it: effects just run, and models are out of reach. */
export function callContext(changes: Partial<CallContext> = {}): CallContext {
  const signal = new AbortController().signal;
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const random = seededRandom('tests');
  const call: CallContext['call'] = (operation, request) =>
    operation.payee === undefined
      ? operation.run(request, { signal, clock })
      : Promise.reject(new Error('There is no model in this test.'));
  return { ...contextFrom({ signal, clock, random, call }), ...changes };
}
