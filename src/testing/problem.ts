import type { Environment } from '../contracts/environment.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Policy, Proposal } from '../contracts/policy.ts';
import { withState } from '../policies/with-state.ts';

/** All that a search needs to be told about a problem. */
export interface Problem<State, Action> {
  /** The dynamics. */
  readonly environment: Environment<State, Action>;
  /** Proposes these actions. */
  readonly policy: Policy<State, Action>;
  /** Values the states of the environment. */
  readonly evaluator: Evaluator<State, Action>;
}

/**
 * A policy that lists: asked for all actions it gives them in their order; asked for fewer it draws that
 * many different ones, with equal chances, among those that are no children of the node yet. Unlike `uniform` it
 * does so where independent samples are asked for, too.
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
