import type { ChildNode } from '../../contracts/node.ts';
import type { EndCounts } from '../paths.ts';
import { isPart } from '../record.ts';
import type { PairScore } from './pair-rule.ts';

/** A text that may be a side of a pair. */
export interface Candidate<State, Action> {
  /** The node that represents it. */
  readonly node: ChildNode<State, Action>;
  /** All nodes with this text, duplicates included. */
  readonly twins: readonly ChildNode<State, Action>[];
  /** The text without surrounding space; never empty. */
  readonly text: string;
  readonly score: number;
  /** The ends that it leads to. */
  readonly ends: EndCounts;
}

/** How candidates are read from nodes. */
export interface CandidateReading<State, Action> {
  readonly score: PairScore;
  readonly minVisits: number;
  readonly text: (node: ChildNode<State, Action>) => string;
  /** The ends that a text leads to, by the node that represents it. */
  readonly ends: (node: ChildNode<State, Action>) => EndCounts;
}

/** The candidates among nodes, in the order in which their texts first occur. */
export function candidatesAmong<State, Action>(
  nodes: readonly ChildNode<State, Action>[],
  reading: CandidateReading<State, Action>,
): readonly Candidate<State, Action>[] {
  return [...byText(nodes, reading).values()].flatMap((twins) => {
    // A duplicate represents nothing, but the ends below it were found with this text.
    const node = mostVisited(twins.filter(isPart));
    return node === undefined ? [] : asCandidate(node, twins, reading);
  });
}

/** A node as a candidate; none if it says nothing, has too few visits or no finite score. */
export function asCandidate<State, Action>(
  node: ChildNode<State, Action>,
  twins: readonly ChildNode<State, Action>[],
  reading: CandidateReading<State, Action>,
): readonly Candidate<State, Action>[] {
  const text = reading.text(node).trim();
  if (text === '' || node.visits < reading.minVisits) return [];
  const ends = reading.ends(node);
  const score = reading.score(node, ends);
  return score === undefined || !Number.isFinite(score) ? [] : [{ node, twins, text, score, ends }];
}

function byText<State, Action>(
  nodes: readonly ChildNode<State, Action>[],
  { text }: CandidateReading<State, Action>,
): ReadonlyMap<string, readonly ChildNode<State, Action>[]> {
  const bundles = new Map<string, ChildNode<State, Action>[]>();
  for (const node of nodes) {
    if (node.status === 'failed') continue;
    const own = text(node).trim();
    const twins = bundles.get(own);
    if (twins === undefined) bundles.set(own, [node]);
    else twins.push(node);
  }
  return bundles;
}

/** The first of equally visited candidates. */
function mostVisited<State, Action>(
  nodes: readonly ChildNode<State, Action>[],
): ChildNode<State, Action> | undefined {
  let most: ChildNode<State, Action> | undefined;
  for (const node of nodes) if (most === undefined || node.visits > most.visits) most = node;
  return most;
}

/** The items with the largest margins, of equal ones the first, in the order in which they came. */
export function keepLargest<Item extends { readonly margin: number }>(
  items: readonly Item[],
  most: number = Number.POSITIVE_INFINITY,
): readonly Item[] {
  if (items.length <= most) return items;
  return items
    .map((item, place) => ({ item, place }))
    .toSorted((a, b) => b.item.margin - a.item.margin || a.place - b.place)
    .slice(0, most)
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** The items with the largest margins of each group, in the order in which they came. */
export function keepLargestAtEach<Item extends { readonly margin: number }>(
  groupOf: (item: Item) => number,
  items: readonly Item[],
  most: number = Number.POSITIVE_INFINITY,
): readonly Item[] {
  if (items.length <= most) return items;
  const groups = new Map<number, Item[]>();
  for (const item of items) {
    const group = groups.get(groupOf(item));
    if (group === undefined) groups.set(groupOf(item), [item]);
    else group.push(item);
  }
  const kept = new Set([...groups.values()].flatMap((group) => keepLargest(group, most)));
  return items.filter((item) => kept.has(item));
}
