import { expectation, expectBoolean, expectNumber, expectNumbers } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { NodeStatistics } from '../contracts/node.ts';
import { expectUncalled, named } from './rules.ts';
import { endedAt, knownValue, ownReturn, type QTransform, type RuleView } from './selection.ts';

/**
 * Maps Q from [min, max] to [0, 1]; an unvisited child counts as `min`.
 *
 * @see Schrittwieser et al., "Mastering Atari, Go, Chess and Shogi by Planning with a Learned Model",
 * 2020, equation 5, with fixed bounds.
 */
export function byMinMax(options: { readonly min: number; readonly max: number }): QTransform {
  expectOptions('byMinMax', options, 'min max');
  const { min, max } = options;
  expectNumbers({ min, max });
  if (min >= max) throw expectation('max', `above \`min\`, which is \`${min}\``, max);
  return named(
    'byMinMax',
    { min, max },
    () => (child: NodeStatistics) => (child.visits === 0 ? 0 : (child.value - min) / (max - min)),
  );
}

/**
 * Maps Q to [0, 1] by the least and the greatest value among the parent and its visited children; an
 * unvisited child counts as the least. Values of any scale then suit the same exploration constant.
 *
 * @see Schrittwieser et al., 2020, equation 5, with the bounds of one family.
 */
export const byParentAndSiblings: QTransform = named(
  'byParentAndSiblings',
  {},
  (parent: NodeStatistics | undefined) => {
    expectUncalled('byParentAndSiblings', parent?.children);
    let least = stateValue(parent);
    let greatest = least;
    for (const { visits, value } of parent.children) {
      if (visits === 0) continue;
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }
    const span = Math.max(greatest - least, 1e-8);
    return (child: NodeStatistics) => (child.visits === 0 ? 0 : (child.value - least) / span);
  },
);

/**
 * Mixes a node's evaluation with its backed-up value: `w · v + (1 − w) · Q`, with the weight w of the evaluation
 * as a function of the visits N. Before the first visit, and without an evaluation, it is `knownValue`.
 *
 * @param weight - w(N), in [0, 1]: a function such as `c / (N + c)` for I-MCTS, or a constant, 1 − α for Agent Q.
 * @see Liang et al., "I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search", 2025,
 * "Hybrid reward"; Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024,
 * the mix of the search's and the critic's values.
 */
export function mixedWithEvaluation(weight: number | ((visits: number) => number)): QTransform {
  if (typeof weight !== 'function') expectNumber('weight', weight, { min: 0, max: 1 });
  const at = typeof weight === 'number' ? () => weight : weight;
  return named(
    'mixedWithEvaluation',
    { weight },
    (_parent: NodeStatistics, tree: RuleView = {}) =>
      (child: NodeStatistics) =>
        mixedValue(child, at(child.visits), tree),
  );
}

/** `w · v + (1 − w) · Q` of one node, as in {@link mixedWithEvaluation}, in a tree with the discount γ, by default 1. */
export function mixedValue(node: NodeStatistics, weight: number, tree: RuleView = {}): number {
  const { visits, rawValue } = node;
  const known = knownValue(node, tree);
  return visits === 0 || rawValue === undefined ? known : weight * rawValue + (1 - weight) * known;
}

/**
 * Completes unvisited children by a mix of the parent's raw value and the prior-weighted values of its
 * visited children, then scales by `(c_visit + max N) · c_scale`.
 *
 * @see Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel", 2022,
 * equations 8, 10 and 33.
 */
export function completedByMixValue(
  options: CompletedOptions & {
    /** Whether completed values are first mapped to [0, 1] within the family. @defaultValue true */
    readonly rescale?: boolean;
  } = {},
): QTransform {
  expectOptions(
    'completedByMixValue',
    options,
    'valueScale maxVisitInit leastRange scored rescale',
  );
  const { valueScale = 0.1, maxVisitInit = 50, rescale = true } = options;
  const { leastRange = 1e-8, scored = false } = options;
  expectNumbers({ valueScale, maxVisitInit, leastRange }, { min: 0 });
  expectBoolean('scored', scored);
  expectBoolean('rescale', rescale);
  const seen = scored ? withScore : asVisited;
  return named('completedByMixValue', options, (parent: NodeStatistics) => {
    const mixed = mixedValueBelow(parent, seen);
    const complete = (child: NodeStatistics) => {
      const { visits, value } = seen(child);
      return visits > 0 ? value : mixed;
    };
    let least = Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    let most = 0;
    for (const child of parent.children) {
      // A duplicate does not count as a child.
      if (child.status === 'pruned') continue;
      least = Math.min(least, complete(child));
      greatest = Math.max(greatest, complete(child));
      most = Math.max(most, seen(child).visits);
    }
    if (!rescale) least = 0;
    const span = rescale ? Math.max(greatest - least, leastRange) : 1;
    const scale = (maxVisitInit + most) * valueScale;
    return (child: NodeStatistics) => (scale * (complete(child) - least)) / span;
  });
}

/** Options of {@link completedByMixValue} and of rules built on it. */
export interface CompletedOptions {
  /** c_scale. @defaultValue 0.1 */
  readonly valueScale?: number;
  /** c_visit. @defaultValue 50 */
  readonly maxVisitInit?: number;
  /**
   * r₀, the smallest range stretched to [0, 1]: differences below it are not amplified. Use about twice the spread of
   * repeated evaluations.
   *
   * @defaultValue 1e-8, the reference code's
   */
  readonly leastRange?: number;
  /**
   * Whether the evaluation of a child counts as its first visit, if no simulation has ended at it. @defaultValue false
   */
  readonly scored?: boolean;
}

type Seen = Pick<NodeStatistics, 'visits' | 'value'>;

const asVisited = (node: NodeStatistics): Seen => node;

/** N and Q of a node, its own evaluation counted as its first visit if no simulation has ended at it. */
export function withScore(node: NodeStatistics): Seen {
  const { rawValue, reward, terminal } = node;
  const isScored = rawValue !== undefined || (terminal && reward !== undefined);
  if (endedAt(node) > 0 || !isScored) return node;
  const visits = node.visits + 1;
  return { visits, value: (ownReturn(node, 1) + node.visits * node.value) / visits };
}

/** v_mix: the raw value of the parent, mixed with the values of its visited children. */
function mixedValueBelow(parent: NodeStatistics, seen: (node: NodeStatistics) => Seen): number {
  const rawValue = parent.rawValue ?? stateValue(parent);
  let visits = 0;
  let prior = 0;
  let weighted = 0;
  for (const child of parent.children) {
    const own = seen(child);
    visits += own.visits;
    if (own.visits === 0) continue;
    prior += child.prior;
    weighted += child.prior * own.value;
  }
  return prior === 0 ? rawValue : (rawValue + (visits * weighted) / prior) / (1 + visits);
}

/** V(s), which a child can be compared with: Q(s, a) without the reward on the way to s. Exact for γ = 1. */
function stateValue({ visits, value, reward = 0 }: NodeStatistics): number {
  return visits === 0 ? value : value - reward;
}
