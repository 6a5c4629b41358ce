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
 * A law that an algorithm keeps on every tree it grows. The conformance kit holds it to them.
 *
 * - `visits`: a node's visits are the simulations that ended at it plus those of its children.
 * - `values`: with values and rewards in [0, 1] of which a path has at most one, every value is in [0, 1].
 * - `simulations`: each simulation that ends without a failure adds one visit to the root.
 */
export type ConservationLaw = 'visits' | 'values' | 'simulations';

/** A way to grow a tree: a textbook loop. It keeps no state outside the tree. */
export interface SearchAlgorithm<State = any, Action = any> {
  /** The name in results, journals and commands. */
  readonly name: string;
  /** Whether several simulations may be under way at once, or why not. */
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
 * - `solved`: the algorithm has what it looked for.
 * - `{ reserved }`: of this unit no more is left than is reserved for something else.
 */
export type SimulationOutcome =
  | {
      /** Of which unit no more is left than is reserved. */
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
   * The node that a rule selects; `undefined` where nothing is left to learn. Its path is marked as by `visit` in the
   * same breath: simulations that start together see each other. With a `widening` rule, a node that can neither get
   * another child now nor ever is closed, and another one selected.
   */
  select(
    selection: Selection,
    options?: {
      /** Where the selection starts. @defaultValue where the world stands */
      readonly from?: SearchNode<State, Action>;
      /** Whether a node may get further children later. @defaultValue never */
      readonly widening?: WideningRule | undefined;
    },
  ): SearchNode<State, Action> | undefined;
  /** Marks the path to a node as under way until the simulation ends, so that others keep away. Returns the node. */
  visit<Node extends SearchNode<State, Action>>(node: Node): Node;
}

/** One round of simulations. */
export interface SimulateOptions {
  /** What the round is called in events, such as `level`. @defaultValue nothing */
  readonly name?: string;
  /** The number of simulations after which this round ends, and not the search. @defaultValue no limit */
  readonly limit?: number;
  /**
   * What a simulation that finds nothing left to search ends: the search, or only this round, because the
   * algorithm goes on elsewhere.
   *
   * @defaultValue `'search'`
   */
  readonly exhausts?: 'round' | 'search';
  /**
   * Whether the round waits for expansions that are all it waits for, and in whose time others have ended. Where it does
   * not, these simulations go on beside what follows, each in a slot of its own.
   *
   * @defaultValue `'wait'`
   */
  readonly stragglers?: 'leave' | 'wait';
}

/** What {@link SearchContext.expand} is asked for. */
export interface ExpandOptions {
  /** How many actions. @defaultValue all that the policy has */
  readonly count?: number;
  /** The arm to draw from, where a policy has several. */
  readonly arm?: string | undefined;
  /** Whether to draw samples of its own while another expansion of the node is under way. @defaultValue false */
  readonly independent?: boolean;
  /**
   * Whether the node may be asked again. Where it may, a node of whose samples none can be used stays open; where
   * it may not, a node that has children gets no more.
   *
   * @defaultValue a node is asked, whatever it has, and never again where no sample can be used
   */
  readonly widening?: WideningRule;
}

/** How an algorithm reaches its effects, each of them budgeted, cancelled, journaled and reported. */
export interface SearchContext<State, Action> extends CallContext {
  /** The dynamics that are searched. */
  readonly environment: Environment<State, Action>;

  /** Whether the search is over: no further simulation will start. */
  readonly stopped: boolean;

  /** What the budget still holds. */
  readonly remaining: Spend;

  /**
   * Runs simulations, as many at once as `concurrency` says, until one of them ends the search, or the
   * budget or `stopWhen` does.
   */
  simulate(
    run: (simulation: Simulation<State, Action>) => Promise<SimulationOutcome>,
    options?: SimulateOptions,
  ): Promise<void>;

