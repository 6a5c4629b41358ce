import type { Transition } from '../../contracts/environment.ts';
import type { NodeWithState, RealisedNode } from '../../contracts/node.ts';

const unsearched = {
  children: [],
  visits: 0,
  value: 0,
  inFlight: 0,
  prior: 1,
  rawValue: undefined,
  cost: undefined,
  about: 'state',
  exact: false,
  evaluations: [],
  outcome: undefined,
  failure: undefined,
  failedProposals: [],
  failedEvaluations: [],
  pruned: undefined,
  duplicateOf: undefined,
  notes: {},
  samples: 0,
  complete: false,
  toJSON(this: NodeWithState) {
    const { id, depth, action, state, reward, terminal } = this;
    return { id, depth, action, state, reward, terminal };
  },
} as const;

/** A copy of a node without its children and statistics: it looks like a node of the tree but is not part of it. */
export function detach<State, Action>(
  node: NodeWithState<State, Action>,
): NodeWithState<State, Action> {
  const { id, depth, terminal, answer, reward, annotations, completion, state } = node;
  const status = terminal ? ('terminal' as const) : ('open' as const);
  const own = { id, depth, terminal, answer, reward, annotations, completion, state, status };
  return node.kind === 'root'
    ? { ...unsearched, ...own, kind: 'root', parent: undefined, action: undefined }
    : { ...unsearched, ...own, kind: 'realised', parent: node.parent, action: node.action };
}

/** The node after a step of a rollout. A policy may follow its parents; its id is that of its parent. */
export function detachedChild<State, Action>(
  parent: NodeWithState<State, Action>,
  {
    action,
    completion,
    transition: { state, reward, terminal = false, answer = false },
  }: Pick<RealisedNode<State, Action>, 'action' | 'completion'> & {
    readonly transition: Transition<State>;
  },
): NodeWithState<State, Action> {
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
