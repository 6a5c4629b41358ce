import { expectBoolean, expectBounds, expectFunction, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { type BackupRule, meanBackup } from '../../tree/backup.ts';
import {
  canWiden,
  descend,
  leastTried,
  puct,
  type Selection,
  type WideningRule,
} from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import { bestEnd, valueWidening } from '../../tree/widening.ts';
import type { ExpandOptions, SearchAlgorithm, SearchContext, Simulation } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';

/** Options of {@link mcts}. */
export interface MctsOptions {
  /** Selects the leaf of a simulation. @defaultValue `descend(puct())` */
  readonly selection?: Selection;
  /** How returns update values. @defaultValue {@link meanBackup} */
  readonly backup?: BackupRule;
  /** Actions to request per expansion. @defaultValue all that the policy has */
  readonly width?: number;
  /**
   * What is evaluated at a leaf: the likeliest `one` of its new children, which is then backed up; `all` of them in one
   * batch, of which the best is backed up; or the `leaf` itself, alongside its expansion. Process reward models score
   * `all` for little more than the cost of one.
   *
   * @defaultValue `'one'`
   */
  readonly evaluate?: 'all' | 'leaf' | 'one';
  /**
   * Whether a simulation continues by the same selection to a terminal node or `maxDepth`, which is then evaluated. The
   * nodes on the way are kept: a rollout inside the tree. The selection must walk down, as `descend` does. Without it a
   * simulation ends at the leaf or one step beyond it.
   *
   * @defaultValue false
   */
  readonly rollout?: boolean;
  /**
   * Whether a node may get further children later: passed on to `selection`. If all children are fully explored and no
   * further one is allowed yet, a simulation counts the best of them again, at no cost; if no further one ever will be,
   * the node is closed.
   *
   * @defaultValue never
   */
  readonly widening?: WideningRule | undefined;
  /** The longest path, in edges from the root: nodes at this depth are closed. @defaultValue 64 */
  readonly maxDepth?: number;
  /**
   * How far a simulation looks ahead, in edges from the cursor. Nodes at the horizon stay open: they come into reach as
   * the cursor advances.
   *
   * @defaultValue no limit
   */
  readonly horizon?: number;
}

/**
 * Monte-Carlo tree search: select a leaf, expand it, evaluate one of its children, back up the value.
 *
 * The evaluator takes the place of the rollout; the `rollout` value performs one. If the evaluator also has a
 * `simulate`, that gives the return to back up, and its value only guides selection.
 *
 * @see Coulom, "Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006; Kocsis and Szepesvári,
 * "Bandit based Monte-Carlo Planning", 2006, for `uct()`; Silver et al., 2018, for `puct()`.
 */
export function mcts(options: MctsOptions = {}): SearchAlgorithm {
  expectOptions(
    'mcts',
    options,
    'selection backup width evaluate rollout widening maxDepth horizon',
  );
  const rules = checkedRules(options);
  const grow = rules.rollout ? growPath : rules.evaluate === 'leaf' ? growBesideLeaf : growChild;
  return {
    name: 'mcts',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run(tree, context) {
      const { backup: rule } = rules;
      await context.simulate(async (simulation) => {
        const stage = { tree, context, simulation, rules };
        const selected = select(stage, tree.cursor);
        const leaf = selected instanceof Promise ? await selected : selected;
        const node = typeof leaf === 'string' ? leaf : await grow(stage, leaf);
        if (typeof node === 'string') return node;
        if (node.status === 'failed') return 'continue';
        const outcome = context.outcome(node);
        tree.backup(node, { rule, outcome: outcome instanceof Promise ? await outcome : outcome });
        return 'continue';
      });
    },
  };
}

interface Rules extends Required<Omit<MctsOptions, 'widening' | 'width'>> {
  /** The request of each expansion. */
  readonly request: ExpandOptions;
}

function checkedRules(options: MctsOptions): Rules {
  const { selection = descend(puct()), backup = meanBackup, widening } = options;
  const { evaluate = 'one', rollout = false } = options;
  const { width = Number.POSITIVE_INFINITY, maxDepth = 64 } = options;
  const { horizon = Number.POSITIVE_INFINITY } = options;
  expectFunction('selection', selection);
  expectFunction('backup', backup);
  if (widening !== undefined) expectFunction('widening', widening);
  expectOneOf('evaluate', evaluate, ['one', 'all', 'leaf']);
  expectBoolean('rollout', rollout);
  expectBounds({ width, maxDepth, horizon });
  const request = { count: width, ...(widening !== undefined && { widening }) };
  return { selection, backup, request, evaluate, rollout, maxDepth, horizon };
}

/** What the stages of one simulation work on. */
interface Stage<State, Action> {
  readonly tree: SearchTree<State, Action>;
  readonly context: SearchContext<State, Action>;
  readonly simulation: Simulation<State, Action>;
  readonly rules: Rules;
}

type Selected<State, Action> = SearchNode<State, Action> | 'exhausted' | 'waiting';

/** The node to back up, or the outcome of the simulation. */
type Grown<State, Action> = SearchNode<State, Action> | 'continue' | 'waiting';

/**
 * Selects the node to continue from, at or below another one, and realises it.
 *
 * Two simulations at one leaf would count the same result twice, so the second waits until the first has expanded the
 * leaf.
 */
function select<State, Action>(
  stage: Stage<State, Action>,
  from: SearchNode<State, Action>,
): MaybePromise<Selected<State, Action>> {
  const { context, simulation, rules } = stage;
  const { selection, request, evaluate, rollout } = rules;
  // Rollouts diverge at random, and with `one` each simulation takes a different child.
  const mayShare = rollout || evaluate === 'one';
  let hasMet = false;
  for (;;) {
    const leaf = simulation.select(selection, { from, widening: request.widening });
    if (leaf === undefined) return 'exhausted';
    const isAlone = mayShare || !(isTaken(leaf) || context.isExpanding(leaf));
    if (!isAlone && hasMet) return withdraw(stage);
    // It selects again, with its own mark counted: a path that is nearly as good now wins.
    hasMet = !isAlone;
    if (hasMet) continue;
    if (leaf.kind === 'proposed') {
      return context.realise([leaf]).then(() => (isOutOfReach(leaf) ? select(stage, from) : leaf));
    }
    if (!isOutOfReach(leaf)) return leaf;
  }
}

/** Expands a leaf and evaluates the first untried child, or all children if `evaluate` is `all`. */
async function growChild<State, Action>(
  stage: Stage<State, Action>,
  leaf: SearchNode<State, Action>,
): Promise<Grown<State, Action>> {
  const { tree, context, simulation, rules } = stage;
  // Another simulation may have closed the leaf meanwhile: then the best end known there counts again.
  const end = canGrow(stage, leaf) ? undefined : bestEnd(leaf);
  const children = await expand(stage, leaf);
  if (!hasGrown(stage, leaf, children)) return 'continue';
  if (rules.evaluate === 'all') await context.evaluate(children);
  // A sample that turned out to equal a sibling counts for that sibling.
  const toTry = () =>
    leastTried(
      children.map((child) => tree.original(child)),
      tree,
    );
  let next = toTry();
  // More simulations arrived here than there are children.
  if (next !== undefined && next.visits === 0 && next.inFlight > 0) return withdraw(stage);
  for (;;) {
    const node = simulation.visit(next ?? end ?? leaf);
    await context.evaluate([node]);
    if (!isOutOfReach(node)) return node;
    next = toTry();
  }
}

/**
 * Yields the leaf to the simulation that arrived first. The mark is removed at once, so that the next one may find
 * itself alone there.
 */
function withdraw<State, Action>({ simulation, tree }: Stage<State, Action>): 'waiting' {
  simulation.visit(tree.cursor);
  return 'waiting';
}

/** Evaluates a leaf and expands it at the same time. */
async function growBesideLeaf<State, Action>(
  stage: Stage<State, Action>,
  leaf: SearchNode<State, Action>,
): Promise<Grown<State, Action>> {
  const { context, simulation } = stage;
  const end = canGrow(stage, leaf) ? undefined : bestEnd(leaf);
  const [children] = await Promise.all([expand(stage, leaf), context.evaluate([leaf])]);
  if (!hasGrown(stage, leaf, children)) return 'continue';
  const node = simulation.visit(end ?? leaf);
  if (node !== leaf) await context.evaluate([node]);
  return node;
}

/** Expands and selects to the end of a path, and evaluates the end. */
async function growPath<State, Action>(
  stage: Stage<State, Action>,
  leaf: SearchNode<State, Action>,
): Promise<Grown<State, Action>> {
  const { context, simulation } = stage;
  let node = leaf;
  for (;;) {
    const children = await expand(stage, node);
    if (!hasGrown(stage, node, children)) return 'continue';
    if (stage.rules.evaluate === 'all') await context.evaluate(children);
    const next = children.length === 0 ? 'exhausted' : await select(stage, node);
    if (typeof next === 'string') break;
    node = next;
  }
  await context.evaluate([simulation.visit(node)]);
  return node;
}

/** The children of a leaf; none if it is an end or beyond the horizon. */
function expand<State, Action>(
  stage: Stage<State, Action>,
  leaf: SearchNode<State, Action>,
): MaybePromise<readonly SearchNode<State, Action>[]> {
  const { context, rules } = stage;
  if (!canGrow(stage, leaf)) return none;
  // Another simulation may have expanded the leaf while this one waited for its state.
  const isFull = leaf.children.length > 0 && !canWiden(leaf, rules.request.widening);
  return isFull ? leaf.children : context.expand(leaf, rules.request);
}

const none: readonly never[] = [];

/** Whether a leaf is open and within the horizon. */
function canGrow<State, Action>(
  { tree, rules: { maxDepth, horizon } }: Stage<State, Action>,
  { status, depth }: SearchNode<State, Action>,
): boolean {
  return status === 'open' && depth < Math.min(maxDepth, tree.cursor.depth + horizon);
}

/**
 * Whether there is something to evaluate after an expansion: not if no sample was usable and more can be drawn. Closes
 * a leaf that can get no more children.
 */
function hasGrown<State, Action>(
  stage: Stage<State, Action>,
  leaf: SearchNode<State, Action>,
  children: readonly SearchNode<State, Action>[],
): boolean {
  const { widening } = stage.rules.request;
  if (children.length === 0 && canGrow(stage, leaf) && canWiden(leaf, widening)) return false;
  const isFull = widening === undefined && leaf.children.length > 0;
  if (isFull || leaf.depth >= stage.rules.maxDepth) stage.tree.complete(leaf);
  return true;
}

/** Whether another simulation is already at a leaf: the result of that one decides where to continue. */
function isTaken({ children, inFlight, status }: SearchNode): boolean {
  return children.length === 0 && inFlight > 1 && status === 'open';
}

/** Whether a node turned out to equal a sibling, or its step failed: then another child is tried. */
function isOutOfReach({ status, kind }: SearchNode): boolean {
  return status === 'pruned' || (status === 'failed' && kind === 'proposed');
}

/**
 * List entry of MCTS. All new children of a leaf are evaluated. With a model, two samples are drawn at first, and
 * further ones where all judgements are low. Its c was chosen on 200 puzzles from the training set of the packaged
 * model, where values from 0.05 to 0.4 perform alike.
 */
export const mctsEntry: AlgorithmEntry = {
  name: 'mcts',
  title: 'Monte Carlo tree search, guided by priors',
  paper: 'Kocsis, Szepesvári, Bandit based Monte-Carlo Planning, 2006; Silver et al., 2018',
  create: ({ asksModel }) =>
    mcts(asksModel ? { ...forModels, selection: descend(puct({ cInit })) } : { evaluate: 'all' }),
};

/** How the tree grows if policy and value are models. */
export const forModels: Pick<MctsOptions, 'evaluate' | 'widening' | 'width'> = {
  evaluate: 'all',
  width: 2,
  widening: valueWidening(),
};

/** c of PUCT if values are judgements of a model. */
export const cInit = 0.1;
