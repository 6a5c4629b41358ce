import type { BudgetPool } from '../calls/budget-pool.ts';
import type { CallSpend } from '../calls/call-spend.ts';
import type { Journal } from '../calls/journal.ts';
import type { PriceTable } from '../calls/prices.ts';
import type { Order } from '../calls/sequencer.ts';
import type { Batches } from '../contracts/batch.ts';
import type { Clock } from '../contracts/clock.ts';
import type { CallContext, Random } from '../contracts/context.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Evaluator, EvaluatorLike } from '../contracts/evaluator.ts';
import type { Failure } from '../contracts/failure.ts';
import type { JsonValue, MaybePromise } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Policy, PolicyLike, Proposal } from '../contracts/policy.ts';
import type { Budget, ModelUsage, Spend } from '../contracts/spend.ts';
import type { Verifier } from '../contracts/verifier.ts';
import type { Conclusion } from '../tree/conclusion.ts';
import type { Selection, WideningRule } from '../tree/selection.ts';
import type { SearchTree } from '../tree/tree.ts';

/**
 * A law that an algorithm keeps on every tree it grows. The conformance kit checks them.
 *
 * - `visits`: a node's visits are the simulations that ended at it plus those of its children.
 * - `values`: if values and rewards are in [0, 1] and a path has at most one reward, every value is in [0, 1].
 * - `simulations`: each simulation adds one visit to the root, unless it fails or finds nothing left to search.
 */
export type ConservationLaw = 'visits' | 'values' | 'simulations';

/** A way to grow a tree, written as a textbook loop. It keeps no state outside the tree. */
export interface SearchAlgorithm<State = any, Action = any> {
  /** The name in results, journals and commands. */
  readonly name: string;
  /** Whether simulations may run concurrently, or why not. */
  readonly concurrency:
    | 'any'
    | {
        /** The reason, such as a depth-first order. */
        readonly serial: string;
      };
  /** The conservation laws that it keeps. */
  readonly laws: readonly ConservationLaw[];
  /** Grows the tree until it is done or the context says that the search is over. */
  run(tree: SearchTree<State, Action>, context: SearchContext<State, Action>): Promise<void>;
}

/**
 * What one simulation came to.
 *
 * - `continue`: the next one may start.
 * - `waiting`: nothing to do until another simulation has ended; this one does not count.
 * - `exhausted`: nothing is left to search.
 * - `solved`: the algorithm found what it was looking for.
 * - `{ reserved }`: only the amount reserved for something else is left of this unit.
 */
export type SimulationOutcome =
  | {
      /** The unit of which only the reserve is left. */
      readonly reserved: keyof Spend;
    }
  | 'continue'
  | 'exhausted'
  | 'solved'
  | 'waiting';

/** One simulation under way. */
export interface Simulation<State, Action> {
  /** Random numbers of this simulation. */
  readonly random: Random;
  /**
   * The node that a rule selects; `undefined` if nothing is left to learn. Its path is marked at once, as by `visit`,
   * so that concurrent simulations see each other. With a `widening` rule, a node that can never get another child is
   * closed, and another one is selected.
   */
  select(
    selection: Selection,
    options?: {
      /** Where the selection starts. @defaultValue the cursor */
      readonly from?: SearchNode<State, Action>;
      /** Whether a node may get further children later. @defaultValue never */
      readonly widening?: WideningRule | undefined;
    },
  ): SearchNode<State, Action> | undefined;
  /**
   * Marks the path to a node as in flight until the simulation ends, so that others spread elsewhere. Returns the node.
   */
  visit<Node extends SearchNode<State, Action>>(node: Node): Node;
}

/** One round of simulations. */
export interface SimulateOptions {
  /** The name of the round in events, such as `level`. @defaultValue none */
  readonly name?: string;
  /** The number of simulations after which this round ends; the search continues. @defaultValue no limit */
  readonly limit?: number;
  /**
   * What ends when a simulation finds nothing left to search: the search, or only this round, because the algorithm
   * continues elsewhere.
   *
   * @defaultValue `'search'`
   */
  readonly exhausts?: 'round' | 'search';
  /**
   * Whether the round waits when only slow expansions are left of it. With `leave`, those simulations continue
   * alongside what follows, each in its own slot.
   *
   * @defaultValue `'wait'`
   */
  readonly stragglers?: 'leave' | 'wait';
}

