import type { Environment } from '../contracts/environment.ts';
import type { SearchOptions, SearchResult } from './contracts.ts';
import { EventQueue } from './event-queue.ts';
import type { SearchEvent } from './events.ts';
import { runSearch } from './run.ts';

/**
 * Searches until the budget is spent, a stop condition holds, or nothing is left to search, and resolves
 * with the best found. A budget ends a search gracefully; `signal` rejects it with its reason.
 *
 * @param environment - The dynamics of the problem.
 * @throws EspalierError `usage` for an option that cannot be, and `invalid-journal` for a journal of
 * another run.
 * @example
 * ```ts
 * const { best, actions, stopReason } = await search(environment, {
 *   policy, evaluator, algorithm: mcts(), budget: { simulations: 200 },
 * });
 * ```
 */
export function search<State, Action>(
  environment: Environment<State, Action>,
  options: NoInfer<SearchOptions<State, Action>>,
): Promise<SearchResult<State, Action>> {
  return runSearch(environment, options);
}

/**
 * The same search as a stream of events, of which the last is `search-end` with the result. A slow
 * reader slows the search down. Leaving the loop aborts every call in flight.
 *
 * @param environment - The dynamics of the problem.
 * @throws As {@link search}.
 */
export async function* streamSearch<State, Action>(
  environment: Environment<State, Action>,
  options: NoInfer<SearchOptions<State, Action>>,
): AsyncGenerator<SearchEvent<State, Action>, void, undefined> {
  const events = new EventQueue<SearchEvent<State, Action>>();
  const left = new AbortController();
  const signals = options.signal === undefined ? [left.signal] : [options.signal, left.signal];
  const running = runSearch<State, Action>(
    environment,
    { ...options, signal: AbortSignal.any(signals) },
    { emit: (event) => events.push(event), ready: () => events.drained() },
  );
  // Whoever leaves the loop early does not wait for the rejection that this causes.
  const settled = running.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  void settled.then(() => events.close());
  try {
    yield* events;
    const outcome = await settled;
    if (outcome !== undefined) throw outcome.error;
  } finally {
    left.abort(new Error('The reader left the stream.'));
    events.close();
    await settled;
  }
}
