import { EspalierError } from '../base/errors.ts';
import { jsonFault } from '../base/json.ts';
import type { Transition } from '../contracts/environment.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { CountedFailure, Failure } from '../contracts/failure.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import type { ChildNode, NodeId, PruneReason, RootNode, SearchNode } from '../contracts/node.ts';
import { type BackupRule, meanBackup } from './backup.ts';
import { closeAbove, closeFrom, openAbove } from './closing.ts';
import { robustChild } from './final-choice.ts';
import { TreeNode, view } from './node.ts';
import type { RuleSpec } from './rules.ts';
import type { TreeView } from './selection.ts';
import { type LoggedSimulation, SimulationLog } from './simulation-log.ts';

/** An action to add to the tree. */
export interface NewChild<Action> {
  /** a. */
  readonly action: Action;
  /** P(s, a). */
  readonly prior: number;
  /** The model output from which it was read. */
  readonly completion?: Completion;
}

/** Options of {@link SearchTree.backup}. */
export interface BackupOptions {
  /** How returns are merged. @defaultValue {@link meanBackup} */
  readonly rule?: BackupRule;
  /** γ, the discount of each edge, in [0, 1]. @defaultValue that of the tree */
  readonly discount?: number;
  /** The return of a simulation from the node on, in place of v(s). A rewarded end has none. @defaultValue v(s) */
  readonly outcome?: number | undefined;
}

/** What an algorithm found when it was done: more than the best terminal node says. */
export interface Conclusion<State, Action> {
  /** The node that it settled on. */
  readonly node: SearchNode<State, Action>;
  /** Whether nothing better exists among the actions that were proposed. */
  readonly optimal: boolean;
}

/** Where a saved tree stood. */
export interface TreePosition {
  /** Where the real world stood. */
  readonly cursor: NodeId;
  /** The node on which an unfinished search would bet. */
  readonly preferred?: NodeId | undefined;
  /** What the algorithm had concluded. */
  readonly conclusion?: { readonly node: NodeId; readonly optimal: boolean } | undefined;
}

/** What a tree grew from. */
export interface TreeOrigin {
  /** The environment in which the tree grew. */
  readonly environment: string;
  /** The seed of its random numbers. */
  readonly seed: number | string;
}

/**
 * The tree that a search grows. All state of an algorithm lives in it, so that it can be saved,
 * continued, or searched further by another algorithm.
 *
 * It is synchronous and deterministic, and does no more than keep its books: what to do next is decided
 * by selection rules, what things are worth by backup rules.
 */
export class SearchTree<State = unknown, Action = unknown> implements TreeView<State, Action> {
  /** What the tree grew from. */
  readonly origin: TreeOrigin;
  /** Marks that training data must carry, such as `oracle-guided`. */
  readonly stamps: Set<string> = new Set();
  /** Simulations that were started on this tree, but for those that were handed back. */
  simulations = 0;
  /** Simulations that found nothing to do before another one had ended. They do not count, and their indices stay taken. */
  handedBack = 0;
  /** The rule by which nodes were selected last, where it has a name. */
  rule: RuleSpec | undefined = undefined;
  /** The simulations that have ended, in that order. Those of trees that were saved by earlier versions are not in it. */
  readonly log: SimulationLog = new SimulationLog();

  #discount = 1;
  readonly #nodes: TreeNode<State, Action>[];
  #cursor: TreeNode<State, Action>;
  #best: Scored<State, Action> | undefined;
  #conclusion: Conclusion<State, Action> | undefined;
  #preferred: SearchNode<State, Action> | undefined;

  constructor(state: State, origin: TreeOrigin) {
    this.origin = origin;
    const root = new TreeNode<State, Action>(0, undefined, { action: undefined, prior: 1 });
    root.state = state;
    root.realised = true;
    this.#nodes = [root];
    this.#cursor = root;
  }

  /** How many nodes there are, the root included. */
  get size(): number {
    return this.#nodes.length;
  }

