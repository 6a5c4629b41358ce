import { expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { pathsIn } from '../paths.ts';
import { turnOf } from '../record.ts';
import type { PreferenceRow, RowRule } from '../rows.ts';
import { type Candidate, candidatesAmong, keepLargest } from './candidates.ts';
import { closeFamily, passes } from './matching.ts';
import {
  checkFilters,
  type PairFilters,
  type PairSource,
  type PreferencePair,
  pairFilters,
} from './pair-rule.ts';
import * as pairScores from './pair-scores.ts';
import { pairRows } from './preferences.ts';

/** Options of {@link rStarMath}. */
export interface RStarMathOptions extends PairFilters {
  /** Children on each side: an integer from 1 up. @defaultValue 2 */
  readonly width?: number;
}

/**
 * rStar-Math: from the root on, breadth first, the two best children that lead to a right end against the two
 * worst that lead to a wrong one, up to four where the other side has one only; the search goes on below children
 * that lead to both. A pair needs a margin of Q above 0.25, a higher mean of Q along the best continuation of the
 * chosen one, and an edit distance of 20; it weighs `1 / (|chosen| · |rejected|)` of its node.
 *
 * Differences from the reference code: Q lies in [0, 1], where theirs lies in [−1, 1], so that the margin is half of
 * their 0.5, and must be exceeded. For complete paths to the final answer, use `trajectory`.
 *
 * @see Guan et al., "rStar-Math: Small LLMs Can Master Math Reasoning with Self-Evolved Deep Thinking", 2025
 * (arXiv 2501.04519).
 */
export function rStarMath(options: RStarMathOptions = {}): RowRule<PreferenceRow> {
  expectOptions('rStarMath', options, `${pairFilters} width`);
  const rule: RStarMathOptions = { minMargin: 0.25, minEditDistance: 20, ...options };
  checkFilters(rule);
  expectInteger('width', rule.width ?? 2, { min: 1 });
  const info = {
    name: 'rstar-math',
    title: 'best against worst siblings, two by two, with right and wrong ends below',
    paper: 'Guan et al., 2025, arXiv 2501.04519',
    options,
  };
  return pairRows(info, {
    perDepth: rule.perDepth,
    maxPairsPerProblem: rule.maxPairsPerProblem,
    pairs: (record) => pairsIn(record, rule),
    completion: (record, _from, node) => [turnOf(record, node)],
  });
}

function pairsIn<State, Action>(
  source: PairSource<State, Action>,
  options: RStarMathOptions,
): readonly PreferencePair<State, Action>[] {
  const { tree, notation } = source;
  const { below, placeOf, endsAt } = pathsIn(source);
  const reading = {
    score: (node: SearchNode) => pairScores.q(node, tree),
    minVisits: options.minVisits ?? 1,
    text: ({ action }: ChildNode<State, Action>) => notation.format(action),
    ends: endsAt,
  };
  const visited = { ...reading, minVisits: 1 };
  const onward = (node: SearchNode<State, Action>) =>
    meanOnward(node, tree, (from) => candidatesAmong(below(from), visited));
  const isBetterOnward: Level<State, Action>['isBetterOnward'] = (better, worse) =>
    onward(better) > onward(worse);
  const pairs: PreferencePair<State, Action>[] = [];
  let level: readonly SearchNode<State, Action>[] = [tree.root];
  while (level.length > 0) {
    level = level.flatMap((parent) => {
      const candidates = candidatesAmong(below(parent), reading);
      const isSplit = candidates.some(isRight) && candidates.some(isWrong);
      if (!isSplit) return [];
      for (const pair of pairsAt({ parent, candidates, isBetterOnward }, options)) pairs.push(pair);
      // Of these, the ones that lack a side end here in their turn.
      return [...new Set(candidates.flatMap(({ twins }) => twins.map(placeOf)))];
    });
  }
  return keepLargest(pairs, options.maxPairsPerTree);
}

interface Level<State, Action> {
  readonly parent: SearchNode<State, Action>;
  readonly candidates: readonly Candidate<State, Action>[];
  /** Whether the best continuation of the first has the higher mean of Q. */
  isBetterOnward(better: SearchNode<State, Action>, worse: SearchNode<State, Action>): boolean;
}

function pairsAt<State, Action>(
  { parent, candidates, isBetterOnward }: Level<State, Action>,
  options: RStarMathOptions,
): readonly PreferencePair<State, Action>[] {
  const { width = 2 } = options;
  const ranked = candidates.toSorted((a, b) => b.score - a.score);
  const right = ranked.filter(isRight);
  const wrong = ranked.toReversed().filter(isWrong);
  const chosen = right.slice(0, wrong.length === 1 ? 2 * width : width);
  const rejected = wrong.slice(0, right.length === 1 ? 2 * width : width);
  const matched = chosen.flatMap((better) =>
    rejected.flatMap((worse) => {
      const fits = passes(better, worse, options) && isBetterOnward(better.node, worse.node);
      return fits ? [[better, worse] as const] : [];
    }),
  );
  return closeFamily(parent, matched, {
    ...options,
    siblings: 'all-ordered',
    weight: 'share-of-node',
  });
}

const isRight = ({ ends }: Pick<Candidate<never, never>, 'ends'>): boolean => ends.right > 0;
const isWrong = ({ ends }: Pick<Candidate<never, never>, 'ends'>): boolean => ends.wrong > 0;

/** The mean of Q over a node and the best step after the best step. */
function meanOnward<State, Action>(
  start: SearchNode<State, Action>,
  tree: PairSource<State, Action>['tree'],
  stepsBelow: (node: SearchNode<State, Action>) => readonly Candidate<State, Action>[],
): number {
  let sum = 0;
  let count = 0;
  let node: SearchNode<State, Action> | undefined = start;
  while (node !== undefined) {
    sum += pairScores.q(node, tree) ?? 0;
    count += 1;
    const [first, ...others] = stepsBelow(node);
    node = others.reduce(
      (best, next) => (best && best.score >= next.score ? best : next),
      first,
    )?.node;
  }
  return sum / count;
}
