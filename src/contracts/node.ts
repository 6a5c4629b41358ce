import type { Evaluation } from './evaluation.ts';
import type { CountedFailure, Failure } from './failure.ts';
import type { JsonValue } from './json.ts';
import type { Completion } from './language-model.ts';

/** The position of a node in the order of expansion. The root is 0. */
export type NodeId = number;

/**
 * The status of a node.
 *
 * - `open`: it may be searched further.
 * - `terminal`: nothing can follow.
 * - `closed`: visiting it teaches nothing more; `exact` says whether that is proven.
 * - `failed`: its proposal, step or evaluation failed; `failure` says why.
 * - `pruned`: it was removed from the search; `pruned` says why.
 */
export type NodeStatus = 'open' | 'terminal' | 'closed' | 'failed' | 'pruned';

/**
 * Why a node was pruned.
 *
 * - `duplicate`: a sibling led to the same state with the same reward and cost; `duplicateOf` is its id.
 * - `dominated`: the same state was reached more cheaply elsewhere.
 * - `hopeless`: no goal can be reached from it.
 * - `beam`: others of its level were better, and there was no room for it.
 * - `other`: an algorithm-specific reason.
 */
export type PruneReason = 'beam' | 'dominated' | 'duplicate' | 'hopeless' | 'other';

/** The statistics of a node: everything a rule may use. */
export interface NodeStatistics {
  /** The id of the node in its tree. */
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
  /** O(s): simulations in flight below this node (Liu et al., 2020). */
  readonly inFlight: number;
  /**
   * P(s, a): the policy's probability of the action. Siblings sum to at most 1, unless a policy gives the probability
   * of each text separately. 1 at the root.
   */
  readonly prior: number;
  /** r(s, a) of the incoming edge, if the environment gave one. */
  readonly reward: number | undefined;
  /** The mean of the evaluations, before any backup: v(s), or Q(s, a) if {@link about} is the action. */
  readonly rawValue: number | undefined;
  /** What `rawValue` is about. */
  readonly about: 'action' | 'state';
  /** The status. */
  readonly status: NodeStatus;
  /** Whether a closed node is fully explored: everything proposed below it is terminal, exact or a duplicate. */
  readonly exact: boolean;
  /** Whether this state ends the episode. Stays true when the status becomes `pruned`. */
  readonly terminal: boolean;
  /** Whether this is a complete answer that may still be refined. */
  readonly answer: boolean;
  /** Samples requested from the policy here; none for a policy that lists all its actions. */
  readonly samples: number;
  /** In the order in which they were proposed. */
  readonly children: readonly NodeStatistics[];
}

interface NodeBase<State, Action> extends NodeStatistics {
  /** In the order in which they were proposed. */
  readonly children: readonly ChildNode<State, Action>[];
  /** c(s, a) of the incoming edge, if the environment gave one. */
  readonly cost: number | undefined;
  /** Its evaluations, one per sample, in order. */
  readonly evaluations: readonly Evaluation[];
  /** The return of a simulation from here, if the evaluator gave one. */
  readonly outcome: Evaluation | undefined;
  /** Why the status is `failed`, or why the last expansion produced nothing. */
  readonly failure: Failure | undefined;
  /** Failed proposals for children, one entry per kind. */
  readonly failedProposals: readonly CountedFailure[];
  /** Failed further evaluation samples, by kind. */
  readonly failedEvaluations: readonly CountedFailure[];
  /** Why the status is `pruned`. May be missing in trees saved by earlier versions. */
  readonly pruned: PruneReason | undefined;
  /** The sibling that it duplicates, if any. */
  readonly duplicateOf: NodeId | undefined;
  /** Whether the policy has no further action to offer here. */
  readonly complete: boolean;
  /** Notes of algorithms, each under its name: see `notesOf`. Saved with the tree. */
  readonly notes: Readonly<Record<string, JsonValue>>;
  /** Notes of users. Saved with the tree. */
  readonly annotations: Readonly<Record<string, JsonValue>>;
  /** The model output that the action was parsed from. */
  readonly completion: Completion | undefined;
  /**
   * For `JSON.stringify`: the node as in a saved tree, with its `id` and `depth`, and without its parent and children.
   *
   * @throws EspalierError for a state or an action that JSON cannot hold: it knows no codec, as the `json()` of a stream does.
   */
  toJSON(): Readonly<Record<'depth' | 'id', number>>;
}

/** The start of a search. */
export interface RootNode<State = unknown, Action = unknown> extends NodeBase<State, Action> {
  /** Distinguishes the root from its descendants. */
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
  /** Distinguishes proposed from realised nodes. */
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
  /** Distinguishes realised from proposed nodes. */
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

/**
 * A node of a search tree. Nodes are live: copy what you keep.
 */
export type SearchNode<State = unknown, Action = unknown> =
  | RootNode<State, Action>
  | ChildNode<State, Action>;