  /** The start of the search. */
  get root(): RootNode<State, Action> {
    return view(this.#mutable(0)) as RootNode<State, Action>;
  }

  /** γ, the discount of each edge below the root, in [0, 1]: what comes later is worth less. 1 until it is set. */
  get discount(): number {
    return this.#discount;
  }

  /** Sets γ, and reconsiders what is best by it. */
  set discount(discount: number) {
    if (discount === this.#discount) return;
    this.#discount = discount;
    this.#reconsider();
  }

  /** Where the real world stands. The root, until the search advances. */
  get cursor(): SearchNode<State, Action> {
    return view(this.#cursor);
  }

  /** The node on which an unfinished search would bet, where its algorithm has said so. */
  get preferred(): SearchNode<State, Action> | undefined {
    return this.#preferred;
  }

  /** What the algorithm concluded, where it did. */
  get conclusion(): Conclusion<State, Action> | undefined {
    return this.#conclusion;
  }

  /**
   * The best node found: what the algorithm concluded; else the terminal node or answer with the highest
   * score, of equal ones the shallowest and then the first; else the node that the algorithm prefers; else
   * the end of the most visited path.
   */
  get best(): SearchNode<State, Action> {
    return this.#conclusion?.node ?? this.bestTerminal ?? this.#preferred ?? this.#principalLeaf();
  }

  /** The terminal node or answer with the highest {@link score}. */
  get bestTerminal(): SearchNode<State, Action> | undefined {
    return this.#best && view(this.#best.node);
  }

  /** All nodes in the order of their ids. */
  *nodes(): Generator<SearchNode<State, Action>, void, undefined> {
    for (const node of this.#nodes) yield view(node);
  }

  /** The node with this id. */
  node(id: NodeId): SearchNode<State, Action> {
    return view(this.#mutable(id));
  }

  /** The sibling that a duplicate was merged into; the node itself where it is none. */
  original(node: SearchNode<State, Action>): SearchNode<State, Action> {
    return node.duplicateOf === undefined ? node : this.node(node.duplicateOf);
  }

  /**
   * The return of a finished path: the sum of its rewards, plus, of a last state that brought no reward, the
   * return of a simulation from it, or else its evaluation, where that is about the state. Each edge but the first is discounted once more, as
   * in {@link backup}. `undefined` for an answer that has none of them.
   *
   * @param discount - γ. @defaultValue that of the tree; 1 asks how much was reached, however late
   */
  score(node: SearchNode<State, Action>, discount: number = this.#discount): number | undefined {
    const evaluated = node.about === 'action' ? undefined : node.rawValue;
    const ahead = node.reward === undefined ? (node.outcome?.value ?? evaluated) : 0;
    if (ahead === undefined) return undefined;
    let sum = ahead;
    let above: SearchNode<State, Action> | undefined = node;
    for (; above !== undefined; above = above.parent) {
      sum = (above.reward ?? 0) + (above.parent === undefined ? 1 : discount) * sum;
    }
    return sum;
  }

  /** Adds children in order, after those that are there. What was closed without them is open again. */
  add(
    parent: SearchNode<State, Action>,
    children: readonly NewChild<Action>[],
  ): readonly ChildNode<State, Action>[] {
    const above = this.#own(parent);
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

  /** Counts proposals asked for at a node. Negative where a request came to nothing. */
  countSamples(node: SearchNode<State, Action>, count: number): void {
    if (count === 0) return;
    const own = this.#own(node);
    own.set({ samples: own.samples + count });
  }

  /** Says that no further child will be added here, and closes what that leaves without a future. */
  complete(node: SearchNode<State, Action>): void {
    const own = this.#own(node);
    own.complete = true;
    closeFrom(own);
  }

  /** Records what the action of a node led to. */
  realise(node: SearchNode<State, Action>, transition: Transition<State>): void {
    const own = this.#own(node);
    own.state = transition.state;
    own.realised = true;
    own.reward = transition.reward;
    own.terminal = transition.terminal ?? false;
    if (own.terminal) own.status = 'terminal';
    if (transition.answer === true) own.set({ answer: true });
    this.#consider(own);
  }

  /** Records what an evaluator said. A further sample is kept beside those that are there: their mean is the value. */
  addEvaluation(node: SearchNode<State, Action>, evaluation: Evaluation): void {
    const own = this.#own(node);
    own.addEvaluation(evaluation);
    this.#consider(own);
  }

  /** Puts a node aside for a reason that is not its own value. */
  fail(node: SearchNode<State, Action>, failure: Failure): void {
    const own = this.#own(node);
    own.set({ failure });
    own.status = 'failed';
    closeAbove(own);
  }

  /** Keeps why something came to nothing at a node that has not failed for it. */
  noteFailure(node: SearchNode<State, Action>, failure: Failure): void {
    this.#own(node).set({ failure });
  }

  /** Keeps which proposals for children of a node came to nothing. */
  setFailedProposals(node: SearchNode<State, Action>, failed: readonly CountedFailure[]): void {
    this.#own(node).set({ failedProposals: failed });
  }

  /** Puts a node aside because a sibling came to the same: that one takes over its prior, and stands for it. */
  merge(node: SearchNode<State, Action>, sibling: SearchNode<State, Action>): void {
    const twin = this.#own(sibling);
    const own = this.#own(node);
    twin.prior += own.prior;
    own.prior = 0;
    own.set({ duplicateOf: twin.id });
    this.prune(node, 'duplicate');
  }

  /** Puts a node aside because an algorithm, or an equal sibling, makes it needless. It is no longer the best. */
  prune(node: SearchNode<State, Action>, why: PruneReason = 'other'): void {
    const own = this.#own(node);
    own.status = 'pruned';
    own.set({ pruned: why });
    closeAbove(own);
    if (this.#conclusion?.node === node) this.#conclusion = undefined;
    if (this.#preferred === node) this.#preferred = undefined;
    if (this.#best?.node === own) this.#reconsider();
  }

  /** Takes a node back that had failed or was put aside, and opens what that had closed above it. */
  reopen(node: SearchNode<State, Action>): void {
    const own = this.#own(node);
    own.reopen();
    openAbove(own);
    closeFrom(own);
    this.#consider(own);
  }

  /** Keeps a note of the user's at a node. It is saved with the tree. */
  annotate(node: SearchNode<State, Action>, notes: Readonly<Record<string, JsonValue>>): void {
    expectNotes(node, notes);
    const own = this.#own(node);
    own.set({ annotations: { ...own.annotations, ...notes } });
  }

  /** Keeps what an algorithm knows of a node: {@link notesOf} does so with types. It is saved with the tree. */
  note(node: SearchNode<State, Action>, owner: string, note: JsonValue): void {
    expectNotes(node, note);
    const own = this.#own(node);
    own.set({ notes: { ...own.notes, [owner]: note } });
  }

  /** Records the return of a simulation from a node on. */
  setOutcome(node: SearchNode<State, Action>, outcome: Evaluation): void {
    const own = this.#own(node);
    own.set({ outcome });
    this.#consider(own);
  }

  /** Counts a simulation as started. @returns its index. */
  startSimulation(): number {
    this.log.start();
    return this.simulations++ + this.handedBack;
  }

  /** Takes a simulation back that found nothing to do. */
  handBackSimulation(): void {
    this.simulations--;
    this.handedBack++;
    this.log.handBack();
  }

  /** Logs a simulation that has ended, and what was spent since the one before. */
  endSimulation(
    { id: leaf }: SearchNode<State, Action>,
    spend: Pick<LoggedSimulation, 'calls' | 'tokens'>,
  ): void {
    this.log.end(leaf, spend);
  }

  /** Counts a simulation under way at a node and everywhere above it, as far as `until`. */
  addInFlight(
    node: SearchNode<State, Action>,
    count: 1 | -1,
    until?: SearchNode<State, Action>,
  ): void {
    let own: TreeNode<State, Action> | undefined = this.#own(node);
    for (; own !== undefined && view(own) !== until; own = own.parent) own.inFlight += count;
  }

  /**
   * Carries the return of a simulation from a node up to the root.
   *
   * The node's own return is v(s), or nothing beyond its reward where a terminal one was rewarded. Each
   * edge adds its reward and discounts what follows, but the first one for an evaluation about the action, which holds
   * both; the root has no edge, and its value is V(s).
   */
  backup(node: SearchNode<State, Action>, options: BackupOptions = {}): void {
    const { rule = meanBackup, discount: gamma = this.#discount, outcome } = options;
    const leaf = this.#own(node);
    const isRewardedEnd = leaf.terminal && leaf.reward !== undefined;
    let target = isRewardedEnd ? 0 : (outcome ?? leafValue(leaf));
    let isReturn = !isRewardedEnd && outcome === undefined && isOfAction(leaf);
    // One object for the whole path: a rule reads it and keeps nothing.
    const sample = { target, bootstrap: target, reward: 0, discount: 1 };
    for (let own: TreeNode<State, Action> | undefined = leaf; own !== undefined; own = own.parent) {
      sample.discount = own.parent === undefined ? 1 : gamma;
      sample.reward = own.parent === undefined ? 0 : (own.reward ?? 0);
      if (!isReturn) {
        target = sample.reward + sample.discount * target;
        sample.bootstrap = sample.reward + sample.discount * sample.bootstrap;
      }
      isReturn = false;
      sample.target = target;
      own.visits += 1;
      own.value = rule(own, sample);
      sample.bootstrap = own.value;
    }
    this.log.backUp(leaf.id, target);
    closeFrom(leaf);
  }

  /** Moves the cursor of the real world to a node below it. Siblings stay, because pairs need them. */
  advance(node: SearchNode<State, Action>): void {
    const own = this.#own(node);
    if (!this.#isBelowCursor(own) || !own.realised) {
      throw new EspalierError(
        'usage',
        `Expected \`node\` to be a realised node below the cursor ${this.#cursor.id}, got node ${node.id}.`,
      );
    }
    this.#cursor = own;
    this.#leaveBehind();
  }

  /** Says on which node an unfinished search would bet, where visits do not say it. */
  prefer(node: SearchNode<State, Action>): void {
    this.#own(node);
    this.#preferred = node;
  }

  /** Records what an algorithm found. */
  conclude({ node, optimal }: Conclusion<State, Action>): void {
    this.#own(node);
    this.#conclusion = { node, optimal };
  }

  /**
   * A copy of the tree, for another search that starts at a node. What was learnt stays; what was
   * concluded does not.
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
      copy.#mutable(id).copyFrom(this.#mutable(id));
    }
    copy.restore({ cursor: this.#cursor.id, preferred: this.#preferred?.id });
    copy.advance(copy.node(this.#own(node).id));
    return copy;
  }

  /** @internal Adds one child to many. What nobody else has seen yet may grow in place, which {@link add} must not. */
  append(parent: NodeId, child: NewChild<Action>): TreeNode<State, Action> {
    const above = this.#mutable(parent);
    const node = new TreeNode<State, Action>(this.#nodes.length, above, child);
    this.#nodes.push(node);
    if (above.children.length === 0) above.children = [];
    (above.children as TreeNode<State, Action>[]).push(node);
    return node;
  }

  /** @internal The mutable node, for the code that saves and loads trees. */
  mutable(id: NodeId): TreeNode<State, Action> {
    return this.#mutable(id);
  }

  /** @internal Puts a loaded cursor and best node in place. */
  restore({ cursor, preferred, conclusion }: TreePosition): void {
    this.#cursor = this.#mutable(cursor);
    for (const node of this.#nodes) this.#consider(node);
    if (preferred !== undefined) this.prefer(this.node(preferred));
    if (conclusion !== undefined)
      this.conclude({ ...conclusion, node: this.node(conclusion.node) });
  }

  #mutable(id: NodeId): TreeNode<State, Action> {
    const node = this.#nodes[id];
    if (node === undefined) {
      throw new EspalierError(
        'usage',
        `Expected \`id\` to be a node of the tree, from 0 to ${this.size - 1}, got \`${id}\`.`,
      );
    }
    return node;
  }

  /** The mutable form of a node, which must be of this tree: another tree's ids mean other nodes. */
  #own(node: SearchNode<State, Action>): TreeNode<State, Action> {
    const own = this.#nodes[node.id];
    if (own === undefined || view(own) !== node) {
      throw new EspalierError(
        'usage',
        `Expected \`node\` to belong to this tree, got node ${node.id} of another one.`,
      );
    }
    return own;
  }

  /** What was best elsewhere can no longer be reached. */
  #leaveBehind(): void {
    const isElsewhere = (node: SearchNode<State, Action> | undefined) =>
      node !== undefined && !this.#isBelowCursor(this.#own(node));
    if (isElsewhere(this.#conclusion?.node)) this.#conclusion = undefined;
    if (isElsewhere(this.#preferred)) this.#preferred = undefined;
    this.#reconsider();
  }

  #reconsider(): void {
    this.#best = undefined;
    for (const node of this.#nodes) this.#consider(node);
  }

  #isBelowCursor(node: TreeNode<State, Action>): boolean {
    let above: TreeNode<State, Action> | undefined = node;
    while (above !== undefined && above !== this.#cursor) above = above.parent;
    return above !== undefined;
  }

  #consider(node: TreeNode<State, Action>): void {
    if ((!node.terminal && !node.answer) || node.status === 'pruned') return;
    if (!this.#isBelowCursor(node)) return;
    const score = this.score(view(node));
    if (score === undefined) return;
    const best = this.#best;
    if (best === undefined || precedes({ node, score }, best)) {
      this.#best = { node, score };
    } else if (best.node === node && score < best.score) {
      // The best one has lost: any other may now be better.
      this.#reconsider();
    }
  }

  #principalLeaf(): SearchNode<State, Action> {
    let node = this.cursor;
    for (;;) {
      const next = robustChild(node.children.filter(({ status }) => status !== 'pruned'));
      if (next === undefined) return node;
      node = next;
    }
  }
}

function expectNotes({ id }: SearchNode, notes: JsonValue): void {
  const fault = jsonFault(notes);
  if (fault === undefined) return;
  const where = `${fault.what} at \`${fault.path.join('.')}\``;
  throw new EspalierError('usage', `Expected the notes at node ${id} to be JSON, got ${where}.`);
}

/** Whether the evaluation of a node is Q(s, a) already. The start has no action. */
function isOfAction<State, Action>({ parent, about }: TreeNode<State, Action>): boolean {
  return parent !== undefined && about === 'action';
}

function leafValue<State, Action>({ id, rawValue }: TreeNode<State, Action>): number {
  if (rawValue === undefined) {
    throw new EspalierError(
      'usage',
      `Expected node ${id} to be evaluated before its value is backed up.`,
    );
  }
  return rawValue;
}

function precedes<State, Action>(a: Scored<State, Action>, b: Scored<State, Action>): boolean {
  return (b.score - a.score || a.node.depth - b.node.depth || a.node.id - b.node.id) < 0;
}

interface Scored<State, Action> {
  readonly node: TreeNode<State, Action>;
  readonly score: number;
}
