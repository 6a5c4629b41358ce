import { expectBounds, expectFunction, expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { spendingDown } from '../../tree/bg-mcts.ts';
import {
  answersLeft,
  canAfford,
  canAffordSibling,
  explorationLeft,
  shareLeft,
} from '../../tree/funds.ts';
import { descend, puct, type Selection, type WideningRule } from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext } from '../contracts.ts';
import { bestOfN } from './best-of-n.ts';
import type { AlgorithmEntry } from './entry.ts';
import { cInit, forModels, type MctsOptions, mcts } from './mcts.ts';
import { finishPaths, isLeaf, openPath, type Purse, purseOf } from './purse.ts';
import { within } from './within.ts';

/** Options of {@link budgeted}. */
export interface BudgetedOptions
  extends Pick<MctsOptions, 'evaluate' | 'maxDepth' | 'widening' | 'width'> {
  /**
   * How the search adapts to its budget: by `answers`, the number still affordable; by `share`, the fraction spent, as
   * in BG-MCTS, which does not accept `c`, `enough`, `evaluate`, `widening` or `width`.
   *
   * @defaultValue `'answers'`
   */
  readonly by?: 'answers' | 'share';
  /** c, the weight of exploration while the budget is ample: from 0 up. @defaultValue 1.25 */
  readonly c?: number;
  /**
   * E₀, the number of affordable answers from which the budget counts as ample: an integer from 1 up. @defaultValue 8
   */
  readonly enough?: number;
}

/**
 * Tree search that adapts to the remaining calls, tokens and dollars, in whichever unit is scarcest: broad while budget
 * remains, deep as it runs out, with an answer affordable throughout. T̂(d) is the estimated cost of an answer from
 * depth d, at one call per step, and E is the number of answers from the root that are affordable. Until there is an
 * answer, 1.5 times its cost is reserved, because calls reserve more than they use. Our own rules:
 *
 * - If E is less than E₀ / 2 once the first actions are known, the likeliest is followed to an end before anything is
 *   evaluated.
 * - Selection by {@link puct} with `c · min(1, √(E / E₀))`.
 * - Once two thirds of the budget are spent without an answer, the most promising paths are finished, one sample per
 *   step, until there is one: the depth of answers is unknown until then.
 * - A node is expanded only where `T̂(d) · (in flight + 1)` is left.
 * - Another sibling at depth d is sampled only if `E ≥ 2` and T̂(d) is at most half of what is left.
 * - When nothing else is affordable, the most promising open paths are finished, one sample per step, and the remainder
 *   goes to independent trajectories.
 *
 * Without a limit on calls, tokens or dollars it is `mcts` with {@link puct}.
 *
 * By `share` it is BG-MCTS, using the rule `spendingDown`: each new node is backed up with its own value; a leaf gets
 * two children, other nodes one. The paper budgets output tokens; here it is the scarcest unit, and tokens include
 * those read.
 *
 * @see BG-MCTS, 2026 (arXiv 2602.09574), for `share`.
 */
