import type { Environment } from '../contracts/environment.ts';
import type { SearchOptions, SearchResult } from './contracts.ts';
import { EventStream, type SearchStream } from './event-stream.ts';
import { runAlone } from './run-alone.ts';

/**
 * Searches until the budget is spent, a stop condition holds, or nothing is left to search, and resolves
 * with the best found. A budget ends a search gracefully; `signal` rejects it with its reason.
 *
 * @param environment - The dynamics of the problem.
 * @throws EspalierError `usage` for an invalid option, and `invalid-journal` for a journal of another run.
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
  return runAlone(environment, options);
}

/**
 * The same search as a stream of events, the last being `search-end` with the result. It starts when it is first read.
 * A slow reader slows the search down. Leaving the loop aborts every call in flight, as `return()` does at once, even
 * while a `next()` is pending.
 *
 * @param environment - The dynamics of the problem.
 * @throws As {@link search}.
 * @example
 * ```ts
 * for await (const event of streamSearch(environment, options).json()) {
 *   response.write(`data: ${JSON.stringify(event)}\n\n`);
 * }
 * ```
 */
export function streamSearch<State, Action>(
  environment: Environment<State, Action>,
  options: NoInfer<SearchOptions<State, Action>>,
): SearchStream<State, Action> {
  return new EventStream(environment, options);
}
