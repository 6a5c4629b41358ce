import { expectFunction, expectInteger, expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { NodeStatistics, SearchNode } from '../../contracts/node.ts';
import { type BackupRule, meanBackup } from '../../tree/backup.ts';
import { maxChild } from '../../tree/final-choice.ts';
import {
  canWiden,
  descend,
  isClosed,
  knownValue,
  puct,
  type Selection,
  type WideningRule,
} from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import { valueWidening } from '../../tree/widening.ts';
import type {
  ExpandOptions,
  SearchAlgorithm,
  SearchContext,
  Simulation,
  SimulationOutcome,
} from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';

/** Options of {@link mcts}. */
export interface MctsOptions {
  /** From which node a simulation goes on. @defaultValue `descend(puct())` */
  readonly selection?: Selection;
  /** How returns are merged into values. @defaultValue {@link meanBackup} */
  readonly backup?: BackupRule;
  /**
   * γ, the discount of each edge, in [0, 1]. It belongs to the tree from then on: what is best and what is chosen go
   * by the discounted return.
   *
   * @defaultValue 1
   */
  readonly discount?: number;
  /** How many actions to ask for at once. @defaultValue all that the policy has */
  readonly width?: number;
  /**
   * What of a leaf is evaluated: the likeliest `one` of its new children, which is then backed up; `all` of
   * them in one batch, of which the best is; or the `leaf` itself, beside its expansion. Process reward
   * models score `all` for little more than one.
   *
   * @defaultValue `'one'`
   */
  readonly evaluates?: 'all' | 'leaf' | 'one';
  /**
   * How far a simulation goes: one step beyond the `leaf`, or by the same selection on to the end of a `path`,
   * a terminal node or `maxDepth`. The nodes on the way are kept: a roll-out inside the tree. The selection
   * must be one that walks down, such as `descend`.
   *
   * @defaultValue `'leaf'`
   */
  readonly simulates?: 'leaf' | 'path';
  /**
   * Whether a node may get further children later: `selection` is told of it. Where all children are known and no
   * further one is allowed yet, a simulation counts the best of them once more, at no cost; where none ever will
   * be, the node is closed.
   *
   * @defaultValue never
   */
  readonly widening?: WideningRule;
  /** The longest path, in edges from the root: what lies there is closed. @defaultValue 64 */
  readonly maxDepth?: number;
  /**
   * How far a simulation looks ahead, in edges from where the world stands. What lies there stays open: it comes
   * into sight as the world moves on.
   *
   * @defaultValue no limit
   */
  readonly horizon?: number;
}

/**
 * Monte-Carlo tree search: select a leaf, expand it, evaluate one of its children, back up the value.
 *
 * The evaluator takes the place of the roll-out; with a `rollout` value it is one. An evaluator that has a
 * `simulate` besides gives the return that is backed up, and its value only guides the selection.
 *
 * @see Coulom, "Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006; Kocsis and
 * Szepesvári, "Bandit based Monte-Carlo Planning", 2006, for `uct()`; Silver et al., 2018, for `puct()`.
 */
export function mcts(options: MctsOptions = {}): SearchAlgorithm {
  expectOptions(
    'mcts',
    options,
    'selection backup discount width evaluates simulates widening maxDepth horizon',
  );
  const { backup: rule = meanBackup, discount = 1, width = Number.POSITIVE_INFINITY } = options;
  const { widening, maxDepth = 64, evaluates = 'one', simulates = 'leaf' } = options;
  const { horizon = Number.POSITIVE_INFINITY } = options;
  const { selection = descend(puct()) } = options;
  expectFunction('selection', selection);
  expectFunction('backup', rule);
  if (widening !== undefined) expectFunction('widening', widening);
  expectNumber('discount', discount, { min: 0, max: 1 });
  expectInteger('width', width, { min: 1, max: Number.POSITIVE_INFINITY });
  expectOneOf('evaluates', evaluates, ['one', 'all', 'leaf']);
  expectOneOf('simulates', simulates, ['leaf', 'path']);
  expectInteger('maxDepth', maxDepth, { min: 1, max: Number.POSITIVE_INFINITY });
  expectInteger('horizon', horizon, { min: 1, max: Number.POSITIVE_INFINITY });

  const rules: Rules = {
    rule,
    request: { count: width, ...(widening && { widening }) },
    widening,
    maxDepth,
    horizon,
    evaluates,
    simulates,
    selection,
  };
  return {
    name: 'mcts',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run(tree, context) {
      tree.discount = discount;
      const growth = { tree, context, rules };
      const simulate = simulates === 'path' ? simulatePath : simulateLeaf;
      await context.simulate((simulation) => simulate(growth, simulation));
    },
  };
}

interface Rules extends Required<Omit<MctsOptions, 'backup' | 'discount' | 'widening' | 'width'>> {
  readonly rule: BackupRule;
  readonly widening: WideningRule | undefined;
  /** What the policy is asked for. */
  readonly request: ExpandOptions;
}

interface Growth<State, Action> {
  readonly tree: SearchTree<State, Action>;
  readonly context: SearchContext<State, Action>;
  readonly rules: Rules;
}

/**
 * Select, expand, evaluate, back up. All that is waited for is waited for here: each function in between would cost a
 * simulation over a fast environment a tenth of its time.
 */
async function simulateLeaf<State, Action>(
  growth: Growth<State, Action>,
  simulation: Simulation<State, Action>,
): Promise<SimulationOutcome> {
  const { tree, context, rules } = growth;
  const leaf = await selectLeaf(growth, simulation, tree.cursor);
  if (leaf === undefined) return 'exhausted';
  if (leaf === 'taken') return 'waiting';
  const isGrowing = canGrow(growth, leaf);
  // Another simulation may have closed it meanwhile: then the best that is known there counts once more.
  const end = isGrowing ? undefined : bestEnd(leaf);
  const expanding = isGrowing ? context.expand(leaf, rules.request) : none;
  const evaluating = rules.evaluates === 'leaf' ? context.evaluate([leaf]) : undefined;
  if (evaluating !== undefined) await Promise.all([evaluating, expanding]);
  const children = await expanding;
  // None of the samples could be used, and more can be drawn: there is nothing to evaluate yet.
  if (children.length === 0 && isGrowing && canWiden(leaf, rules.widening)) return 'continue';
  closeWhereFull(growth, leaf);
  if (rules.evaluates === 'all') await context.evaluate(children);

  let node = leaf;
  do {
    node = simulation.visit((evaluating === undefined && firstToTry(children)) || end || leaf);
    await context.evaluate([node]);
  } while (isOutOfReach(node));
  const playing = context.outcome(node);
  backUp(growth, node, playing instanceof Promise ? await playing : playing);
  return 'continue';
}

/** Select, then expand and select until the end of a path, evaluate that, back up. */
async function simulatePath<State, Action>(
  growth: Growth<State, Action>,
  simulation: Simulation<State, Action>,
): Promise<SimulationOutcome> {
  const { tree, context, rules } = growth;
  const first = await selectLeaf(growth, simulation, tree.cursor);
  if (first === undefined) return 'exhausted';
  if (first === 'taken') return 'waiting';
  let leaf: SearchNode<State, Action> = first;
  while (canGrow(growth, leaf)) {
    const children = await context.expand(leaf, rules.request);
    if (children.length === 0 && canWiden(leaf, rules.widening)) return 'continue';
    closeWhereFull(growth, leaf);
    if (rules.evaluates === 'all') await context.evaluate(children);
    if (children.length === 0) break;
    const next: SearchNode<State, Action> | 'taken' | undefined = await selectLeaf(
      growth,
      simulation,
      leaf,
    );
    if (next === undefined || next === 'taken') break;
    leaf = next;
  }

  closeWhereFull(growth, leaf);
  await context.evaluate([simulation.visit(leaf)]);
  backUp(growth, leaf, await context.outcome(leaf));
  return 'continue';
}

const none: readonly never[] = [];

/** Whether a leaf is open and in sight. */
function canGrow<State, Action>(
  { tree, rules: { maxDepth, horizon } }: Growth<State, Action>,
  { status, depth }: SearchNode<State, Action>,
): boolean {
  return status === 'open' && depth < Math.min(maxDepth, tree.cursor.depth + horizon);
}

/** Closes a node that has all its children, or may have none. */
function closeWhereFull<State, Action>(
  { tree, rules: { widening, maxDepth } }: Growth<State, Action>,
  leaf: SearchNode<State, Action>,
): void {
  const isFull = widening === undefined && leaf.children.length > 0;
  if (isFull || leaf.depth >= maxDepth) tree.complete(leaf);
}

function backUp<State, Action>(
  { tree, rules: { rule } }: Growth<State, Action>,
  node: SearchNode<State, Action>,
  outcome: number | undefined,
): void {
  if (node.status === 'failed') return;
  tree.backup(node, outcome === undefined ? { rule } : { rule, outcome });
}

/**
 * The node below another one to go on from, stepped to; `undefined` when nothing is left to search there.
 *
 * Where leaves are evaluated themselves, two simulations at one new leaf would be one that counts twice: it is
 * `taken` until the first of them has said what it is worth, which opens the way on.
 */
async function selectLeaf<State, Action>(
  growth: Growth<State, Action>,
  simulation: Simulation<State, Action>,
  cursor: SearchNode<State, Action>,
): Promise<SearchNode<State, Action> | 'taken' | undefined> {
  const { context, rules } = growth;
  const { widening } = rules;
  const view = widening === undefined ? { cursor } : { cursor, widening };
  const isShared = rules.evaluates === 'leaf' && rules.simulates === 'leaf';
  for (;;) {
    const selected = rules.selection(view, simulation.random);
    if (selected === undefined) return undefined;
    const leaf = unlessStuck(growth, selected);
    if (leaf === undefined) continue;
    if (isShared && leaf.visits === 0 && leaf.inFlight > 0) return 'taken';
    // Marked before anything is waited for: simulations that start together must see each other.
    simulation.visit(leaf);
    if (leaf.kind === 'proposed') await context.realise([leaf]);
    if (!isOutOfReach(leaf)) return leaf;
  }
}

/**
 * What becomes of a selected node that may get no further child now, and all of whose children are known: the best
 * of these counts once more, which costs no call, and with the visits the width may grow. Where it never will,
 * the node is closed, and `undefined` asks for another one.
 */
function unlessStuck<State, Action>(
  { tree, rules: { widening } }: Growth<State, Action>,
  leaf: SearchNode<State, Action>,
): SearchNode<State, Action> | undefined {
  const { children, status, complete } = leaf;
  if (widening === undefined || children.length === 0 || status !== 'open' || complete) return leaf;
  if (widening(leaf) || !children.every((child) => isClosed(child))) return leaf;
  const end = bestEnd(leaf);
  if (end !== undefined && widening(oftenVisited(leaf))) return end;
  tree.complete(leaf);
  return undefined;
}

/** The numbers of a node as if it had been visited without end. A node has getters, and cannot be spread. */
function oftenVisited(node: NodeStatistics): NodeStatistics {
  const { id, depth, value, inFlight, prior, reward, rawValue } = node;
  const { status, terminal, answer, samples, children } = node;
  const numbers = { id, depth, value, inFlight, prior, reward, rawValue };
  return { ...numbers, status, terminal, answer, samples, children, visits: Infinity };
}

/** The end of the best way on from a node all of whose children are known. */
function bestEnd<State, Action>(
  node: SearchNode<State, Action>,
): SearchNode<State, Action> | undefined {
  let end: SearchNode<State, Action> | undefined;
  for (let next = best(node); next !== undefined; next = best(next)) end = next;
  return end;
}

function best<State, Action>({
  children,
}: SearchNode<State, Action>): SearchNode<State, Action> | undefined {
  return maxChild(children.filter(({ status }) => status === 'terminal' || status === 'solved'));
}

/**
 * The least tried child: simulations that arrive together spread. Of equal ones the best as far as is
 * known, then the likeliest.
 */
function firstToTry<State, Action>(
  children: readonly SearchNode<State, Action>[],
): SearchNode<State, Action> | undefined {
  let best: SearchNode<State, Action> | undefined;
  for (const child of children) {
    if (child.status === 'failed' || child.status === 'pruned') continue;
    if (best === undefined || compare(child, best) > 0) best = child;
  }
  return best;
}

/** Whether a node turned out to be its sibling, or could not be stepped to: then another is tried. */
function isOutOfReach({ status, kind }: SearchNode): boolean {
  return status === 'pruned' || (status === 'failed' && kind === 'proposed');
}

function compare(a: SearchNode, b: SearchNode): number {
  return (
    b.visits + b.inFlight - (a.visits + a.inFlight) ||
    knownValue(a) - knownValue(b) ||
    a.prior - b.prior
  );
}

/**
 * MCTS in lists. All new children of a leaf are evaluated. Of a model two samples are drawn at first: further ones
 * where the judgements leave no hope.
 */
export const mctsEntry: AlgorithmEntry = {
  name: 'mcts',
  title: 'Monte Carlo tree search, guided by priors',
  paper: 'Kocsis, Szepesvári, Bandit based Monte-Carlo Planning, 2006; Silver et al., 2018',
  create: ({ asksModel }) =>
    mcts({ evaluates: 'all', ...(asksModel && { width: 2, widening: valueWidening() }) }),
};