export function budgeted(options: BudgetedOptions = {}): SearchAlgorithm {
  expectOptions('budgeted', options, 'by c enough evaluate maxDepth widening width');
  const { by = 'answers', c = 1.25, enough = 8, maxDepth = 64, ...growing } = options;
  expectOneOf('by', by, ['answers', 'share']);
  expectNumber('c', c, { min: 0 });
  expectBounds({ enough, maxDepth });
  if (growing.widening !== undefined) expectFunction('widening', growing.widening);
  const plain = mcts({ ...growing, maxDepth });
  return {
    ...plain,
    name: 'budgeted',
    laws: by === 'share' ? ['values'] : plain.laws,
    async run(tree, context) {
      const purse = purseOf(tree, context);
      if (by === 'share') return spendDown(tree, context, { purse, maxDepth });
      const selection = affordable(
        tree,
        purse,
        (answers: number) => c * explorationLeft(answers, enough),
      );
      const widening = growing.widening && affordableSiblings(tree, purse, growing.widening);
      const careful = mcts({ ...growing, maxDepth, selection, ...(widening && { widening }) });
      if (purse().length === 0) return careful.run(tree, context);
      const walk = { tree, context, maxDepth };
      const { width: count = Number.POSITIVE_INFINITY } = growing;
      const isScarce = () => purse().some((funds) => answersLeft(funds, 0) < enough / 2);
      if (isLeaf(tree.cursor)) await openPath(walk, count, isScarce);
      const isLate = () =>
        tree.bestTerminal === undefined && purse().some(({ left, whole }) => left <= whole / 3);
      await careful.run(tree, within(context, { exhausts: 'round', isOver: isLate }));
      if (isLate()) {
        const untilAnswered = within(context, { exhausts: 'round', isOver: () => !isLate() });
        await finishPaths({ ...walk, context: untilAnswered });
        await careful.run(tree, within(context, { exhausts: 'round' }));
      }
      await finishPaths(walk);
      await bestOfN({ maxDepth }).run(tree, context);
    },
  };
}

/** Limits selection to nodes from which an answer is affordable. A tree records the rule of its last selection. */
function affordable<State, Action>(
  { cursor }: SearchTree<State, Action>,
  purse: Purse,
  weight: (answers: number) => number,
): Selection {
  const rule = (funds: ReturnType<Purse>) => {
    const answers = Math.min(...funds.map((each) => answersLeft(each, 0)));
    return descend(puct({ cInit: weight(answers) }));
  };
  const select: Selection = (view, random) => {
    const funds = purse();
    const leaf = rule(funds)(view, random);
    const from = (leaf?.depth ?? 0) - cursor.depth;
    return funds.every((each) => canAfford(each, from, cursor.inFlight)) ? leaf : undefined;
  };
  return Object.defineProperty(select, 'spec', { get: () => rule(purse()).spec });
}

/** Allows a node another child only while it is affordable; the first children are always allowed. */
function affordableSiblings<State, Action>(
  { cursor }: SearchTree<State, Action>,
  purse: Purse,
  widening: WideningRule,
): WideningRule {
  return (node) =>
    widening(node) &&
    (node.children.length === 0 ||
      purse().every((funds) => canAffordSibling(funds, node.depth - cursor.depth)));
}

/** BG-MCTS. */
function spendDown<State, Action>(
  tree: SearchTree<State, Action>,
  context: SearchContext<State, Action>,
  { purse, maxDepth }: { readonly purse: Purse; readonly maxDepth: number },
): Promise<void> {
  return context.simulate(async (simulation) => {
    const funds = purse();
    const spent = Math.max(0, ...funds.map((each) => 1 - shareLeft(each)));
    const node = simulation.select(spendingDown({ spent, depth: funds[0]?.depth ?? 0 }));
    if (node === undefined) return 'exhausted';
    if (node.complete) return 'waiting';
    if (node.depth >= maxDepth) {
      tree.complete(node);
      return 'continue';
    }
    const count = node.children.length === 0 ? 2 : 1;
    const children = await context.expand(node, { count, independent: true });
    await context.realise(children);
    // Another simulation may be evaluating the originals of merged children right now.
    const made = [...new Set(children.map((child) => tree.original(child)))];
    await context.evaluate(made);
    for (const child of made) {
      if (child.status !== 'failed') tree.backup(simulation.visit(child));
    }
    return 'continue';
  });
}

/** List entry of the budget-aware search, by affordable answers. With a model it samples as `mcts` does. */
export const budgetedEntry: AlgorithmEntry = {
  name: 'budgeted',
  title: 'Tree search that knows what is left of its budget',
  paper: 'the rule is ours; with another option BG-MCTS, 2026, arXiv 2602.09574',
  create: ({ asksModel }) => budgeted(asksModel ? { ...forModels, c: cInit } : { evaluate: 'all' }),
};
