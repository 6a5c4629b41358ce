import { expectation, expectFunction, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { isEnd } from '../record.ts';
import { type Candidate, keepLargest } from './candidates.ts';
import {
  checkFilters,
  type PairFilters,
  type PairRule,
  type PairSiblings,
  type PreferencePair,
  pairFilters,
} from './pair-rule.ts';

/** What matching looks at, besides where and by which score. */
export type MatchRule = Omit<PairRule, 'name' | 'nodes' | 'score'>;

/** Nodes whose texts answer the same prompt. */
export interface Family<State, Action> {
  readonly parent: SearchNode<State, Action>;
  readonly candidates: readonly Candidate<State, Action>[];
  readonly path: ReadonlySet<SearchNode<State, Action>>;
  readonly seed: number | string;
}

type Match<State, Action> = readonly [Candidate<State, Action>, Candidate<State, Action>];

/** The pairs among nodes that answer the same prompt, the best chosen one first. */
export function pairsAmong<State, Action>(
  family: Family<State, Action>,
  rule: MatchRule,
): readonly PreferencePair<State, Action>[] {
  const { candidates } = family;
  if (rule.ends === undefined) return closeFamily(family.parent, matches(family, rule), rule);
  const steps = candidates.filter(({ node }) => !isEnd(node));
  const ends = candidates.filter(({ node }) => isEnd(node));
  const matched = [
    ...matches({ ...family, candidates: steps }, rule),
    ...matches({ ...family, candidates: ends }, { ...rule, siblings: rule.ends }),
  ];
  return closeFamily(family.parent, matched, rule);
}

/** Turns the matches at one node into pairs. */
export function closeFamily<State, Action>(
  parent: SearchNode<State, Action>,
  matched: readonly Match<State, Action>[],
  { maxPairsPerNode, smoothing, weight }: MatchRule,
): readonly PreferencePair<State, Action>[] {
  const pairs = matched.map(([better, worse]) => ({
    parent,
    chosen: better.node,
    rejected: worse.node,
    chosenScore: better.score,
    rejectedScore: worse.score,
    margin: better.score - worse.score,
    chosenRight: hasRight(better),
    rejectedRight: hasRight(worse),
    labelSmoothing: smoothing === 'visits' ? smoothedByVisits(better.node, worse.node) : 0,
    weight: 1,
  }));
  const kept = keepLargest(pairs, maxPairsPerNode);
  if (weight !== 'share-of-node' || kept.length === 0) return kept;
  const sides = (side: 'chosen' | 'rejected') => new Set(kept.map((pair) => pair[side])).size;
  const share = 1 / (sides('chosen') * sides('rejected'));
  return kept.map((pair) => ({ ...pair, weight: share }));
}

/** Unknown if nothing below was judged, or if only right ends are known. */
function hasRight<State, Action>({ ends }: Candidate<State, Action>): boolean | undefined {
  if (ends.right > 0) return true;
  return ends.wrong > 0 ? false : undefined;
}

function smoothedByVisits(chosen: SearchNode, rejected: SearchNode): number {
  const confidence = 1 / (1 + rejected.visits / Math.max(1, chosen.visits));
  return Math.min(1 - confidence, 0.5);
}

function matches<State, Action>(
  family: Family<State, Action>,
  rule: MatchRule,
): readonly Match<State, Action>[] {
  // The sort is stable: of equal ones the first comes first.
  const ranked = family.candidates.toSorted((a, b) => b.score - a.score);
  const threshold = rule.threshold ?? (rule.siblings === 'all-above-below' ? 0.5 : undefined);
  const filters = threshold === undefined ? rule : { ...rule, threshold };
  const possible = ranked.length < 2 ? [] : matchers[rule.siblings](ranked, family.path);
  const passed = possible.filter(([better, worse]) => passes(better, worse, filters));
  if (rule.siblings !== 'best-vs-random' || passed.length < 2) return passed;
  const random = seededRandom(family.seed).split('pairs', family.parent.id);
  return passed.slice(random.integer(passed.length)).slice(0, 1);
}

/** Which of some ranked candidates are matched, where there are two or more. */
type Matcher = <State, Action>(
  ranked: readonly Candidate<State, Action>[],
  path: ReadonlySet<SearchNode<State, Action>>,
) => readonly Match<State, Action>[];

const againstAll: Matcher = (ranked) => product(ranked.slice(0, 1), ranked.slice(1));
const ordered: Matcher = (ranked) =>
  ranked.flatMap((better, place) => product([better], ranked.slice(place + 1)));

const matchers: Readonly<Record<PairSiblings, Matcher>> = {
  'all-above-below': ordered,
  'all-ordered': ordered,
  'best-vs-all': againstAll,
  'best-vs-random': againstAll,
  'best-vs-second': (ranked) => product(ranked.slice(0, 1), ranked.slice(1, 2)),
  'best-vs-worst': (ranked) => product(ranked.slice(0, 1), ranked.slice(-1)),
  'path-vs-all': (ranked, path) => product(onPath(ranked, path), ranked),
  'path-vs-worst': (ranked, path) => product(onPath(ranked, path), ranked.slice(-1)),
  'success-path-vs-siblings': (ranked) =>
    product(
      ranked.filter(({ ends }) => ends.right > 0),
      ranked.filter(({ ends }) => ends.right === 0),
    ),
};

/** Throws a usage error if the rule is invalid. */
export function checkRule(rule: PairRule): void {
  const own = 'nodes siblings ends score parts smoothing weight name title paper options';
  expectOptions('preferences', rule, `${pairFilters} ${own}`);
  if (typeof rule.name !== 'string' || rule.name === '') {
    throw expectation('name', 'a text that is not empty', rule.name);
  }
  expectFunction('score', rule.score);
  checkFilters(rule);
  expectOneOf('nodes', rule.nodes, ['all', 'path', 'right-path', 'success-path']);
  const siblings = Object.keys(matchers) as readonly PairSiblings[];
  expectOneOf('siblings', rule.siblings, siblings);
  if (rule.ends !== undefined) expectOneOf('ends', rule.ends, siblings);
}

function onPath<State, Action>(
  ranked: readonly Candidate<State, Action>[],
  path: ReadonlySet<SearchNode<State, Action>>,
): readonly Candidate<State, Action>[] {
  return ranked.filter(({ twins }) => twins.some((node) => path.has(node)));
}

function product<Item>(
  left: readonly Item[],
  right: readonly Item[],
): readonly (readonly [Item, Item])[] {
  return left.flatMap((one) => right.map((other) => [one, other] as const));
}

/** Whether the first of two different texts may be preferred to the second. */
export function passes<State, Action>(
  better: Candidate<State, Action>,
  worse: Candidate<State, Action>,
  filters: PairFilters,
): boolean {
  const { minMargin = 0, threshold, minEditDistance = 0, maxLengthRatio } = filters;
  if (!(better.score - worse.score > minMargin)) return false;
  if (threshold !== undefined && !(better.score > threshold && worse.score < threshold)) {
    return false;
  }
  return (
    hasOutcomes(better, worse, filters) &&
    isWithinRatio(better.text, worse.text, maxLengthRatio) &&
    isFarApart(better.text, worse.text, minEditDistance)
  );
}

function hasOutcomes<State, Action>(
  better: Candidate<State, Action>,
  worse: Candidate<State, Action>,
  { requireRight = false, requireMixedOutcome = false }: PairFilters,
): boolean {
  if ((requireRight || requireMixedOutcome) && better.ends.right === 0) return false;
  return !requireMixedOutcome || worse.ends.wrong > 0;
}

function isWithinRatio(one: string, other: string, most = Number.POSITIVE_INFINITY): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return long.length <= most * short.length;
}

