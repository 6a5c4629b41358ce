import { EspalierError } from '../base/errors.ts';
import {
  expectation,
  expectNode,
  expectNumber,
  expectObject,
  expectObjects,
  expectOneOf,
} from '../base/expect.ts';
import { isFailure } from '../base/failure.ts';
import type { Transition } from '../contracts/environment.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Failure } from '../contracts/failure.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ChildNode, NodeId, PruneReason, RootNode, SearchNode } from '../contracts/node.ts';
import { type BackupOptions, carryUp } from './backup.ts';
import { BestEnd, isAtOrBelow } from './best-end.ts';
import { closeAbove, closeFrom, openAbove } from './closing.ts';
import type { Conclusion } from './conclusion.ts';
import { bestBet } from './final-choice.ts';
import { expectNotes, type NewChild, TreeNode, view } from './node.ts';
import { pruneReasons } from './prune-reasons.ts';
import type { RuleSpec } from './rules.ts';
import { savedTree } from './saved-tree.ts';
import type { TreeView } from './selection.ts';
import { SimulationLog } from './simulation-log.ts';
import { scoreOf } from './summary.ts';
import type { TreeJson } from './tree-json.ts';

/**
 * The tree that a search grows. All state of an algorithm lives in it, so that it can be saved,
 * continued, or searched further by another algorithm.
 *
 * It is synchronous and deterministic, and only does the bookkeeping: selection rules decide what to do next, backup
 * rules determine values.
 */
export class SearchTree<State = unknown, Action = unknown> implements TreeView<State, Action> {
  /** The environment in which the tree grew, and the seed of its random numbers. */
  readonly origin: {
    /** The name of the environment. */
    readonly environment: string;
    /** The seed. */
    readonly seed: number | string;
  };
  /** Marks that training data must carry, such as `oracle-guided`. */
  readonly stamps: Set<string> = new Set();
  /** Simulations started on this tree, except those handed back. */
  simulations = 0;
  /** Simulations that had nothing to do until another one ended. They do not count, but keep their indices. */
  handedBack = 0;
  /** The last selection rule, if it has a name. */
  rule: RuleSpec | undefined = undefined;
  /** The simulations in the order in which they ended. Trees saved by earlier versions have none. */
  readonly log: SimulationLog = new SimulationLog();

  #discount = 1;
  readonly #nodes: TreeNode<State, Action>[];
  #cursor: TreeNode<State, Action>;
  readonly #best: BestEnd<State, Action>;
  #conclusion: Conclusion<State, Action> | undefined;
  #preferred: SearchNode<State, Action> | undefined;

  constructor(state: State, origin: SearchTree['origin']) {
    this.origin = origin;
    const root = new TreeNode<State, Action>(0, undefined, { action: undefined, prior: 1 });
    root.state = state;
    root.realised = true;
    this.#nodes = [root];
    this.#cursor = root;
    this.#best = new BestEnd(this);
  }

  /** The number of nodes, the root included. */
  get size(): number {
    return this.#nodes.length;
  }

  /** The start of the search. */
  get root(): RootNode<State, Action> {
    return view(this.mutable(0)) as RootNode<State, Action>;
  }

  /** γ, the discount of each edge below the root, in [0, 1]: later rewards are worth less. 1 until it is set. */
  get discount(): number {
    return this.#discount;
  }

