import { expectFunction, expectInteger, expectNumber, expectOneOf } from '../../runtime/expect.ts';
import type { SearchNode } from '../../spec/node.ts';
import { type BackupRule, meanBackup } from '../../tree/backup.ts';
import {
  canWiden,
  descend,
  knownValue,
  puct,
  type Selection,
  type WideningRule,
} from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type {
  SearchAlgorithm,
  SearchContext,
  Simulation,
  SimulationOutcome,
} from '../contracts.ts';

/** Options of {@link mcts}. */
export interface MctsOptions {
  /** From which node a simulation goes on. @defaultValue `descend(puct(), { widening })` */
  readonly selection?: Selection;
  /** How returns are merged into values. @defaultValue {@link meanBackup} */
  readonly backup?: BackupRule;
  /** γ, the discount of each edge, in [0, 1]. @defaultValue 1 */
  readonly discount?: number;
  /** How many actions to ask for at once. @defaultValue all that the policy has */
  readonly width?: number;
  /**
   * Which of a leaf's new children are evaluated: the likeliest `one`, which is then backed up, or `all`
   * in one batch, of which the best is. Process reward models score `all` for little more than one.
   *
   * @defaultValue `'one'`
   */
  readonly evaluates?: 'one' | 'all';
  /** Whether a node may get further children later. @defaultValue never */
  readonly widening?: WideningRule;
  /** The longest path, in edges from the root. @defaultValue 64 */
  readonly maxDepth?: number;
}

/**
 * Monte-Carlo tree search: select a leaf, expand it, evaluate one of its children, back up the value.
 *
 * The evaluator takes the place of the roll-out; with a `rollout` value it is one.
 *
 * @see Coulom, "Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006; Kocsis and
 * Szepesvári, "Bandit based Monte-Carlo Planning", 2006, for `uct()`; Silver et al., 2018, for `puct()`.
 */
export function mcts(options: MctsOptions = {}): SearchAlgorithm {
  const { backup: rule = meanBackup, discount = 1, width = Number.POSITIVE_INFINITY } = options;
  const { widening, maxDepth = 64, evaluates = 'one' } = options;
  const { selection = descend(puct(), widening === undefined ? {} : { widening }) } = options;
  expectFunction('selection', selection);
  expectFunction('backup', rule);
  if (widening !== undefined) expectFunction('widening', widening);
  expectNumber('discount', discount, { min: 0, max: 1 });
  expectInteger('width', width, { min: 1, max: Number.POSITIVE_INFINITY });
  expectOneOf('evaluates', evaluates, ['one', 'all']);
  expectInteger('maxDepth', maxDepth, { min: 1, max: Number.POSITIVE_INFINITY });

  const rules: Rules = { rule, discount, width, widening, maxDepth, evaluates, selection };
  return {
    name: 'mcts',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run(tree, context) {
      const growth = { tree, context, rules };
      await context.simulate((simulation) => simulateOnce(growth, simulation));
    },
  };
}

interface Rules extends Required<Omit<MctsOptions, 'backup' | 'widening'>> {
  readonly rule: BackupRule;
  readonly widening: WideningRule | undefined;
}

interface Growth<State, Action> {
  readonly tree: SearchTree<State, Action>;
  readonly context: SearchContext<State, Action>;
  readonly rules: Rules;
}

/** Select, expand, evaluate, back up. */
async function simulateOnce<State, Action>(
  growth: Growth<State, Action>,
  simulation: Simulation<State, Action>,
): Promise<SimulationOutcome> {
  const { tree, context, rules } = growth;
  const { width, widening, maxDepth, evaluates, rule, discount } = rules;
  const leaf = await selectLeaf(growth, simulation);
  if (leaf === undefined) return 'exhausted';

  const canGrow = leaf.status === 'open' && leaf.depth < maxDepth;
  const request = { count: width, ...(widening && { widening }) };
  const children = canGrow ? await context.expand(leaf, request) : [];
  // None of the samples could be used, and more can be drawn: there is nothing to evaluate yet.
  if (children.length === 0 && canGrow && canWiden(leaf, widening)) return 'continue';
  const isFull = widening === undefined && leaf.children.length > 0;
  if (isFull || leaf.depth >= maxDepth) tree.complete(leaf);
  if (evaluates === 'all') await context.evaluate(children);

  let node = leaf;
  do {
    node = simulation.visit(firstToTry(children) ?? leaf);
    await context.evaluate([node]);
  } while (isOutOfReach(node));
  if (node.status !== 'failed') tree.backup(node, { rule, discount });
  return 'continue';
}

/** The node to go on from, stepped to; `undefined` when nothing is left to search. */
async function selectLeaf<State, Action>(
  { tree, context, rules }: Growth<State, Action>,
  simulation: Simulation<State, Action>,
): Promise<SearchNode<State, Action> | undefined> {
  for (;;) {
    const leaf = rules.selection(tree, simulation.random);
    if (leaf === undefined) return undefined;
    // Marked before anything is waited for: simulations that start together must see each other.
    simulation.visit(leaf);
    if (leaf.kind === 'proposed') await context.realise([leaf]);
    if (!isOutOfReach(leaf)) return leaf;
  }
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
