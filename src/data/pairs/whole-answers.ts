import { expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { bestOfEqual, keyOfTurns } from '../distinct.ts';
import { pathCompletion, stepsOf } from '../path-completion.ts';
import { type EndCounts, pathsIn } from '../paths.ts';
import { isEnd, isRight, turnOf } from '../record.ts';
import type { PreferenceRow, RowRule } from '../rows.ts';
import { asCandidate, type Candidate, candidatesAmong, keepLargest } from './candidates.ts';
import { closeFamily, type MatchRule, pairsAmong, passes } from './matching.ts';
import {
  checkFilters,
  type PairFilters,
  type PairSiblings,
  type PairSource,
  type PreferencePair,
} from './pair-rule.ts';
import { pairRows } from './preferences.ts';

/** Options of the rules for complete answers and paths. */
export interface WholeFilters extends Omit<PairFilters, 'maxPairsPerNode' | 'perDepth'> {
  /**
   * What makes one better than the other: a right against a wrong end, or the scores alone.
   *
   * @defaultValue 'outcome'
   */
  readonly by?: 'outcome' | 'score';
  /** The minimum visits of both sides: an integer from 0 up. @defaultValue 0 */
  readonly minVisits?: number;
}

const wholeFilters =
  'by minMargin minVisits threshold requireRight requireMixedOutcome minEditDistance maxLengthRatio maxPairsPerTree maxPairsPerProblem';

const paths: readonly PairSiblings[] = [
  'all-above-below',
  'all-ordered',
  'best-vs-all',
  'best-vs-random',
  'best-vs-worst',
];

/**
 * Complete paths: the right end with the highest score, ties going to the shortest path, against each wrong end; or by
 * the scores of the ends alone. The prompt is that of the root, each side a complete path.
 *
 * @see Song et al., "Trial and Error: Exploration-Based Trajectory Optimization for LLM Agents", 2024
 * (arXiv 2403.02502), for pairs of whole trajectories.
 */
export function trajectory(
  options: WholeFilters & {
    /**
     * Which paths of a tree are paired: like siblings, by the score of their ends, ties going to the shortest.
     *
     * @defaultValue 'best-vs-all'
     */
    readonly paths?:
      | 'all-above-below'
      | 'all-ordered'
      | 'best-vs-all'
      | 'best-vs-random'
      | 'best-vs-worst';
  } = {},
): RowRule<PreferenceRow> {
  expectOptions('trajectory', options, `${wholeFilters} paths`);
  const rule = { ...wholeRule(options), siblings: options.paths ?? 'best-vs-all' };
  expectOneOf('paths', rule.siblings, paths);
  const info = {
    name: 'trajectory',
    title: 'whole paths: right against wrong',
    paper: 'Song et al., 2024, arXiv 2403.02502',
    options,
  };
  return pairRows(info, {
    maxPairsPerProblem: options.maxPairsPerProblem,
    pairs: (record) => pathPairs(record, rule),
    completion: pathCompletion,
  });
}

/**
 * SPaR: in a tree of complete answers, the best refinement of a first answer against that first answer, both for the
 * prompt of the root. The refinement must be right and the first answer wrong, unless `by` is `'score'`. First answers
 * are the children of the root.
 *
 * Difference from the paper: its tree starts from a single wrong answer; here each first answer has a pair.
 *
 * @see Cheng et al., "SPaR: Self-Play with Tree-Search Refinement to Improve Instruction-Following in Large
 * Language Models", 2024 (arXiv 2412.11605).
 */
export function spar(
  options: WholeFilters & {
    /**
     * Which refinement is chosen among those better than the original: the one with the highest score, ties going to
     * the last, or the last one made.
     *
     * @defaultValue 'best'
     */
    readonly chosen?: 'best' | 'last';
  } = {},
): RowRule<PreferenceRow> {
  expectOptions('spar', options, `${wholeFilters} chosen`);
  const { chosen = 'best' } = options;
  const rule = wholeRule(options);
  expectOneOf('chosen', chosen, ['best', 'last']);
  const info = {
    name: 'spar',
    title: 'the best refinement of an answer against the answer',
    paper: 'Cheng et al., 2024, arXiv 2412.11605',
    options,
  };
  return pairRows(info, {
    maxPairsPerProblem: options.maxPairsPerProblem,
    pairs: (record) => refinements(record, rule, chosen),
    completion: (record, _from, node) => [turnOf(record, node)],
  });
}

function wholeRule(options: WholeFilters): MatchRule {
  const { by = 'outcome', minVisits = 0 } = options;
  checkFilters(options);
  expectOneOf('by', by, ['outcome', 'score']);
  const requireMixedOutcome = by === 'outcome' || options.requireMixedOutcome === true;
  // One side of every pair answers the root: the cap of a node would be that of the tree.
  return { ...options, siblings: 'all-ordered', minVisits, requireMixedOutcome };
}

function pathPairs<State, Action>(
  source: PairSource<State, Action>,
  rule: MatchRule,
): readonly PreferencePair<State, Action>[] {
  const { tree, notation } = source;
  const parted = notation.delimiter ?? '\n';
  const ends = pathsIn(source)
    .to(isEnd)
    .toSorted((a, b) => a.depth - b.depth || a.id - b.id);
  const reading = {
    ...outcomes(source, rule),
    text: (node: ChildNode<State, Action>) => stepsOf(source, node).join(parted),
  };
  // The same steps are two paths where a tool answered them in two ways, and the rows show it.
  const unlike = bestOfEqual(
    ends,
    (node) => keyOfTurns(pathCompletion(source, tree.root, node)),
    ({ visits }) => visits,
  );
  const candidates = unlike.flatMap((node) => asCandidate(node, [node], reading));
  const family = { parent: tree.root, candidates, path: nowhere, seed: tree.origin.seed };
  return keepLargest(pairsAmong(family, rule), rule.maxPairsPerTree);
}

const nowhere: ReadonlySet<never> = new Set();

function refinements<State, Action>(
  source: PairSource<State, Action>,
  rule: MatchRule,
  chosen: 'best' | 'last',
): readonly PreferencePair<State, Action>[] {
  const { tree, notation } = source;
  const reading = {
    ...outcomes(source, rule),
    text: ({ action }: ChildNode<State, Action>) => notation.format(action),
  };
  const below = byOriginal(source);
  const originals = candidatesAmong([...below.keys()], reading);
  const matched = originals.flatMap((original) => {
    const refined = original.twins.flatMap((twin) => below.get(twin) ?? []);
    const better = candidatesAmong(refined, reading).filter(
      (candidate) => candidate.text !== original.text && passes(candidate, original, rule),
    );
    const final = better.reduce<Candidate<State, Action> | undefined>(
      (best, next) =>
        best === undefined || chosen === 'last' || next.score >= best.score ? next : best,
      undefined,
    );
    return final === undefined ? [] : [[final, original] as const];
  });
  return keepLargest(closeFamily(tree.root, matched, rule), rule.maxPairsPerTree);
}

/** The first answers, each with the answers below it in the order of their ids. */
function byOriginal<State, Action>({
  tree,
}: PairSource<State, Action>): ReadonlyMap<
  ChildNode<State, Action>,
  readonly ChildNode<State, Action>[]
> {
  const below = new Map<ChildNode<State, Action>, ChildNode<State, Action>[]>();
  const origins: (ChildNode<State, Action> | undefined)[] = [];
  for (const node of tree.nodes()) {
    if (node.kind === 'root') continue;
    const origin = node.parent.kind === 'root' ? node : origins[node.parent.id];
    origins[node.id] = origin;
    if (origin === undefined || !isEnd(node)) continue;
    if (origin === node) below.set(node, []);
    else below.get(origin)?.push(node);
  }
  return below;
}

/** Scores and outcomes of the ends themselves, regardless of the nodes below them. */
function outcomes<State, Action>(
  source: PairSource<State, Action>,
  { minVisits = 0 }: MatchRule,
): {
  readonly minVisits: number;
  readonly score: (node: SearchNode) => number | undefined;
  readonly ends: (node: ChildNode<State, Action>) => EndCounts;
} {
  const { tree } = source;
  return {
    minVisits,
    // How late an answer was found makes it no worse.
    score: (node) => tree.score(node as SearchNode<State, Action>, 1),
    ends: (node) => {
      const right = isRight(source, node);
      return { right: right === true ? 1 : 0, wrong: right === false ? 1 : 0 };
    },
  };
}