/** Options of {@link SearchContext.expand}. */
export interface ExpandOptions {
  /** How many actions. @defaultValue all that the policy has */
  readonly count?: number;
  /** The arm to draw from, if a policy has several. */
  readonly arm?: string | undefined;
  /** Whether to draw separate samples while another expansion of the node is in flight. @defaultValue false */
  readonly independent?: boolean;
  /**
   * Whether the node may be expanded again. If so, a node without usable samples stays open; if not, a node that has
   * children gets no more.
   *
   * @defaultValue the node is expanded whatever children it has, and never again if no sample is usable
   */
  readonly widening?: WideningRule;
}

/** How an algorithm performs effects, each of them budgeted, cancellable, journaled and reported. */
export interface SearchContext<State, Action> extends CallContext {
  /** The dynamics that are searched. */
  readonly environment: Environment<State, Action>;

  /** Whether the search is over: no further simulation will start. */
  readonly stopped: boolean;

  /** What the budget still holds. */
  readonly remaining: Spend;

  /**
   * Runs simulations, up to `concurrency` at once, until one of them, the budget or `stopWhen` ends the search.
   */
  simulate(
    run: (simulation: Simulation<State, Action>) => Promise<SimulationOutcome>,
    options?: SimulateOptions,
  ): Promise<void>;

  /**
   * Works on each node of a list, such as a level of a beam: one simulation per node, up to `concurrency` at once.
   * Finished work is recorded in the tree, so a resumed search repeats none of it.
   *
   * @param name - The name of the round in events.
   * @returns `'stopped'` if the search ended before all nodes had their turn.
   */
  round(
    name: string,
    nodes: readonly SearchNode<State, Action>[],
    run: (
      node: SearchNode<State, Action>,
      simulation: Simulation<State, Action>,
    ) => Promise<unknown>,
  ): Promise<'done' | 'stopped'>;

  /** Whether an expansion of the node is in flight. */
  isExpanding(node: SearchNode<State, Action>): boolean;

  /**
   * Asks the policy for actions and appends them as children. A duplicate of an existing child returns that child, and
   * adds its prior. Concurrent expansions of one node are shared, unless `independent` is set.
   *
   * @returns the child of each proposal, in order; none if the expansion failed, which becomes the node's failure.
   */
  expand(
    node: SearchNode<State, Action>,
    options?: ExpandOptions,
  ): Promise<readonly SearchNode<State, Action>[]>;

  /**
   * Appends known actions as children, as if the policy had proposed them: within the node budget, reported in events,
   * equal ones merged.
   *
   * @returns the child of each action, in order.
   */
  graft(
    node: SearchNode<State, Action>,
    proposals: readonly Proposal<Action>[],
  ): Promise<readonly SearchNode<State, Action>[]>;

  /** Steps to the states of proposed nodes, parents first. Siblings of equal state, reward and cost are merged. */
  realise(nodes: readonly SearchNode<State, Action>[]): Promise<void>;

  /** The key of a node's state; `undefined` without a state, or if the environment has no `key`. */
  key(node: SearchNode<State, Action>): string | undefined;

  /**
   * Evaluates, in one batch, the nodes that need it: those that have not failed, are not yet evaluated and are no
   * rewarded ends. With `again`, evaluated nodes get another sample too, and the mean of the samples is the value. A
   * failed sample leaves the node unchanged.
   */
  evaluate(
    nodes: readonly SearchNode<State, Action>[],
    options?: { readonly again?: boolean },
  ): Promise<void>;

  /**
   * The return of a simulation from a node, by the evaluator's `simulate`, requested once per node. `undefined` if the
   * evaluator has no `simulate`, if the node is a rewarded end, or if the call failed, which becomes the node's
   * failure.
   */
  outcome(node: SearchNode<State, Action>): MaybePromise<number | undefined>;

  /**
   * Ends the search as solved, with a node or a vote. A vote counts the environment's answers: the answer with the
   * greatest weight wins, represented by its heaviest node. Nodes without an answer, and pruned ones, have no vote;
   * without any vote nothing is concluded. The shares of all answers are recorded in the tree.
   *
   * @throws EspalierError `usage` for a vote if the environment has no `answer`.
   */
  conclude(
    conclusion:
      | Omit<Conclusion<State, Action>, 'shares'>
      | {
          readonly votes: readonly {
            /** The voting node. */
            readonly node: SearchNode<State, Action>;
            /** The weight of its vote: a finite number from 0 up. @defaultValue 1 */
            readonly weight?: number;
          }[];
        },
  ): void;

  /** Moves the cursor of the real world to a node below it. */
  advance(node: SearchNode<State, Action>): void;

