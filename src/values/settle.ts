import { asNative } from '../base/is-thenable.ts';
import type { MaybePromise } from '../contracts/json.ts';

/** Work that may have to wait: `yield* wait(value)` corresponds to `await value` in an async function. */
export type Waiting<Result> = Generator<Promise<unknown>, Result, unknown>;

/** Waits for a value if it is a promise, and continues at once if it is not. */
export function* wait<Value>(value: MaybePromise<Value>): Waiting<Value> {
  const given = asNative(value);
  // The driver sends back the value to which the promise resolves.
  return given instanceof Promise ? ((yield given) as Value) : given;
}

/** Does the work, synchronously unless it has to wait. */
export function settle<Result>(work: Waiting<Result>): MaybePromise<Result> {
  const first = work.next();
  return first.done === true ? first.value : settleLater(work, first.value);
}

/** The results of several pieces of work; those that have to wait do so concurrently. */
export function settleAll<Result>(
  works: readonly Waiting<Result>[],
): MaybePromise<readonly Result[]> {
  const results: MaybePromise<Result>[] = [];
  try {
    for (const work of works) results.push(settle(work));
  } catch (error) {
    // The other promises are not awaited any more, and an unhandled rejection would end the process.
    for (const result of results) if (result instanceof Promise) result.catch(() => {});
    throw error;
  }
  return results.every(isSettled) ? results : Promise.all(results);
}

async function settleLater<Result>(
  work: Waiting<Result>,
  first: Promise<unknown>,
): Promise<Result> {
  let pending = first;
  for (;;) {
    const turn = await pending.then(
      (value) => work.next(value),
      (error: unknown) => work.throw(error),
    );
    if (turn.done === true) return turn.value;
    pending = turn.value;
  }
}

function isSettled<Value>(value: MaybePromise<Value>): value is Value {
  return !(value instanceof Promise);
}
