import type { MaybePromise } from '../contracts/json.ts';

/** Work that may have to wait: `yield* wait(value)` is to it what `await value` is to an async function. */
export type Waiting<Result> = Generator<Promise<unknown>, Result, unknown>;

/** Waits for a value where it is a promise, and goes on at once where it is not. */
export function* wait<Value>(value: MaybePromise<Value>): Waiting<Value> {
  // The driver sends back what the promise it was given resolves to.
  return value instanceof Promise ? ((yield value) as Value) : value;
}

/** Does the work: synchronously as long as nothing has to be waited for. */
export function settle<Result>(work: Waiting<Result>): MaybePromise<Result> {
  const first = work.next();
  return first.done === true ? first.value : settleLater(work, first.value);
}

/** The results of several works; those that have to wait do so side by side. */
export function settleAll<Result>(
  works: readonly Waiting<Result>[],
): MaybePromise<readonly Result[]> {
  const results: MaybePromise<Result>[] = [];
  try {
    for (const work of works) results.push(settle(work));
  } catch (error) {
    // Nobody will wait for the others, and a rejection that nobody waits for ends the process.
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