  /** Runs a nested search with a share, in (0, 1], of this search's remaining budget; a pool is not divided. */
  search<S, A>(
    environment: Environment<S, A>,
    options: NoInfer<SearchOptions<S, A>> & { readonly share: number },
  ): Promise<SearchResult<S, A>>;
}

/** Ends a search gracefully when it returns true, or `'solved'`. Checked after each simulation. */
export type StopCondition<State = unknown, Action = unknown> = (progress: {
  /** The current tree. It is live: copy what you keep. */
  readonly tree: SearchTree<State, Action>;
  /** The best node so far. */
  readonly best: SearchNode<State, Action>;
  /** What has been spent so far. */
  readonly spend: Spend;
}) => boolean | 'solved';

/** The parts of a published method under one name. */
export interface SearchMethod<State = any, Action = any> {
  /** The name in results, runs and datasets, in kebab-case. */
  readonly name: string;
  /** Proposes actions. */
  readonly policy: Policy<State, Action>;
  /** Values states. */
  readonly evaluator: Evaluator<State, Action>;
  /** Grows the tree. */
  readonly algorithm: SearchAlgorithm<State, Action>;
  /** Conditions that end the search before its budget is spent. @defaultValue none */
  readonly stopWhen?: readonly StopCondition<State, Action>[];
}

/** Options of {@link search}. The environment determines the types of states and actions. */
export interface SearchOptions<State = any, Action = any> {
  /**
   * Policy, evaluator, algorithm and stop conditions in one. Explicit `policy`, `evaluator` and `algorithm` options
   * replace its own.
   */
  readonly method?: SearchMethod<State, Action> | undefined;
  /** Proposes actions. Required without a `method`. */
  readonly policy?: PolicyLike<State, Action> | undefined;
  /** Values states. Required by algorithms that need the value of a state with neither reward nor heuristic. */
  readonly evaluator?: EvaluatorLike<State, Action> | undefined;
  /** @defaultValue `mcts()` */
  readonly algorithm?: SearchAlgorithm<State, Action> | undefined;
  /**
   * Decides whether an end is correct, as its reward: tests or a rule; `goldVerifier(oracle)` for training data.
   * Complete answers that may still be refined are rewarded too.
   *
   * @defaultValue the rewards of the environment
   */
  readonly outcome?: Verifier<State> | undefined;
  /**
   * γ, the discount of each edge, in [0, 1]. It is stored in the tree: the best node and the final choice use the
   * discounted return.
   *
   * @defaultValue that of the tree, 1 in a new one
   */
  readonly discount?: number | undefined;
  /** @defaultValue 100 simulations */
  readonly budget?: Budget | undefined;
  /**
   * A budget shared with other searches, in addition to this search's own. Calls in flight when a process is killed are
   * charged to the pool, not to this search's budget.
   *
   * @defaultValue none
   */
  readonly pool?: BudgetPool | undefined;
  /**
   * Sends model requests that can wait in batches; `generate` passes it to its searches. A journal cannot be shared
   * between searches with and without it.
   *
   * @defaultValue nothing waits
   */
  readonly batches?: Batches | undefined;
  /** Conditions that end the search gracefully, beside those of the method. @defaultValue none */
  readonly stopWhen?:
    | StopCondition<State, Action>
    | readonly StopCondition<State, Action>[]
    | undefined;
  /**
   * Simulations under way at once, and calls in flight: integers from 1 up. A simulation may have several calls in flight,
   * the samples of an expansion for example. A number n means n simulations and max(16, 4 · n) calls.
   *
   * Each request to a model, and each effect, counts as a call in flight from its start until its result takes effect,
   * retries included; calls made by an effect count as part of it. Further calls queue in request order, without
   * reserving budget. Nested searches share these slots. Calls answered from the journal, shared equal calls and prompt
   * counts, which are free, take no slot. A replay needs the same numbers as its run.
   *
   * @defaultValue 1
   */
  readonly concurrency?:
    | number
    | {
        /** The maximum number of simulations in flight. */
        readonly simulations: number;
        /** The maximum number of calls in flight. */
        readonly calls: number;
      }
    | undefined;
  /** The order in which results take effect. @defaultValue `'arrival'` */
  readonly order?: Order | undefined;
  /** Rejects the search when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue 0 */
  readonly seed?: number | string | undefined;
  /**
   * Prices by model id. They take precedence over `defaultPrices` in `espalier/calls` and over prices that models
   * carry. With `budget.usd`, every model needs a price.
   */
  readonly prices?: PriceTable | undefined;
  /** Records paid calls and answers repeated ones. @defaultValue none */
  readonly journal?: Journal | undefined;
  /**
   * Whether calls that failed in an earlier run on the journal, or in the search being resumed, are repeated once the
   * search has caught up with it. Without it, only transient failures are repeated: no connection, a busy server, too
   * many requests, no budget left.
   *
   * @defaultValue `false`
   */
  readonly retryFailed?: boolean | undefined;
  /**
   * Whether to draw further samples when the algorithm has nothing left to search: one at a time, from the nodes with
   * the fewest samples first, until the budget is spent or no node yields anything new. Pruned nodes stay pruned.
   *
   * @defaultValue `false`, as in published methods
   */
  readonly fill?: boolean | undefined;
  /** A tree to continue. @defaultValue a new tree */
  readonly tree?: SearchTree<State, Action> | undefined;
  /** @defaultValue the system's */
  readonly clock?: Clock | undefined;
}