  /**
   * Works on each node of a list, such as a level of a beam: one simulation a node, as many at once as `concurrency`
   * says. What is done stands in the tree, so that a search that goes on repeats nothing of it.
   *
   * @param name - What the round is called in events.
   * @returns `'stopped'` where the search ended before all nodes had their turn.
   */
  round(
    name: string,
    nodes: readonly SearchNode<State, Action>[],
    run: (
      node: SearchNode<State, Action>,
      simulation: Simulation<State, Action>,
    ) => Promise<unknown>,
  ): Promise<'done' | 'stopped'>;

  /** Whether an expansion of the node is under way. What another one would bring is not known before it ends. */
  isExpanding(node: SearchNode<State, Action>): boolean;

  /**
   * Asks the policy for actions and appends them as children. Duplicates of a child that is there stand
   * for it, and their prior is added to its own. Expansions of one node at the same time are one,
   * unless `independent` asks for samples of its own.
   *
   * @returns the children that the proposals stand for, in order; none when the expansion failed, which
   * is then the node's failure.
   */
  expand(
    node: SearchNode<State, Action>,
    options?: ExpandOptions,
  ): Promise<readonly SearchNode<State, Action>[]>;

  /**
   * Appends actions that are known already as children, as if the policy had proposed them: within the budget of nodes,
   * told in events, equal ones merged.
   *
   * @returns the children that they stand for, in order.
   */
  graft(
    node: SearchNode<State, Action>,
    proposals: readonly Proposal<Action>[],
  ): Promise<readonly SearchNode<State, Action>[]>;

  /** Steps to the states of proposed nodes, parents first. Siblings of equal state, reward and cost are merged. */
  realise(nodes: readonly SearchNode<State, Action>[]): Promise<void>;

  /** The key of a node's state; `undefined` where it has no state, or the environment no keys. */
  key(node: SearchNode<State, Action>): string | undefined;

  /**
   * Evaluates, in one batch, the nodes that need it: not failed, not evaluated, not rewarded at their end. With `again`
   * also those that have been evaluated: a new sample is kept beside the others, and their mean is the value. A sample
   * that fails leaves the node as it was.
   */
  evaluate(
    nodes: readonly SearchNode<State, Action>[],
    options?: { readonly again?: boolean },
  ): Promise<void>;

  /**
   * The return of a simulation from a node on, by the evaluator's `simulate`. Asked for once a node.
   * `undefined` where the evaluator has none, where the end of the node was rewarded, and where it failed,
   * which is then the node's failure.
   */
  outcome(node: SearchNode<State, Action>): MaybePromise<number | undefined>;

  /**
   * Ends the search as solved, with what it found: a node, or a vote. Of a vote the answers of the environment are
   * counted: what has the greatest weight is concluded, and its heaviest node. A node without an answer, or put
   * aside, has no vote; where none has one, nothing is concluded. The shares of all answers stand in the tree.
   *
   * @throws EspalierError `usage` for a vote where the environment has no `answer`.
   */
  conclude(
    conclusion:
      | Omit<Conclusion<State, Action>, 'shares'>
      | {
          readonly votes: readonly {
            /** What votes. */
            readonly node: SearchNode<State, Action>;
            /** How much its vote counts: a finite number from 0 up. @defaultValue 1 */
            readonly weight?: number;
          }[];
        },
  ): void;

  /** Moves the cursor of the real world to a node below it. */
  advance(node: SearchNode<State, Action>): void;

