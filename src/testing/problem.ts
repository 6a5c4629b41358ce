import type { Environment } from '../contracts/environment.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Policy, Proposal } from '../contracts/policy.ts';
import { withState } from '../policies/with-state.ts';

/** Everything a search needs to know about a problem. */
export interface Problem<State, Action> {
  /** The environment. */
  readonly environment: Environment<State, Action>;
  /** Proposes these actions. */
  readonly policy: Policy<State, Action>;
  /** Values the states of the environment. */
  readonly evaluator: Evaluator<State, Action>;
}

/**
 * A policy that lists actions: asked for all, it returns them in order; asked for fewer, it samples uniformly without
 * replacement among those that are not yet children of the node. Unlike `uniform`, it does so even for independent
 * samples.
 *
 * @param list - The actions of a state, with their priors. Without priors they share equally.
 */
export function listPolicy<State, Action>(
  list: (state: State) => readonly { readonly action: Action; readonly prior?: number }[],
): Policy<State, Action> {
  return {
    propose(node, { context, count }): readonly Proposal<Action>[] {
      const all = list(withState(node).state);
      const priced = all.map(({ action, prior = 1 / all.length }) => ({ action, prior }));
      const known = new Set(node.children.map(({ action }) => JSON.stringify(action)));
      const fresh = priced.filter(({ action }) => !known.has(JSON.stringify(action)));
      if (count >= fresh.length) return fresh;
      return Array.from({ length: count }, () =>
        fresh.splice(context.random.integer(fresh.length), 1),
      ).flat();
    },
  };
}
