import { expectBoolean, expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { isEnd } from '../record.ts';
import { type PairFilters, pairFilters } from './pair-rule.ts';
import * as pairScores from './pair-scores.ts';
import { type PairRowRule, preferences } from './preferences.ts';

/**
 * MCTS-DPO: along the committed path, the sibling with the highest Q against the one with the lowest; at most 8 pairs
 * per tree; label smoothing by visits. Unvisited siblings count with their evaluation.
 *
 * Differences from the reference code: the rejected sibling is the worst, as the paper has it, where the code's
 * defaults draw one at random; siblings of equal Q make no pair, where the code goes on to rank them by prior,
 * value and visits; if there are more than 8 pairs, those with the largest margins are kept; a chain of single children
 * is not joined into one completion.
 *
 * @see Xie et al., "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning", 2024
 * (arXiv 2405.00451), section 2.
 */
export function mctsDpo(
  options: PairFilters & {
    /** Which sibling is rejected. @defaultValue 'worst', the paper's */
    readonly rejected?: 'random' | 'second' | 'worst';
    /** Whether only trees whose committed path ends right have pairs: `--filter` of the reference code. @defaultValue false */
    readonly rightOnly?: boolean;
  } = {},
): PairRowRule {
  expectOptions('mctsDpo', options, `${pairFilters} rejected rightOnly`);
  const { rejected = 'worst', rightOnly = false, ...filters } = options;
  expectBoolean('rightOnly', rightOnly);
  expectOneOf('rejected', rejected, ['random', 'second', 'worst']);
  return preferences({
    name: 'mcts-dpo',
    title: 'best against worst sibling along the committed path',
    paper: 'Xie et al., 2024, arXiv 2405.00451',
    options,
    nodes: rightOnly ? 'right-path' : 'path',
    siblings: `best-vs-${rejected}`,
    score: pairScores.q,
    smoothing: 'visits',
    minVisits: 0,
    maxPairsPerTree: 8,
    ...filters,
  });
}

/**
 * Agent Q: at every node, any two actions whose mixed values differ by more than θ. The parts of the provenance have
 * both values, `search` and `critic`.
 *
 * Difference from the paper: unvisited actions are left out, unless `minVisits` is 0.
 *
 * @see Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024
 * (arXiv 2408.07199), section 4.
 */
export function agentQ(
  options: PairFilters & {
    /** α, the share of the search in the mixed value: in [0, 1]. @defaultValue 0.5 */
    readonly alpha?: number;
    /** θ, the margin that a pair must exceed: from 0 up. @defaultValue 0.1 */
    readonly minMargin?: number;
  } = {},
): PairRowRule {
  expectOptions('agentQ', options, `${pairFilters} alpha`);
  const { alpha = 0.5, ...filters } = options;
  return preferences({
    name: 'agent-q',
    title: 'siblings whose mixed values differ, at every node',
    paper: 'Putta et al., 2024, arXiv 2408.07199',
    options,
    nodes: 'all',
    siblings: 'all-ordered',
    score: pairScores.mixed(alpha),
    parts: searchAndCritic,
    minMargin: 0.1,
    ...filters,
  });
}

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

/**
 * Step-APO: each sibling with Q above the threshold against each below it; ends only among themselves, the best
 * against the worst, with their Q drawn towards the threshold. The scores of the rows are `q_chosen` and
 * `q_rejected`.
 *
 * Differences from the paper: Q is in [0, 1] instead of [−1, 1], so the threshold is 0.5 instead of 0, and a gap is
 * half as large: double α of the loss.
 *
 * @see Wang et al., "CPL: Critical Plan Step Learning Boosts LLM Generalization in Reasoning Tasks", 2024
 * (arXiv 2409.08642), and its reference code for the ends.
 */
export function stepApo(
  options: PairFilters & {
    /**
     * The factor that shrinks the distance between the Q of ends and the threshold: from 0 up. @defaultValue 0.3, the
     * reference code's
     */
    readonly endScale?: number;
  } = {},
): PairRowRule {
  expectOptions('stepApo', options, `${pairFilters} endScale`);
  const { endScale = 0.3, ...filters } = options;
  const { threshold = 0.5 } = filters;
  expectNumber('endScale', endScale, { min: 0 });
  return preferences({
    name: 'step-apo',
    title: 'siblings above against siblings below one half, with their values',
    paper: 'Wang et al., 2024, arXiv 2409.08642',
    options,
    nodes: 'all',
    siblings: 'all-above-below',
    ends: 'best-vs-worst',
    score: (node, about) => {
      const q = pairScores.q(node, about);
      if (q === undefined || !isEnd(node)) return q;
      return threshold + endScale * (q - threshold);
    },
    ...filters,
    threshold,
  });
}

/**
 * TP-LLaMA: at every node on a path to a right end, the child that leads there against each other child. The
 * scores are 1 and 0.
 *
 * An untried child counts as leading nowhere, unless `minVisits` is 1. Differences from the paper: a sibling that also
 * leads to a right end is not rejected, and failed nodes are in no pair.
 *
 * @see Chen et al., "Advancing Tool-Augmented Large Language Models: Integrating Insights from Errors in Inference
 * Trees", 2024 (arXiv 2406.07115), "step-wise".
 */
export function toolPreference(options: PairFilters = {}): PairRowRule {
  expectOptions('toolPreference', options, pairFilters);
  return preferences({
    name: 'tool-preference',
    title: 'along successful paths, their step against the other siblings',
    paper: 'Chen et al., 2024, arXiv 2406.07115',
    options,
    nodes: 'success-path',
    siblings: 'success-path-vs-siblings',
    score: (_node, { right }) => (right > 0 ? 1 : 0),
    minVisits: 0,
    ...options,
  });
}

/**
 * Step-level Q-value models: along the best trajectory its action against the sibling with the lowest Q, or
 * against each with a lower Q.
 *
 * @see Zhai et al., "Enhancing Decision-Making for LLM Agents via Step-Level Q-Value Models", 2024
 * (arXiv 2409.09345).
 */
export function stepQ(
  options: PairFilters & {
    /** Which siblings of the best trajectory are rejected. @defaultValue 'worst' */
    readonly rejected?: 'all' | 'worst';
  } = {},
): PairRowRule {
  expectOptions('stepQ', options, `${pairFilters} rejected`);
  const { rejected = 'worst', ...filters } = options;
  expectOneOf('rejected', rejected, ['all', 'worst']);
  return preferences({
    name: 'step-q',
    title: 'along the best trajectory, its action against the worst sibling',
    paper: 'Zhai et al., 2024, arXiv 2409.09345',
    options,
    nodes: 'path',
    siblings: `path-vs-${rejected}`,
    score: pairScores.q,
    ...filters,
  });
}

/**
 * Step-DPO: where a right end can still be reached, each child that leads to one against each that leads to wrong
 * ends only: a first wrong step. The scores are 1 and 0, and visits do not count unless `minVisits` is set.
 *
 * Differences from the paper: the tree decides which step is wrong, where the paper asks a model, and a wrong step is
 * paired with each of its right siblings.
 *
 * @see Lai et al., "Step-DPO: Step-wise Preference Optimization for Long-chain Reasoning of LLMs", 2024
 * (arXiv 2406.18629).
 */
export function stepDpo(options: PairFilters = {}): PairRowRule {
  expectOptions('stepDpo', options, pairFilters);
  return preferences({
    name: 'step-dpo',
    title: 'a right step against a first wrong one',
    paper: 'Lai et al., 2024, arXiv 2406.18629',
    options,
    nodes: 'success-path',
    siblings: 'all-ordered',
    score: pairScores.hardOutcome,
    requireMixedOutcome: true,
    minVisits: 0,
    ...options,
  });
}
