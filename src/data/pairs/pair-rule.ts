import { expectation, expectBoolean, expectInteger, expectNumber } from '../../base/expect.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import type { TreeRecord } from '../record.ts';
import type { RuleInfo } from '../rows.ts';

/**
 * The score of a node, given the right and wrong ends at and below it and the discount γ of its tree, default 1;
 * `undefined` excludes the node.
 */
export type PairScore = (
  node: SearchNode,
  about: Readonly<Record<'right' | 'wrong', number>> & { readonly discount?: number },
) => number | undefined;

/** Filters and limits of pairs. */
export interface PairFilters {
  /** The margin that a pair must exceed: from 0 up. @defaultValue 0 */
  readonly minMargin?: number;
  /** The minimum visits of both sides: an integer from 0 up. @defaultValue 1 */
  readonly minVisits?: number;
  /**
   * The chosen one scores more than this and the rejected one less.
   *
   * @defaultValue 0.5 for `all-above-below`, else no threshold
   */
  readonly threshold?: number;
  /**
   * Whether there must be a right end at or below the chosen one, which excludes pairs of two wrong steps.
   * @defaultValue false
   */
  readonly requireRight?: boolean;
  /** Whether there must also be a wrong end at or below the rejected one. @defaultValue false */
  readonly requireMixedOutcome?: boolean;
  /** The least Levenshtein distance between the texts, in UTF-16 units: an integer from 0 up. @defaultValue 0 */
  readonly minEditDistance?: number;
  /** The maximum ratio of the texts' lengths, from 1 up. @defaultValue Infinity */
  readonly maxLengthRatio?: number;
  /**
   * The maximum pairs per node: an integer from 1 up. Here and below, those with the largest margins are kept.
   * @defaultValue Infinity
   */
  readonly maxPairsPerNode?: number;
  /**
   * The maximum pairs at each depth of all trees of one problem, without duplicates: an integer from 1 up. Searches
   * have most of their pairs at the last steps, but most errors happen at the first.
   *
   * @defaultValue Infinity
   */
  readonly perDepth?: number;
  /** The maximum pairs per tree: an integer from 1 up. @defaultValue Infinity */
  readonly maxPairsPerTree?: number;
  /** The maximum pairs of all trees of one problem, without duplicates: an integer from 1 up. @defaultValue Infinity */
  readonly maxPairsPerProblem?: number;
}

/** The names of {@link PairFilters}, with spaces between them. */
export const pairFilters =
  'minMargin minVisits threshold requireRight requireMixedOutcome minEditDistance maxLengthRatio maxPairsPerNode perDepth maxPairsPerTree maxPairsPerProblem';

/**
 * Which siblings make a preference pair.
 *
 * Failed nodes, duplicates, empty texts and nodes without a finite score are left out. Nodes below equal steps with
 * equal prompts are siblings. Siblings with equal text, ignoring surrounding space, count once: as the most visited of
 * them, ties going to the first, with the ends of all of them, duplicates included. A pair always has a margin above 0.
 */
