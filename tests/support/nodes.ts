import type { ChildNode, RealisedNode, RootNode } from '../../src/contracts/node.ts';
import type { Spend } from '../../src/contracts/spend.ts';

/** Nothing spent, nothing left. */
export const noSpend: Spend = { simulations: 0, nodes: 0, calls: 0, tokens: 0, usd: 0, ms: 0 };

const fresh = {
  id: 0,
  depth: 0,
  visits: 0,
  value: 0,
  inFlight: 0,
  prior: 1,
  reward: undefined,
  rawValue: undefined,
  cost: undefined,
  about: 'state',
  exact: false,
  status: 'open',
  terminal: false,
  answer: false,
  children: [],
  evaluation: undefined,
  evaluations: [],
  outcome: undefined,
  failure: undefined,
  failedProposals: [],
  failedEvaluations: [],
  pruned: undefined,
  duplicateOf: undefined,
  complete: false,
  notes: {},
  annotations: {},
  completion: undefined,
  samples: 0,
  toJSON: () => ({ id: 0, depth: 0 }),
} as const;

/** A root in `state` whose children have the given actions. */
export function rootNode<State, Action>(
  state: State,
  actions: readonly Action[] = [],
): RootNode<State, Action> {
  const children: ChildNode<State, Action>[] = [];
  const root: RootNode<State, Action> = {
    ...fresh,
    kind: 'root',
    parent: undefined,
    action: undefined,
    state,
    children,
  };
  for (const action of actions) {
    children.push({ ...fresh, kind: 'proposed', parent: root, action, state: undefined });
  }
  return root;
}

/** A child of a root that an action led to. */
export function realisedNode<State, Action>(
  action: Action,
  state: State,
  changes: Partial<RealisedNode<State, Action>> = {},
): RealisedNode<State, Action> {
  return {
    ...fresh,
    id: 1,
    depth: 1,
    kind: 'realised',
    parent: rootNode(state),
    action,
    state,
    ...changes,
  };
}

/** A child of a root whose action has not been taken. */
export function proposedNode<State, Action>(
  state: State,
  action: Action,
): ChildNode<State, Action> {
  const [child] = rootNode(state, [action]).children;
  if (child === undefined) throw new Error('A root was made without its child.');
  return child;
}
