import { EspalierError } from '../base/errors.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Policy, Proposal } from '../contracts/policy.ts';

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
 * many different ones, with equal chances, among those that are no children of the node yet.
 *
 * @param list - The actions of a state, with their priors. Without priors they share equally.
 */
export function listPolicy<State, Action>(
  list: (state: State) => readonly { readonly action: Action; readonly prior?: number }[],
): Policy<State, Action> {
  return {
    propose(node, { context, count }): readonly Proposal<Action>[] {
      const all = list(stateOf(node));
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

/**
 * An evaluator from a function of the state. A state for which it throws fails alone.
 *
 * @param value - v(s) in [0, 1].
 */
export function stateEvaluator<State>(value: (state: State) => number): Evaluator<State> {
  return {
    needs: 'realised',
    evaluate: (nodes) =>
      nodes.map((node) => {
        try {
          return { value: value(stateOf(node)) };
        } catch (error) {
          const message = error instanceof Error ? error.message : 'unknown';
          return { failure: { kind: 'invalid', message } };
        }
      }),
  };
}

/** The state of a node. @throws EspalierError `usage` where it has none yet. */
export function stateOf<State, Action>(node: SearchNode<State, Action>): State {
  if (node.kind === 'proposed') {
    throw new EspalierError('usage', `Expected a node with a state, got the proposed ${node.id}.`);
  }
  return node.state;
}