function isFarApart(one: string, other: string, least: number): boolean {
  return least <= 0 || !isNear(one, other, least - 1);
}

/**
 * Whether the Levenshtein distance of two texts is at most `most`, in time proportional to their length.
 *
 * @see Ukkonen, "Algorithms for Approximate String Matching", 1985: how far a number of edits reaches on each
 * diagonal of the table.
 */
function isNear(one: string, other: string, most: number): boolean {
  const end = other.length - one.length;
  if (Math.abs(end) > most) return false;
  let reached = new Map<number, number>();
  for (let edits = 0; edits <= most; edits++) {
    const before = reached;
    const from = (diagonal: number): number => before.get(diagonal) ?? -1;
    reached = new Map();
    for (let diagonal = -edits; diagonal <= edits; diagonal++) {
      const next = Math.max(from(diagonal - 1), from(diagonal) + 1, from(diagonal + 1) + 1);
      reached.set(diagonal, endOfEqual(one, other, { place: next, diagonal }));
    }
    if (reached.get(end) === one.length) return true;
  }
  return false;
}

/** How far the texts are equal on a diagonal, from a place in the first one on. */
function endOfEqual(
  one: string,
  other: string,
  { place, diagonal }: { readonly place: number; readonly diagonal: number },
): number {
  const end = Math.min(one.length, other.length - diagonal);
  let at = Math.min(place, end);
  while (at < end && one.charCodeAt(at) === other.charCodeAt(at + diagonal)) at++;
  return at;
}
