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
  /** m, the maximum number of root actions to consider: an integer from 1 up. @defaultValue 16, the reference code's */
  readonly considered?: number;
  /**
   * The number of actions to sample at the root, `width` at a time: an integer from 1 up. With a limit on calls, tokens
   * or dollars, sampling stops once a quarter of it is spent.
   *
   * @defaultValue `width`
   */
  readonly samples?: number;
  /**
   * The scale of the Gumbel noise, from 0 up. If all actions are considered, noise would only resample what was sampled
   * already.
   *
   * @defaultValue 1 if the root has more actions than are considered, else 0; the reference code uses 1
   */
  readonly noise?: number;
  /**
   * n, the simulations of one halving: an integer from 1 up. @defaultValue what the budget allows; 100 without a limit
   */
  readonly simulations?: number;
}

/**
 * Gumbel search: samples root actions without replacement, and divides the budget among them by sequential halving.
 * Below the root it visits children in proportion to the improved policy.
 *
 * The defaults are adapted to language models: children are evaluated when they are created, which counts as their
 * first visit; value ranges below `leastRange` are not stretched; with a limit on calls, tokens or dollars, each phase
 * gets an equal share of what is left, and once that is spent, or only the reserve for a first answer is left, the most
 * promising paths are finished; the root gets another action if `widening` allows it; fully explored nodes are not
 * revisited. `{ evaluate: 'leaf', noise: 1, leastRange: 1e-8 }` is the reference code, except for one simulation that
 * evaluates the root, and a ranking that is frozen when a phase begins. A resumed search plans a new halving.
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
      // A simulation that finds nothing to do also counts: whether it changed anything shows whether work is left.
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

  /** Runs one halving within the budget, and keeps a reserve for an answer after it. */
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

/** Lets the root have its samples, and every other node only its first ones. */
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
  /** Its bounds, computed when the phase begins. */
  readonly begin: () => Bounds;
}

/**
 * The phases of one halving: by simulations or, with a limit on calls, tokens or dollars, by equal parts of what is
 * left.
 */
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
  // The root may get another action if none of its actions can be searched further.
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

/** List entry of Gumbel search. With a model it samples as `mcts` does. */
export const gumbelEntry: AlgorithmEntry = {
  name: 'gumbel',
  title: 'Gumbel search with sequential halving',
  paper: 'Danihelka et al., Policy improvement by planning with Gumbel, 2022',
  create: ({ asksModel }) => gumbel(asksModel ? forModels : {}),
};