  /** Sets γ, and reconsiders which end is best. */
  set discount(discount: number) {
    if (discount === this.#discount) return;
    this.#discount = discount;
    this.#best.reconsider();
  }

  /** The position of the real world. The root, until the search advances. */
  get cursor(): SearchNode<State, Action> {
    return view(this.#cursor);
  }

  /** The algorithm's preferred node before the search has found an end, if set. */
  get preferred(): SearchNode<State, Action> | undefined {
    return this.#preferred;
  }

  /** The algorithm's conclusion, if any. */
  get conclusion(): Conclusion<State, Action> | undefined {
    return this.#conclusion;
  }

  /**
   * The best node found: the algorithm's conclusion; else the terminal node or answer with the highest score, ties
   * going to the shallowest and then to the first; else, of the ends that were not evaluated, the one whose parent
   * promises most; else the algorithm's preferred node; else the end of the most visited path, or without visits the
   * most promising node.
   */
  get best(): SearchNode<State, Action> {
    return (
      this.#conclusion?.node ??
      this.bestTerminal ??
      this.#best.unscored ??
      this.#preferred ??
      bestBet(this.cursor, this.#discount)
    );
  }

  /** The terminal node or answer with the highest {@link score}. */
  get bestTerminal(): SearchNode<State, Action> | undefined {
    return this.#best.node;
  }

  /** All nodes in the order of their ids. */
  *nodes(): Generator<SearchNode<State, Action>, void, undefined> {
    for (const node of this.#nodes) yield view(node);
  }

  /** The node with this id. */
  node(id: NodeId): SearchNode<State, Action> {
    return view(this.mutable(id));
  }

  /** The sibling that a duplicate was merged into; for other nodes, the node itself. */
  original(node: SearchNode<State, Action>): SearchNode<State, Action> {
    const { duplicateOf } = this.#own(node);
    return duplicateOf === undefined ? node : this.node(duplicateOf);
  }

  /**
   * The return of a finished path: the sum of its rewards plus, if the last state has no reward, the return of a
   * simulation from it or else its evaluation, if that is about the state. Each edge after the first is discounted once
   * more, as in {@link backup}. `undefined` for an answer with none of these.
   *
   * @param discount - γ. @defaultValue that of the tree; 1 ignores how late rewards come
   */
  score(node: SearchNode<State, Action>, discount: number = this.#discount): number | undefined {
    this.#own(node);
    return scoreOf(node, discount);
  }

  /** Appends children in order, and reopens nodes that were closed without them. */
  add(
    parent: SearchNode<State, Action>,
    children: readonly NewChild<Action>[],
  ): readonly ChildNode<State, Action>[] {
    const above = this.#own(parent);
    expectObjects('children', children);
    const added = children.map((child) => {
      const node = new TreeNode<State, Action>(this.#nodes.length, above, child);
      if (child.completion !== undefined) node.set({ completion: child.completion });
      this.#nodes.push(node);
      return node;
    });
    above.children = above.children.length === 0 ? added : [...above.children, ...added];
    const [first] = added;
    if (first !== undefined) openAbove(first);
    return added as readonly unknown[] as readonly ChildNode<State, Action>[];
  }

  /** Sets P(s, a). */
  setPrior(node: SearchNode<State, Action>, prior: number): void {
    this.#own(node).prior = prior;
  }

  /** Adds to the samples requested at a node; negative after a failed request. */
  countSamples(node: SearchNode<State, Action>, count: number): void {
    if (count === 0) return;
    const own = this.#own(node);
    own.set({ samples: own.samples + count });
  }

  /** Marks that no further child will be added here, and closes nodes with nothing left to search. */
  complete(node: SearchNode<State, Action>): void {
    const own = this.#own(node);
    own.complete = true;
    closeFrom(own);
  }

  /** Records what the action of a node led to. */
  realise(node: SearchNode<State, Action>, transition: Transition<State>): void {
    const own = this.#own(node);
    expectObject('transition', transition);
    own.state = transition.state;
    own.realised = true;
    own.reward = transition.reward;
    own.terminal = transition.terminal ?? false;
    if (own.terminal) own.status = 'terminal';
    const { answer = false, cost } = transition;
    if (answer || cost !== undefined) own.set({ answer, cost });
    this.#best.consider(node);
  }

  /** Records an evaluation. Further samples are kept; their mean is the value. */
  addEvaluation(node: SearchNode<State, Action>, evaluation: Evaluation): void {
    const own = this.#own(node);
    expectNumber('evaluation.value', Object(evaluation).value);
    own.addEvaluation(evaluation);
    this.#best.consider(node);
  }

  /** Marks a node as failed. */
  fail(node: SearchNode<State, Action>, failure: Failure): void {
    const own = this.#own(node);
    if (!isFailure(failure))
      throw expectation('failure', 'one with a `kind` and a `message`', failure);
    own.set({ failure });
    own.status = 'failed';
    closeAbove(own);
  }

  /** Records failures at a node that has not failed itself. */
  noteFailures(
    node: SearchNode<State, Action>,
    noted: Partial<Pick<SearchNode, 'failedEvaluations' | 'failedProposals' | 'failure'>>,
  ): void {
    this.#own(node).set(noted);
  }

  /** Prunes a node as a duplicate of a sibling, which takes over its prior. */
  merge(node: SearchNode<State, Action>, sibling: SearchNode<State, Action>): void {
    const twin = this.#own(sibling);
    const own = this.#own(node);
    twin.prior += own.prior;
    own.prior = 0;
    own.set({ duplicateOf: twin.id });
    this.prune(node, 'duplicate');
  }

  /** Prunes a node that an algorithm no longer needs. It can no longer be the best. */
  prune(node: SearchNode<State, Action>, why: PruneReason = 'other'): void {
    expectOneOf('why', why, pruneReasons);
    const own = this.#own(node);
    own.status = 'pruned';
    own.set({ pruned: why });
    closeAbove(own);
    if (this.#conclusion?.node === node) this.#conclusion = undefined;
    if (this.#preferred === node) this.#preferred = undefined;
    if (this.#best.node === node) this.#best.reconsider();
  }

  /** @internal Lets a rule choose as if these nodes had been pruned. */
  without<Chosen>(nodes: readonly SearchNode<State, Action>[], choose: () => Chosen): Chosen {
    const own = nodes.map((node) => this.#own(node));
    const before = own.map(({ status }) => status);
    for (const node of own) node.status = 'pruned';
    try {
      return choose();
    } finally {
      for (const [place, node] of own.entries()) node.status = before[place] ?? node.status;
    }
  }

  /** Reopens a failed or pruned node, and the nodes above that were closed because of it. */
  reopen(node: SearchNode<State, Action>): void {
    const own = this.#own(node);
    own.reopen();
    openAbove(own);
    closeFrom(own);
    this.#best.consider(node);
  }

  /** Sets a user's notes at a node. They are saved with the tree. */
  annotate(node: SearchNode<State, Action>, notes: Readonly<Record<string, JsonValue>>): void {
    const own = this.#own(node);
    expectNotes(node, notes);
    own.set({ annotations: { ...own.annotations, ...notes } });
  }

  /** Sets an algorithm's note at a node; {@link notesOf} is the typed form. It is saved with the tree. */
  note(node: SearchNode<State, Action>, owner: string, note: JsonValue): void {
    const own = this.#own(node);
    expectNotes(node, note);
    own.set({ notes: { ...own.notes, [owner]: note } });
  }

  /** Records the return of a simulation from a node. */
  setOutcome(node: SearchNode<State, Action>, outcome: Evaluation): void {
    this.#own(node).set({ outcome });
    this.#best.consider(node);
  }

  /** Counts a simulation as started. @returns its index. */
  startSimulation(): number {
    this.log.start();
    return this.simulations++ + this.handedBack;
  }

  /** Hands back a simulation that found nothing to do. */
  handBackSimulation(): void {
    this.simulations--;
    this.handedBack++;
    this.log.handBack();
  }

  /** Counts a simulation in flight at a node and all nodes above it, up to `until`. */
  addInFlight(
    node: SearchNode<State, Action>,
    count: 1 | -1,
    until?: SearchNode<State, Action>,
  ): void {
    let own: TreeNode<State, Action> | undefined = this.#own(node);
    for (; own !== undefined && view(own) !== until; own = own.parent) own.inFlight += count;
  }

  /**
   * Propagates the return of a simulation from a node to the root.
   *
   * The node's own return is v(s), or only its reward for a rewarded terminal node. Each edge adds its reward and
   * discounts what follows, except the first edge for an evaluation about the action, which includes both; the root has
   * no edge, and its value is V(s).
   */
  backup(node: SearchNode<State, Action>, options: BackupOptions = {}): void {
    const leaf = this.#own(node);
    this.log.backUp(leaf.id, carryUp(leaf, options, this.#discount));
    closeFrom(leaf);
  }

  /** Moves the cursor of the real world to a node below it. Siblings stay, because pairs need them. */
  advance(node: SearchNode<State, Action>): void {
    const own = this.#own(node);
    if (!isAtOrBelow(node, this.cursor) || !own.realised) {
      throw new EspalierError(
        'usage',
        `Expected \`node\` to be a realised node below the cursor ${this.#cursor.id}, got node ${node.id}.`,
      );
    }
    this.#cursor = own;
    // A best node elsewhere can no longer be reached.
    if (this.#conclusion && !isAtOrBelow(this.#conclusion.node, node)) this.#conclusion = undefined;
    if (this.#preferred && !isAtOrBelow(this.#preferred, node)) this.#preferred = undefined;
    this.#best.reconsider();
  }

  /** Sets the preferred node of an unfinished search, for algorithms without visits. */
  prefer(node: SearchNode<State, Action>): void {
    this.#own(node);
    this.#preferred = node;
  }

  /** Records what an algorithm found. */
  conclude(conclusion: Conclusion<State, Action>): void {
    expectObject('conclusion', conclusion);
    const { id, status } = this.#own(conclusion.node);
    if (status === 'pruned') throw expectation('node', 'one that was not pruned', id);
    this.#conclusion = { ...conclusion, optimal: conclusion.optimal === true };
  }

  /**
   * A copy of the tree for another search that starts at a node. Statistics are kept; the conclusion is not.
   */
  fork(node: SearchNode<State, Action> = this.cursor): SearchTree<State, Action> {
    const copy = new SearchTree<State, Action>(this.root.state, this.origin);
    copy.simulations = this.simulations;
    copy.handedBack = this.handedBack;
    copy.discount = this.#discount;
    copy.rule = this.rule;
    for (const logged of this.log) copy.log.add(logged);
    for (const stamp of this.stamps) copy.stamps.add(stamp);
    for (const { id, parent, action } of this.#nodes) {
      if (parent !== undefined) copy.append(parent.id, { action: action as Action, prior: 0 });
      copy.mutable(id).copyFrom(this.mutable(id));
    }
    copy.restore({ cursor: this.#cursor.id, preferred: this.#preferred?.id });
    copy.advance(copy.node(this.#own(node).id));
    return copy;
  }

  /**
   * @internal Adds one of many children. A list that no other code has seen yet may grow in place, which {@link add}
   * must not do.
   */
  append(parent: NodeId, child: NewChild<Action>): TreeNode<State, Action> {
    const above = this.mutable(parent);
    const node = new TreeNode<State, Action>(this.#nodes.length, above, child);
    this.#nodes.push(node);
    if (above.children.length === 0) above.children = [];
    (above.children as TreeNode<State, Action>[]).push(node);
    return node;
  }

  /** The tree as `treeToJson` writes it without an environment: for `JSON.stringify`. States must be JSON. */
  toJSON(): TreeJson {
    return savedTree(this, undefined);
  }

  /** @internal The mutable node, for the code that saves and loads trees. */
  mutable(id: NodeId): TreeNode<State, Action> {
    const node = this.#nodes[id];
    if (node === undefined) {
      throw expectation('id', `a node of the tree, from 0 to ${this.size - 1}`, id);
    }
    return node;
  }

  /** @internal Puts a loaded cursor and best node in place. */
  restore({
    cursor,
    preferred,
    conclusion,
  }: Pick<TreeJson, 'cursor' | 'preferred' | 'conclusion'>): void {
    this.#cursor = this.mutable(cursor);
    this.#best.reconsider();
    if (preferred !== undefined) this.prefer(this.node(preferred));
    if (conclusion !== undefined)
      this.conclude({ ...conclusion, node: this.node(conclusion.node) });
  }

  /** The mutable form of a node of this tree: the ids of another tree mean other nodes. */
  /** @internal Throws unless a node belongs to this tree. */
  expectOwn(node: SearchNode<State, Action>): void {
    this.#own(node);
  }

  #own(node: SearchNode<State, Action>): TreeNode<State, Action> {
    expectNode('node', node);
    const own = this.#nodes[node.id];
    if (own === undefined || view(own) !== node) {
      throw new EspalierError(
        'usage',
        `Expected \`node\` to belong to this tree, got node ${node.id} of another one.`,
      );
    }
    return own;
  }
}
