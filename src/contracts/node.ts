import type { Evaluation } from './evaluation.ts';
import type { CountedFailure, Failure } from './failure.ts';
import type { JsonValue } from './json.ts';
import type { Completion } from './language-model.ts';

/** The position of a node in the order of expansion. The root is 0. */
export type NodeId = number;

/**
 * Where a node stands.
 *
 * - `open`: it may be searched further.
 * - `terminal`: nothing can follow.
 * - `closed`: nothing is left to learn by visiting it; `exact` says whether that is proven.
 * - `failed`: its proposal, its step or its evaluation came to nothing; `failure` says why.
 * - `pruned`: it has been put aside; `pruned` says why.
 */
export type NodeStatus = 'open' | 'terminal' | 'closed' | 'failed' | 'pruned';

/**
 * Why a node has been put aside.
 *
 * - `duplicate`: a sibling came to the same state by an equal edge; `duplicateOf` names it.
 * - `dominated`: the same state was reached more cheaply elsewhere.
 * - `hopeless`: no goal can be reached from it.
 * - `beam`: others of its level were better, and there was no room for it.
 * - `other`: for a reason of the algorithm's own.
 */
export type PruneReason = 'beam' | 'dominated' | 'duplicate' | 'hopeless' | 'other';

/** The numbers of a node: all that a rule may look at. */
export interface NodeStatistics {
  /** The place of the node in its tree. */
  readonly id: NodeId;
  /** Edges from the root. */
  readonly depth: number;
  /** N(s): simulations that were backed up through this node. */
  readonly visits: number;
  /**
   * Q(s, a): the backed-up value as seen from the parent, the reward of the incoming edge included;
   * at the root, V(s). In [0, 1] unless the environment says otherwise; 0 before the first visit.
   */
  readonly value: number;
  /** O(s): simulations under way below this node (Liu et al., 2020). */
  readonly inFlight: number;
  /**
   * P(s, a): the policy's probability of the action. Siblings sum to at most 1, unless a policy gives the
   * probability of each text by itself. 1 at the root.
   */
  readonly prior: number;
  /** r(s, a) of the incoming edge, where the environment gave one. */
  readonly reward: number | undefined;
  /** The mean of what the evaluator said, before any backup: v(s), or Q(s, a) where that is {@link about} the action. */
  readonly rawValue: number | undefined;
  /** What `rawValue` is about. */
  readonly about: 'action' | 'state';
  /** Where the node stands. */
  readonly status: NodeStatus;
  /** Whether a closed node is known in full: all that was proposed below it is terminal, exact or a duplicate. */
  readonly exact: boolean;
  /** Whether nothing can follow this state. Stays true when the status becomes `pruned`. */
  readonly terminal: boolean;
  /** Whether this is a complete answer that may still be refined. */
  readonly answer: boolean;
  /** Samples that the policy has been asked for here; a policy that lists all its actions draws none. */
  readonly samples: number;
  /** In the order in which they were proposed. */
  readonly children: readonly NodeStatistics[];
}

interface NodeBase<State, Action> extends NodeStatistics {
  /** In the order in which they were proposed. */
  readonly children: readonly ChildNode<State, Action>[];
  /** c(s, a) of the incoming edge, where the environment gave one. */
  readonly cost: number | undefined;
  /** What the evaluator said of it, each sample by itself, in order. */
  readonly evaluations: readonly Evaluation[];
  /** The return of a simulation from here on, where the evaluator gave one. */
  readonly outcome: Evaluation | undefined;
  /** Why the status is `failed`, or why the last expansion brought nothing. */
  readonly failure: Failure | undefined;
  /** Proposals for children that came to nothing, one entry a kind. */
  readonly failedProposals: readonly CountedFailure[];
  /** Further samples of the evaluation that came to nothing, by kind. */
  readonly failedEvaluations: readonly CountedFailure[];
  /** Why the status is `pruned`. Trees that were saved by earlier versions need not know. */
  readonly pruned: PruneReason | undefined;
  /** The sibling that stands for it, where it is a duplicate. */
  readonly duplicateOf: NodeId | undefined;
  /** Whether the policy has been asked, and has no further action to offer here. */
  readonly complete: boolean;
  /** What algorithms keep here, each under its name: see `notesOf`. Saved with the tree. */
  readonly notes: Readonly<Record<string, JsonValue>>;
  /** What users of the tree keep here. Saved with the tree. */
  readonly annotations: Readonly<Record<string, JsonValue>>;
  /** The model output from which the action was read. */
  readonly completion: Completion | undefined;
}

/** The start of a search. */
export interface RootNode<State = unknown, Action = unknown> extends NodeBase<State, Action> {
  /** Tells the root from its descendants. */
  readonly kind: 'root';
  /** None. */
  readonly parent: undefined;
  /** None. */
  readonly action: undefined;
  /** s, where the search starts. */
  readonly state: State;
}

/** An action that has been proposed and not yet taken. */
export interface ProposedNode<State = unknown, Action = unknown> extends NodeBase<State, Action> {
  /** Tells an action that was not taken from one that was. */
  readonly kind: 'proposed';
  /** Where the action was proposed. */
  readonly parent: SearchNode<State, Action>;
  /** a. */
  readonly action: Action;
  /** Not known yet. */
  readonly state: undefined;
}

/** An action that has been taken, and the state it led to. */
export interface RealisedNode<State = unknown, Action = unknown> extends NodeBase<State, Action> {
  /** Tells an action that was taken from one that was not. */
  readonly kind: 'realised';
  /** Where the action was taken. */
  readonly parent: SearchNode<State, Action>;
  /** a. */
  readonly action: Action;
  /** s, the state that the action led to. */
  readonly state: State;
}

/** A node that has a state: the root, or one whose action was taken. */
export type NodeWithState<State = unknown, Action = unknown> =
  | RootNode<State, Action>
  | RealisedNode<State, Action>;

/** A node below the root: it has an action and siblings. */
export type ChildNode<State = unknown, Action = unknown> =
  | ProposedNode<State, Action>
  | RealisedNode<State, Action>;

/** A node of a search tree. Nodes are live: copy what you keep. */
export type SearchNode<State = unknown, Action = unknown> =
  | RootNode<State, Action>
  | ChildNode<State, Action>;
