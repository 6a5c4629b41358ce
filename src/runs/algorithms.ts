import { algorithms } from '../search/algorithms/algorithms.ts';
import type { AlgorithmEntry } from '../search/algorithms/entry.ts';
import type { SearchAlgorithm, StopCondition } from '../search/contracts.ts';
import { solved } from '../search/stop-conditions.ts';
import type { Unaided } from './problem.ts';

/** The names of all algorithms. */
export const algorithmNames: readonly string[] = algorithms.map(({ name }) => name);

/** The list entry of an algorithm. */
export function algorithmEntry(name: string): AlgorithmEntry {
  const entry = algorithms.find((each) => each.name === name);
  if (entry === undefined) throw new Error(`Expected one of ${algorithmNames.join(', ')}.`);
  return entry;
}

/**
 * An algorithm, and the condition that ends its search before the budget is spent.
 *
 * @param unaided - Guides the search instead of a model; absent if a model does.
 */
export function algorithmFor(
  name: string,
  unaided: Partial<Pick<Unaided, 'heuristic'>> | undefined,
): { readonly algorithm: SearchAlgorithm; readonly stopWhen: readonly StopCondition[] } {
  const entry = algorithmEntry(name);
  const asksModel = unaided === undefined;
  const heuristic = unaided?.heuristic;
  return {
    algorithm: entry.create({ asksModel, ...(heuristic !== undefined && { heuristic }) }),
    // Of a model's estimates none is a bound: what is found first is no worse than what comes later.
    stopWhen: entry.proves === true && !asksModel ? [] : [solved()],
  };
}
