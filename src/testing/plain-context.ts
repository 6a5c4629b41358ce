import { setMaxListeners } from 'node:events';
import { expectSignal } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { seededRandom } from '../base/random.ts';
import { contextFrom } from '../calls/door.ts';
import type { Clock } from '../contracts/clock.ts';
import type { CallContext, Random } from '../contracts/context.ts';
import { manualClock } from './manual-clock.ts';

/**
 * A call context without a search: calls go straight to the model or the tool. Nothing is budgeted, journaled or
 * shared.
 */
export function plainContext(
  options: {
    /** Its random numbers. @defaultValue those of seed 0 */
    readonly random?: Random;
    /** Its clock. @defaultValue a manual clock that advances automatically */
    readonly clock?: Clock;
    /** Aborts its calls. @defaultValue one that never aborts */
    readonly signal?: AbortSignal | undefined;
  } = {},
): CallContext {
  expectOptions('plainContext', options, 'random clock signal');
  const { random = seededRandom(), clock = manualClock({ auto: true }) } = options;
  const { signal = new AbortController().signal } = options;
  expectSignal(signal);
  // Every call in flight may add a listener; that is not a leak.
  setMaxListeners(0, signal);
  const call = { signal, clock };
  return contextFrom({
    ...{ signal, random, clock },
    async call(operation, request) {
      signal.throwIfAborted();
      return operation.run(request, call);
    },
  });
}
