import {
  type Environment,
  type SearchEvent,
  type SearchOptions,
  type SearchResult,
  search,
  streamSearch,
} from '../../src/index.ts';

/** A search in one object, as tests keep and change it. */
export type SearchOf<State, Action> = SearchOptions<State, Action> & {
  readonly environment: Environment<State, Action>;
};

/** `search` with the environment among the options. */
export function searchOf<State, Action>(
  given: NoInfer<SearchOptions<State, Action>> & {
    readonly environment: Environment<State, Action>;
  },
): Promise<SearchResult<State, Action>> {
  const { environment, ...options } = partsOf(given);
  return search<State, Action>(environment, options);
}

/** A bandit tree tells its best path and its values besides, which are no options. */
function partsOf<Given extends object>(given: Given): Omit<Given, 'best' | 'value'> {
  const { best: _, value: __, ...parts } = given as Given & { best?: unknown; value?: unknown };
  return parts;
}

/** `streamSearch` with the environment among the options. */
export function streamSearchOf<State, Action>(
  given: NoInfer<SearchOptions<State, Action>> & {
    readonly environment: Environment<State, Action>;
  },
): AsyncGenerator<SearchEvent<State, Action>, void, undefined> {
  const { environment, ...options } = partsOf(given);
  return streamSearch<State, Action>(environment, options);
}
