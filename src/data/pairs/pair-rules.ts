import { expectNumber, expectOneOf } from '../../base/expect.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { isEnd } from '../record.ts';
import type { PreferenceRow, RowRule } from '../rows.ts';
import type { PairFilters } from './pair-rule.ts';
import { pairScores } from './pair-scores.ts';
import { type PairRowRule, preferences } from './preferences.ts';
import { type RStarMathOptions, rStarMath } from './r-star-math.ts';
import { type SparOptions, spar, type TrajectoryOptions, trajectory } from './whole-answers.ts';

/** Options of `mctsDpo`. */
export interface MctsDpoPairOptions extends PairFilters {
  /** Which sibling is rejected. @defaultValue 'worst', the paper's */
  readonly rejected?: 'random' | 'second' | 'worst';
  /** Whether only trees whose committed path ends right have pairs: `--filter` of the reference code. @defaultValue false */
  readonly rightOnly?: boolean;
}

/** Options of `agentQ`. The paper publishes neither number: the defaults are ours. */
export interface AgentQPairOptions extends Omit<PairFilters, 'minMargin'> {
  /** α, the share of the search in the mixed value: in [0, 1]. @defaultValue 0.5 */
  readonly alpha?: number;
  /** θ, the least margin of a pair: from 0 up. @defaultValue 0.1 */
  readonly theta?: number;
}

/** Options of `stepApo`. */
export interface StepApoOptions extends PairFilters {
  /** By how much the distance of the Q of ends from the threshold is shrunk: from 0 up. @defaultValue 0.3, the reference code's */
  readonly endScale?: number;
}

/** Options of `stepQ`. */
export interface StepQOptions extends PairFilters {
  /** Which siblings of the best trajectory are rejected. @defaultValue 'worst' */
  readonly rejected?: 'all' | 'worst';
}

/** The pair rules of papers. Each one takes all filters besides, which then stand in place of its own. */
export interface PairRules {
  /**
   * MCTS-DPO: along the committed path the sibling with the highest Q against the one with the lowest; at most 8
   * pairs a tree; label smoothing by visits. Siblings that were never visited count with their evaluation.
   *
   * Otherwise than the reference code: the rejected sibling is the worst, as the paper has it, where the code's
   * defaults draw one at random; siblings of equal Q make no pair, where the code goes on to rank them by prior,
   * value and visits; of more than 8 pairs those with the largest margins stay; a chain of single children is not
   * joined to one completion.
   *
   * @see Xie et al., "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning", 2024
   * (arXiv 2405.00451), section 2.
   */
  mctsDpo(options?: MctsDpoPairOptions): PairRowRule;
  /**
   * Agent Q: at every node each two actions whose mixed values differ by more than θ. Rows tell what was mixed:
   * `search` and `critic` in the parts of their provenance.
   *
   * Otherwise than the paper: actions that were never visited are left out, unless `minVisits` is 0.
   *
   * @see Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024
   * (arXiv 2408.07199), section 4.
   */
  agentQ(options?: AgentQPairOptions): PairRowRule;
  /**
   * Step-APO: each sibling with Q above the threshold against each below it; ends only among themselves, the best
   * against the worst, with their Q drawn towards the threshold. The scores of the rows are `q_chosen` and
   * `q_rejected`.
   *
   * Otherwise than the paper: Q lies in [0, 1], where theirs lies in [−1, 1], so that the threshold is 0.5 and not
   * 0, and a gap is half of theirs: α of the loss doubles.
   *
   * @see Wang et al., "CPL: Critical Plan Step Learning Boosts LLM Generalization in Reasoning Tasks", 2024
   * (arXiv 2409.08642), and its reference code for the ends.
   */
  stepApo(options?: StepApoOptions): PairRowRule;
  /**
   * TP-LLaMA: at every node on a path to a right end, the child that leads there against each other child. The
   * scores are 1 and 0.
   *
   * A child that was never tried counts as one that leads nowhere, unless `minVisits` is 1. Otherwise than the
   * paper: a sibling that leads to a right end too is not rejected, and what has failed is no side of a pair.
   *
   * @see Chen et al., "Advancing Tool-Augmented Large Language Models: Integrating Insights from Errors in Inference
   * Trees", 2024 (arXiv 2406.07115), "step-wise".
   */
  toolPreference(options?: PairFilters): PairRowRule;
  /**
   * Step-level Q-value models: along the best trajectory its action against the sibling with the lowest Q, or
   * against each with a lower Q.
   *
   * @see Zhai et al., "Enhancing Decision-Making for LLM Agents via Step-Level Q-Value Models", 2024
   * (arXiv 2409.09345).
   */
  stepQ(options?: StepQOptions): PairRowRule;
  /**
   * Step-DPO: where a right end can still be reached, each child that leads to one against each that leads to wrong
   * ends only: a first wrong step. The scores are 1 and 0.
   *
   * Otherwise than the paper: the tree says which step is wrong, where theirs asks a model, and a wrong step has as
   * many pairs as it has right siblings.
   *
   * @see Lai et al., "Step-DPO: Step-wise Preference Optimization for Long-chain Reasoning of LLMs", 2024
   * (arXiv 2406.18629).
   */
  stepDpo(options?: PairFilters): PairRowRule;
  /**
   * rStar-Math: from the root on, breadth first, the two best children that lead to a right end against the two
   * worst that lead to a wrong one, up to four where the other side has one only; the search goes on below children
   * that lead to both. A pair needs a margin of Q above 0.25, a higher mean of Q along the best continuation of the
   * chosen one, and an edit distance of 20; it weighs `1 / (|chosen| · |rejected|)` of its node.
   *
   * Otherwise than the reference code: Q lies in [0, 1], where theirs lies in [−1, 1], so that the margin is half of
   * their 0.5, and must be exceeded. Whole paths for the step of the final answer are `trajectory`.
   *
   * @see Guan et al., "rStar-Math: Small LLMs Can Master Math Reasoning with Self-Evolved Deep Thinking", 2025
   * (arXiv 2501.04519).
   */
  rStarMath(options?: RStarMathOptions): RowRule<PreferenceRow>;
  /**
   * SPaR: in a tree of whole answers, the best refinement of a first answer against that first answer, both for the
   * prompt of the root. The refinement is right and the first answer wrong, unless `by` is `'score'`. First answers
   * are the children of the root.
   *
   * Otherwise than the paper: its tree starts from one answer that is wrong; here each first answer has a pair.
   *
   * @see Cheng et al., "SPaR: Self-Play with Tree-Search Refinement to Improve Instruction-Following in Large
   * Language Models", 2024 (arXiv 2412.11605).
   */
  spar(options?: SparOptions): RowRule<PreferenceRow>;
  /**
   * Whole paths: the right end with the highest score, of equal ones the shortest path, against each wrong end; or
   * by the scores of the ends alone. The prompt is that of the root, a side the whole path.
   *
   * @see Song et al., "Trial and Error: Exploration-Based Trajectory Optimization for LLM Agents", 2024
   * (arXiv 2403.02502), for pairs of whole trajectories.
   */
  trajectory(options?: TrajectoryOptions): RowRule<PreferenceRow>;
}