export interface PairRule extends PairFilters, RuleInfo {
  /**
   * The nodes at which siblings are compared.
   *
   * - `all`: everywhere.
   * - `path`: along the path to the best node, which is the committed path if the search commits steps.
   * - `right-path`: along that path if it ends right, else nowhere.
   * - `success-path`: along every path to a right end.
   */
  readonly nodes: 'all' | 'path' | 'right-path' | 'success-path';
  /**
   * Which siblings are paired. They are ranked by score, with ties in their order.
   *
   * - `best-vs-worst`, `best-vs-second`: the first against the last, or against the second.
   * - `best-vs-random`: the first against one of those it makes a pair with, drawn by the seed of the tree.
   * - `best-vs-all`: the first against each other.
   * - `all-ordered`: each against each worse one.
   * - `all-above-below`: each above `threshold` against each below it.
   * - `path-vs-worst`, `path-vs-all`: the one on the path to the best node against the last, or against each worse.
   * - `success-path-vs-siblings`: each that leads to a right end against each that leads to none.
   */
  readonly siblings:
    | 'all-above-below'
    | 'all-ordered'
    | 'best-vs-all'
    | 'best-vs-random'
    | 'best-vs-second'
    | 'best-vs-worst'
    | 'path-vs-all'
    | 'path-vs-worst'
    | 'success-path-vs-siblings';
  /** Matches siblings that are ends among themselves, in this way. @defaultValue ends and steps are matched together */
  readonly ends?: PairRule['siblings'];
  /** The score for comparison; higher is better. */
  readonly score: PairScore;
  /** The parts of the score, for provenance. @defaultValue none */
  readonly parts?: (node: SearchNode) => Readonly<Record<string, number>>;
  /**
   * ε, the probability that the label is wrong. `visits`: `min(1 − c, 0.5)` with the confidence
   * `c = 1 / (1 + N_rejected / max(1, N_chosen))`.
   *
   * @defaultValue 'none'
   * @see Xie et al., "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning", 2024, the
   * "conservative" loss of the reference code.
   */
  readonly smoothing?: 'none' | 'visits';
  /**
   * The weight in the loss. `share-of-node`: `1 / (|chosen| · |rejected|)` of the node, counted over its pairs.
   *
   * @defaultValue 'equal': 1 each
   * @see Guan et al., "rStar-Math: Small LLMs Can Master Math Reasoning with Self-Evolved Deep Thinking", 2025,
   * the loss of the process preference model.
   */
  readonly weight?: 'equal' | 'share-of-node';
}

export type PairNodes = PairRule['nodes'];
export type PairSiblings = PairRule['siblings'];

/** The source of pairs: a tree, its notation, and the score from which its ends are right. */
export type PairSource<State, Action> = Pick<
  TreeRecord<State, Action>,
  'correctFrom' | 'notation' | 'tree'
>;

/** Two actions for one prompt, one better than the other. */
export interface PreferencePair<State = unknown, Action = unknown> {
  /**
   * Their common start: the parent of siblings, or the first node with the same prompt; the root for complete answers
   * and paths.
   */
  readonly parent: SearchNode<State, Action>;
  /** The better one. */
  readonly chosen: ChildNode<State, Action>;
  /** The worse one. */
  readonly rejected: ChildNode<State, Action>;
  /** The score of the better one. */
  readonly chosenScore: number;
  /** The score of the worse one. */
  readonly rejectedScore: number;
  /** The difference in score: above 0. */
  readonly margin: number;
  /** Whether there is a right end at or below the better one; `undefined` without scored ends there. */
  readonly chosenRight: boolean | undefined;
  /** The same for the worse one. */
  readonly rejectedRight: boolean | undefined;
  /** ε, the probability that the label is wrong, in [0, 0.5]. */
  readonly labelSmoothing: number;
  /** The weight in the loss, above 0. */
  readonly weight: number;
}

/** Throws a usage error where a filter is out of its range. */
export function checkFilters(filters: PairFilters): void {
  const { minMargin = 0, minVisits = 0, threshold = 0, minEditDistance = 0 } = filters;
  const { maxLengthRatio = 1 } = filters;
  expectNumber('minMargin', minMargin, { min: 0 });
  expectInteger('minVisits', minVisits, { min: 0 });
  expectNumber('threshold', threshold);
  expectInteger('minEditDistance', minEditDistance, { min: 0 });
  if (!(maxLengthRatio >= 1))
    throw expectation('maxLengthRatio', 'a number from 1 up', maxLengthRatio);
  for (const name of ['requireRight', 'requireMixedOutcome'] as const) {
    expectBoolean(name, filters[name] ?? false);
  }
  const limits = ['maxPairsPerNode', 'perDepth', 'maxPairsPerTree', 'maxPairsPerProblem'] as const;
  for (const name of limits) {
    expectInteger(name, filters[name] ?? 1, { min: 1, max: Number.POSITIVE_INFINITY });
  }
}