  /** Searches something else within a share, in (0, 1], of what this search's budget still holds; a pool is not divided. */
  search<S, A>(
    environment: Environment<S, A>,
    options: NoInfer<SearchOptions<S, A>> & { readonly share: number },
  ): Promise<SearchResult<S, A>>;
}

/** Ends a search gracefully when it returns true, or `'solved'`. Looked at after each simulation. */
export type StopCondition<State = unknown, Action = unknown> = (progress: {
  /** The tree as it stands. Live: copy what you keep. */
  readonly tree: SearchTree<State, Action>;
  /** The best node so far. */
  readonly best: SearchNode<State, Action>;
  /** What has been spent so far. */
  readonly spend: Spend;
}) => boolean | 'solved';

/** Parts that belong together under one name: what a published method is made of. */
export interface SearchMethod<State = any, Action = any> {
  /** The name in results, runs and datasets, in kebab-case. */
  readonly name: string;
  /** Who proposes. */
  readonly policy: Policy<State, Action>;
  /** Who values. */
  readonly evaluator: Evaluator<State, Action>;
  /** How the tree grows. */
  readonly algorithm: SearchAlgorithm<State, Action>;
  /** When the search is over before its budget is spent. @defaultValue never */
  readonly stopWhen?: readonly StopCondition<State, Action>[];
}

/** What {@link search} is given beside the environment, from which states and actions take their types. */
export interface SearchOptions<State = any, Action = any> {
  /** Policy, evaluator, algorithm and stop conditions in one. The first three replace its own where they are given beside it. */
  readonly method?: SearchMethod<State, Action>;
  /** Proposes actions. Needed where there is no method. */
  readonly policy?: PolicyLike<State, Action>;
  /** Needed by algorithms that look at states which are neither rewarded nor scored by a heuristic. */
  readonly evaluator?: EvaluatorLike<State, Action>;
  /** @defaultValue `mcts()` */
  readonly algorithm?: SearchAlgorithm<State, Action>;
  /**
   * Says whether an end is right, for its reward: tests, a rule; for training data `goldVerifier(oracle)`. Complete
   * answers that may still be refined are rewarded too.
   *
   * @defaultValue the rewards of the environment
   */
  readonly outcome?: Verifier<State>;
  /**
   * γ, the discount of each edge, in [0, 1]. It belongs to the tree from then on: what is best and what is chosen go
   * by the discounted return.
   *
   * @defaultValue that of the tree, 1 in a new one
   */
  readonly discount?: number;
  /** @defaultValue 100 simulations */
  readonly budget?: Budget;
  /**
   * A budget that other searches spend from as well, beside that of this one. What a killed process had under way is
   * charged to it, and leaves as much for this search as an undisturbed one has.
   *
   * @defaultValue none
   */
  readonly pool?: BudgetPool;
  /**
   * Where calls of models send what may wait; `generate` gives it to its searches. A journal belongs to a search with it
   * or to one without.
   *
   * @defaultValue nothing waits
   */
  readonly batches?: Batches;
  /** Conditions that end the search gracefully, beside those of the method. @defaultValue none */
  readonly stopWhen?: StopCondition<State, Action> | readonly StopCondition<State, Action>[];
  /**
   * Simulations under way at once, and calls in flight: integers from 1 up. A simulation may have several calls in flight,
   * the samples of an expansion for example. A number n is n simulations and max(16, 4 · n) calls.
   *
   * What counts as a call in flight is each request to a model, and each effect, from its start until its result takes
   * effect, retries included; calls that an effect makes count with it. Others wait in the order in which they were
   * asked for, with nothing reserved of the budget. Searches within this one share its places for calls. What is
   * bought already, equal calls shared, and counts of prompts, which are free, take no place. A replay needs the same
   * numbers as its run.
   *
   * @defaultValue 1
   */
  readonly concurrency?:
    | number
    | {
        /** How many simulations are under way at once. */
        readonly simulations: number;
        /** How many calls are in flight. */
        readonly calls: number;
      };
  /** In which order results take effect. @defaultValue `'arrival'` */
  readonly order?: Order;
  /** Rejects the search when it aborts. */
  readonly signal?: AbortSignal;
  /** @defaultValue 0 */
  readonly seed?: number | string;
  /**
   * Prices by model id, beside and above those of `defaultPrices` in `espalier/calls`, and what models say themselves. Where
   * `budget.usd` is set, every model needs one.
   */
  readonly prices?: PriceTable;
  /** Where paid calls are written down and found again. @defaultValue nowhere */
  readonly journal?: Journal;
  /**
   * Whether calls that failed in an earlier run on the journal, or in the search that this one continues, are made again
   * once the search has come to where that ended. Without it, those are that waiting may mend: no connection, a busy
   * server, too many requests, no time left.
   *
   * @defaultValue `false`
   */
  readonly retryFailed?: boolean;
  /**
   * Whether further samples are drawn where the algorithm has nothing left to search, from the nodes that have the fewest
   * and one at a time, until the budget is spent or no node has anything new. What was put aside stays so.
   *
   * @defaultValue `false`: published methods end there
   */
  readonly fill?: boolean;
  /** A tree to go on with. @defaultValue a new one */
  readonly tree?: SearchTree<State, Action>;
  /** @defaultValue the system's */
  readonly clock?: Clock;
}

/**
 * Why a search ended.
 *
 * - `solved`: the algorithm, or a stop condition, has what it looked for.
 * - `budget`: a limit was met; `exceeded` says which.
 * - `exhausted`: nothing is left to search. What was lost on the way, `failures` tells.
 * - `stopped`: a stop condition said so.
 * - `failed`: the search could not go on; `failure` says why.
 */
export type StopReason = 'solved' | 'budget' | 'exhausted' | 'stopped' | 'failed';

/** What a search found. */
export interface SearchResult<State, Action> {
  /** The method that was followed, and which of its parts were replaced; `undefined` where none was. */
  readonly method:
    | {
        /** The name of the method. */
        readonly name: string;
        /** Which of its parts were given in place of its own. */
        readonly replaced: readonly ('algorithm' | 'evaluator' | 'policy')[];
      }
    | undefined;
  /** The tree that was grown. */
  readonly tree: SearchTree<State, Action>;
  /** The best node found; the root where nothing was. */
  readonly best: SearchNode<State, Action>;
  /** The actions that lead to it. */
  readonly actions: readonly Action[];
  /** What the best node answers, as `answer` of the environment tells it; `undefined` where it tells none. */
  readonly answer: JsonValue | undefined;
  /** Whether the best node is terminal, or an answer, and its return, not discounted, is 1 or more. */
  readonly solved: boolean;
  /** Whether the algorithm proved that no other proposed path is better. */
  readonly optimal: boolean;
  /** Why the search ended. */
  readonly stopReason: StopReason;
  /** The limit that was met. */
  readonly exceeded: keyof Spend | undefined;
  /** Whether that limit is one of the pool, and its own would have held more. */
  readonly poolExhausted: boolean;
  /** Why the search failed, where it did. */
  readonly failure: Failure | undefined;
  /** What came to nothing in the tree, however the search ended: `exhausted` may mean that parts of it are lost. */
  readonly failures: {
    /** How many there are. What failed only because all below it did is not among them. */
    readonly count: number;
    /** How many there are of each kind. */
    readonly kinds: Readonly<Partial<Record<Failure['kind'], number>>>;
    /** The first of each kind, in the order of the nodes. */
    readonly first: readonly Failure[];
  };
  /** What the search has spent. */
  readonly spend: Spend;
  /** Tokens that servers used, and dollars that they charged, beyond what they were allowed. */
  readonly overdraft: Omit<CallSpend, 'calls'>;
  /** What the calls that took effect have cost: `spend` without what killed processes have lost. */
  readonly answered: CallSpend;
  /** The models that were called and whose price is unknown: what they cost is not in `spend.usd`. */
  readonly unpriced: readonly string[];
  /** What each model read and wrote, by who asked it, in the order in which they were first asked. */
  readonly usage: readonly ModelUsage[];
  /** How far the journal answered its calls. */
  readonly coverage: {
    /** Calls that the journal answered. */
    readonly recorded: number;
    /** Calls that a replay could not answer. */
    readonly unrecorded: number;
    /**
     * The line of the journal, from 1, at which the search, or one on that journal that it repeats, asked something else
     * than what is written there.
     */
    readonly differsAt: number | undefined;
  };
  /**
   * Goes on with the same tree under a further budget. Other options may change as well. What failed for a reason
   * that may have passed (a server that was busy or out of reach) is asked for again.
   */
  resume(
    options?: Partial<Omit<SearchOptions<State, Action>, 'tree'>>,
  ): Promise<SearchResult<State, Action>>;
}
