import type { Ledger } from '../calls/ledger.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Policy } from '../contracts/policy.ts';
import type { SearchTree } from '../tree/tree.ts';
import type { SearchOptions, SearchResult } from './contracts.ts';
import type { Crowd } from './crowd.ts';
import type { SearchEvent } from './events.ts';
import type { PluginRuntime } from './plugin-context.ts';

/** State shared by the parts of one running search. */
export interface SearchSession<State, Action> {
  readonly environment: Environment<State, Action>;
  readonly policy: Policy<State, Action>;
  readonly evaluator: Evaluator<State, Action> | undefined;
  readonly tree: SearchTree<State, Action>;
  readonly ledger: Ledger;
  readonly runtime: PluginRuntime;
  readonly crowd: Crowd<State, Action>;
  /** Reports an event; absent if nobody listens, so that events are not even created. */
  readonly emit: ((event: SearchEvent<State, Action>) => void) | undefined;
  /** Runs another search on a share of this one's budget. */
  readonly nested: <S, A>(
    environment: Environment<S, A>,
    options: SearchOptions<S, A> & { readonly share: number },
  ) => Promise<SearchResult<S, A>>;
}
