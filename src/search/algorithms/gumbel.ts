import { expectBounds, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { bestBet } from '../../tree/final-choice.ts';
import {
  gumbelChoice,
  halvingLevels,
  halvingPhases,
  noteLanes,
  noteNoise,
  openChildren,
  sequentialHalving,
} from '../../tree/halving.ts';
import { type CompletedOptions, withScore } from '../../tree/qtransform.ts';
import { canWiden, type WideningRule } from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';
import { forModels, type MctsOptions, mcts } from './mcts.ts';
import { finishPaths, type Purse, partSpent, purseOf } from './purse.ts';
import { type Bounds, within } from './within.ts';

/** Options of {@link gumbel}. */
export interface GumbelOptions
  extends Pick<MctsOptions, 'evaluate' | 'maxDepth' | 'widening' | 'width'>,
    CompletedOptions {
  /** m, how many actions of the root are considered at most: an integer from 1 up. @defaultValue 16, the reference code's */
  readonly considered?: number;
  /**
   * How many samples of actions the root gets, `width` at a time: an integer from 1 up. Where money is limited, no more
   * are drawn once a quarter of it is spent.
   *
   * @defaultValue `width`
   */
  readonly samples?: number;
  /**
   * By how much the noise is scaled, from 0 up. Where all actions are considered, they have been sampled already, and
   * noise would sample them again.
   *
   * @defaultValue 1 where the root has more actions than are considered, else 0; the reference code's is 1
   */
  readonly noise?: number;
  /** n, the simulations of one halving: an integer from 1 up. @defaultValue what the budget holds; 100 where it has no limit */
  readonly simulations?: number;
}

/**
 * Gumbel search: samples actions of the root without replacement, and shares out the budget among them by sequential
 * halving. Below the root it visits children as often as the improved policy would.
 *
 * For language models it differs from the reference code, which `{ evaluate: 'leaf', noise: 1, leastRange: 1e-8 }` is, but
 * for the one simulation that looks at the root, and that the ranking is frozen when a phase begins: children are evaluated when they are made, and that
 * counts as their first visit; a range of values below `leastRange` is not blown up; where calls, tokens or dollars are
 * limited, each phase gets an equal share of what is left of these, and once all are spent, or what is kept for a first
 * answer is reached, the most promising paths are finished; the root gets another action where `widening` allows it; what
 * is known in full is not visited again. A search that goes on plans a new halving.
 *
 * @see Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel", 2022, and its reference
 * code, mctx, whose schedule, σ and choice these are; the rest is ours.
 */
export function gumbel(options: GumbelOptions = {}): SearchAlgorithm {
  expectOptions('gumbel', options, names);
  const { considered = 16, samples, noise, simulations = 100, ...others } = options;
  const { evaluate = 'all', maxDepth = 64, widening, width, ...values } = others;
  expectBounds({ considered, simulations, samples: samples ?? 1 });
  expectNumber('noise', noise ?? 0, { min: 0 });
  const rules = { scored: evaluate !== 'leaf', leastRange: 0.2, ...values };
  const selection = sequentialHalving(rules);
  const growing = { selection, evaluate, maxDepth, ...(width !== undefined && { width }) };
  const inner = mcts({ ...growing, ...(widening !== undefined && { widening }) });
  return {
    ...inner,
    name: 'gumbel',
    async run(tree, context) {
      const purse = purseOf(tree, context);
      // A simulation that finds nothing to do counts too: what it brought says whether there is any left.
      const progress = () => `${tree.root.visits} ${tree.size} ${purse()[0]?.left}`;
      for (let before = ''; !context.stopped && before !== progress(); ) {
        before = progress();
        const wants = rootWidening(samples, partSpent(purse, 4));
        if (canWiden(tree.cursor, wants)) {
          const opening = mcts({ ...growing, widening: wants });
          await opening.run(tree, within(context, { limit: () => 1, exhausts: 'round' }));
        } else await halve({ tree, context, purse });
      }
      const choice = gumbelChoice(tree.cursor, rules);
      if (choice !== undefined) tree.prefer(bestBet(choice, tree.discount));
    },
  };

  /** One halving, and what is kept for an answer after it. */
  async function halve<State, Action>({ tree, context, purse }: Search<State, Action>) {
    const hasRest = tree.cursor.children.length > considered;
    noteNoise(tree, context.random, noise ?? (hasRest ? 1 : 0));
    const n = options.simulations ?? context.remaining.simulations;
    const plan = { considered, simulations: Number.isFinite(n) ? n : simulations, rules };
    for (const phase of planOf(tree.cursor, plan, purse)) {
      if (context.stopped) return;
      noteLanes(tree, phase, rules);
      await inner.run(
        tree,
        within(context, { ...phase.begin(), exhausts: 'round', stragglers: 'leave' }),
      );
    }
    if (purse().length > 0) await finishPaths({ tree, context, maxDepth });
  }
}

/** Lets the root have its samples, and no other node more than the first of them. */
function rootWidening(most: number | undefined, isEnough: () => boolean): WideningRule {
  return ({ children, samples }) => {
    const drawn = Math.max(children.length, samples);
    return drawn === 0 || (most !== undefined && drawn < most && !isEnough());
  };
}

interface Search<State, Action> {
  readonly tree: SearchTree<State, Action>;
  readonly context: SearchContext<State, Action>;
  readonly purse: Purse;
}

const names =
  'considered samples noise simulations evaluate maxDepth widening width valueScale maxVisitInit leastRange scored';

interface Phase {
  readonly actions: number;
  readonly isFirst: boolean;
  /** Its bounds, worked out when it begins. */
  readonly begin: () => Bounds;
}

/** The phases of one halving: by simulations, or where money is limited by equal parts of what is left. */
function planOf(
  root: SearchNode,
  plan: {
    readonly considered: number;
    readonly simulations: number;
    readonly rules: CompletedOptions;
  },
  purse: Purse,
): readonly Phase[] {
  const open = openChildren(root);
  const actions = Math.min(plan.considered, open.length);
  // The root may get another action where none that it has can grow.
  if (actions === 0) return [{ actions, isFirst: true, begin: () => ({ limit: () => 1 }) }];
  const isSeen = plan.rules.scored && open.every((lane) => withScore(lane).visits > 0);
  const seen = isSeen ? actions : 0;
  if (purse().length === 0) {
    const phases = halvingPhases(actions, Math.max(1, plan.simulations), seen);
    return phases.map(({ actions: count, simulations }, index) => {
      const begin = () => ({ limit: () => simulations });
      return { actions: count, isFirst: index === 0, begin };
    });
  }
  return halvingLevels(actions, seen).map((count, index, levels) => {
    const begin = () => ({ isOver: partSpent(purse, levels.length - index) });
    return { actions: count, isFirst: index === 0, begin };
  });
}

/** Gumbel search in lists. Of a model it samples as `mcts` does. */
export const gumbelEntry: AlgorithmEntry = {
  name: 'gumbel',
  title: 'Gumbel search with sequential halving',
  paper: 'Danihelka et al., Policy improvement by planning with Gumbel, 2022',
  create: ({ asksModel }) => gumbel(asksModel ? forModels : {}),
};