/**
 * Why a search ended.
 *
 * - `solved`: the algorithm, or a stop condition, found what it was looking for.
 * - `budget`: a limit was reached; `exceeded` names it.
 * - `exhausted`: nothing is left to search; `failures` lists what failed on the way.
 * - `stopped`: a stop condition held.
 * - `failed`: the search could not go on; `failure` says why.
 */
export type StopReason = 'solved' | 'budget' | 'exhausted' | 'stopped' | 'failed';

/** What a search found. `JSON.stringify` writes it without its tree, as `json()` of a stream does in `search-end`. */
export interface SearchResult<State, Action> {
  /** The method used, and which of its parts were replaced; `undefined` without one. */
  readonly method:
    | {
        /** The name of the method. */
        readonly name: string;
        /** The parts that other options replaced. */
        readonly replaced: readonly ('algorithm' | 'evaluator' | 'policy')[];
      }
    | undefined;
  /** The tree that was grown. */
  readonly tree: SearchTree<State, Action>;
  /** The best node found; the root if nothing was found. */
  readonly best: SearchNode<State, Action>;
  /** The actions that lead to it. */
  readonly actions: readonly Action[];
  /**
   * The best node's answer, from the environment's `answer`. `undefined` where the environment has none, as puzzles: their
   * solution is the `actions`, and the `state` of `best`.
   */
  readonly answer: JsonValue | undefined;
  /** Whether the best node is terminal or an answer, with an undiscounted return of at least 1. */
  readonly solved: boolean;
  /** Whether the algorithm proved that no other proposed path is better. */
  readonly optimal: boolean;
  /** Why the search ended. */
  readonly stopReason: StopReason;
  /** The limit that was reached. */
  readonly exceeded: keyof Spend | undefined;
  /** Whether that limit is the pool's, while this search's own budget had more left. */
  readonly poolExhausted: boolean;
  /** Why the search failed, if it did. */
  readonly failure: Failure | undefined;
  /**
   * Failures in the tree, however the search ended: after `exhausted`, parts of the tree may be missing because of
   * them. Errors of tools that the model was told are not among them.
   */
  readonly failures: {
    /** Their number. Nodes that failed only because all nodes below them did are not counted. */
    readonly count: number;
    /** Their number by kind. */
    readonly kinds: Readonly<Partial<Record<Failure['kind'], number>>>;
    /** The first of each kind, in node order. */
    readonly first: readonly Failure[];
  };
  /** What the search has spent. */
  readonly spend: Spend;
  /** Tokens used and dollars charged by servers beyond what was reserved. */
  readonly overdraft: Omit<CallSpend, 'calls'>;
  /** The cost of calls that took effect: `spend` without the losses of killed processes. */
  readonly answered: CallSpend;
  /** Models called without a known price: their cost is not in `spend.usd`. */
  readonly unpriced: readonly string[];
  /** Tokens read and written per model and role, in the order of their first call. */
  readonly usage: readonly ModelUsage[];
  /** How many calls the journal answered. */
  readonly coverage: {
    /** Calls that the journal answered. */
    readonly recorded: number;
    /** Calls that a replay could not answer. */
    readonly unrecorded: number;
    /**
     * The 1-based line of the journal at which this search, or one that it repeats, first diverged from the record.
     */
    readonly differsAt: number | undefined;
  };
  /**
   * Continues with the same tree under a further budget. Other options may change as well. Transient failures (a busy
   * or unreachable server) are retried.
   */
  resume(
    options?: Partial<Omit<SearchOptions<State, Action>, 'tree'>>,
  ): Promise<SearchResult<State, Action>>;
}
