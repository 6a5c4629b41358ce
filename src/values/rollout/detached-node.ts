import type { Transition } from '../../contracts/environment.ts';
import type { Completion } from '../../contracts/language-model.ts';
import type { NodeWithState, SearchNode } from '../../contracts/node.ts';

/** A node that looks like one of the tree and is not in it. */
export type DetachedNode<State, Action> = NodeWithState<State, Action>;

const unsearched = {
  children: [],
  visits: 0,
  value: 0,
  inFlight: 0,
  prior: 1,
  rawValue: undefined,
  about: 'state',
  exact: false,
  evaluations: [],
  outcome: undefined,
  failure: undefined,
  failedProposals: [],
  pruned: undefined,
  duplicateOf: undefined,
  notes: {},
  samples: 0,
  complete: false,
} as const;

/** A copy of a node without its children and statistics, or `undefined` for a node without a state. */
export function detach<State, Action>(
  node: SearchNode<State, Action>,
): DetachedNode<State, Action> | undefined {
  const { id, depth, terminal, answer, reward, annotations, completion } = node;
  const status = terminal ? ('terminal' as const) : ('open' as const);
  const common = {
    ...unsearched,
    id,
    depth,
    terminal,
    answer,
    reward,
    annotations,
    completion,
    status,
  };
  switch (node.kind) {
    case 'root':
      return { ...common, kind: 'root', parent: undefined, action: undefined, state: node.state };
    case 'realised':
      return {
        ...common,
        kind: 'realised',
        parent: node.parent,
        action: node.action,
        state: node.state,
      };
    case 'proposed':
      return undefined;
  }
}

/** A step that a rollout took. */
export interface Step<State, Action> {
  /** The action taken. */
  readonly action: Action;
  /** The model output from which it was read. */
  readonly completion: Completion | undefined;
  /** What it led to. */
  readonly transition: Transition<State>;
}

/** The node after a step. A policy may look back along its parents; its id is that of its parent. */
export function detachedChild<State, Action>(
  parent: DetachedNode<State, Action>,
  { action, completion, transition }: Step<State, Action>,
): DetachedNode<State, Action> {
  const { state, reward, terminal = false, answer = false } = transition;
  return {
    ...unsearched,
    kind: 'realised',
    id: parent.id,
    depth: parent.depth + 1,
    parent,
    action,
    state,
    reward,
    terminal,
    answer,
    status: terminal ? 'terminal' : 'open',
    annotations: {},
    completion,
  };
}
