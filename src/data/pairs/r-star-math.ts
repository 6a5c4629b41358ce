import { expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { isPart, turnOf } from '../record.ts';
import type { PreferenceRow, RowRule } from '../rows.ts';
import { type Candidate, candidatesAmong, countEnds, keepLargest } from './candidates.ts';
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
 * Otherwise than the reference code: Q lies in [0, 1], where theirs lies in [−1, 1], so that the margin is half of
 * their 0.5, and must be exceeded. Whole paths for the step of the final answer are `trajectory`.
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
  const reading = {
    score: pairScores.q,
    minVisits: options.minVisits ?? 1,
    text: ({ action }: ChildNode<State, Action>) => notation.format(action),
    ends: countEnds(source),
  };
  const pairs: PreferencePair<State, Action>[] = [];
  let level: readonly SearchNode<State, Action>[] = [tree.root];
  while (level.length > 0) {
    level = level.flatMap((parent) => {
      const candidates = candidatesAmong(parent.children, reading);
      const isSplit = candidates.some(isRight) && candidates.some(isWrong);
      if (!isSplit) return [];
      for (const pair of pairsAt(parent, candidates, options)) pairs.push(pair);
      // Of these, the ones that lack a side end here in their turn.
      return candidates.flatMap(({ twins }) => twins);
    });
  }
  return keepLargest(pairs, options.maxPairsPerTree);
}

function pairsAt<State, Action>(
  parent: SearchNode<State, Action>,
  candidates: readonly Candidate<State, Action>[],
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
      const fits = passes(better, worse, options) && goesOnBetter(better.node, worse.node);
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

function goesOnBetter(better: SearchNode, worse: SearchNode): boolean {
  return meanOnward(better) > meanOnward(worse);
}

/** The mean of Q over a node and the best child after the best child. */
function meanOnward(start: SearchNode): number {
  let sum = 0;
  let count = 0;
  for (let node: SearchNode | undefined = start; node !== undefined; node = bestChild(node)) {
    sum += pairScores.q(node) ?? 0;
    count += 1;
  }
  return sum / count;
}

function bestChild({ children }: SearchNode): SearchNode | undefined {
  let best: SearchNode | undefined;
  for (const child of children) {
    if (child.visits === 0 || !isPart(child)) continue;
    if (best === undefined || child.value > best.value) best = child;
  }
  return best;
}