/** The pair rules of papers. */
export const pairRules: PairRules = {
  mctsDpo({ rejected = 'worst', rightOnly = false, ...filters } = {}) {
    expectOneOf('rejected', rejected, ['random', 'second', 'worst']);
    return preferences({
      name: 'mcts-dpo',
      nodes: rightOnly ? 'right-path' : 'path',
      siblings: `best-vs-${rejected}`,
      score: pairScores.q,
      smoothing: 'visits',
      minVisits: 0,
      maxPairsPerTree: 8,
      ...filters,
    });
  },
  agentQ({ alpha = 0.5, theta = 0.1, ...filters } = {}) {
    expectNumber('theta', theta, { min: 0 });
    return preferences({
      name: 'agent-q',
      nodes: 'all',
      siblings: 'all-ordered',
      score: pairScores.mixed(alpha),
      parts: searchAndCritic,
      ...filters,
      minMargin: theta,
    });
  },
  stepApo({ endScale = 0.3, ...filters } = {}) {
    const { threshold = 0.5 } = filters;
    expectNumber('endScale', endScale, { min: 0 });
    return preferences({
      name: 'step-apo',
      nodes: 'all',
      siblings: 'all-above-below',
      ends: 'best-vs-worst',
      score: (node, ends) => {
        const q = pairScores.q(node, ends);
        if (q === undefined || !isEnd(node)) return q;
        return threshold + endScale * (q - threshold);
      },
      ...filters,
      threshold,
    });
  },
  toolPreference: (filters = {}) =>
    preferences({
      name: 'tool-preference',
      nodes: 'success-path',
      siblings: 'success-path-vs-siblings',
      score: (_node, { right }) => (right > 0 ? 1 : 0),
      minVisits: 0,
      ...filters,
    }),
  stepQ({ rejected = 'worst', ...filters } = {}) {
    expectOneOf('rejected', rejected, ['all', 'worst']);
    return preferences({
      name: 'step-q',
      nodes: 'path',
      siblings: `path-vs-${rejected}`,
      score: pairScores.q,
      ...filters,
    });
  },
  stepDpo: (filters = {}) =>
    preferences({
      name: 'step-dpo',
      nodes: 'success-path',
      siblings: 'all-ordered',
      score: pairScores.hardOutcome,
      requireMixedOutcome: true,
      minVisits: 0,
      ...filters,
    }),
  rStarMath,
  spar,
  trajectory,
};

function searchAndCritic({
  visits,
  value,
  rawValue,
}: SearchNode): Readonly<Record<string, number>> {
  return {
    ...(visits > 0 && { search: value }),
    ...(rawValue !== undefined && { critic: rawValue }),
  };
}
