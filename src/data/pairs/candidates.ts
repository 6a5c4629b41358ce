import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import type { EndCounts } from '../paths.ts';
import { isPart, isRight } from '../record.ts';
import type { PairScore, PairSource } from './pair-rule.ts';

/** A text that may be a side of a pair. */
export interface Candidate<State, Action> {
  /** The node that stands for it. */
  readonly node: ChildNode<State, Action>;
  /** All nodes with this text, duplicates included. */
  readonly twins: readonly ChildNode<State, Action>[];
  /** The text without surrounding space; never empty. */
  readonly text: string;
  readonly score: number;
  /** The ends at and below all of its nodes. */
  readonly ends: EndCounts;
}

/** How candidates are read from nodes. */
export interface CandidateReading<State, Action> {
  readonly score: PairScore;
  readonly minVisits: number;
  readonly text: (node: ChildNode<State, Action>) => string;
  readonly ends: (node: ChildNode<State, Action>) => EndCounts;
}

/** The candidates among nodes, in the order in which their texts first occur. */
export function candidatesAmong<State, Action>(
  nodes: readonly ChildNode<State, Action>[],
  reading: CandidateReading<State, Action>,
): readonly Candidate<State, Action>[] {
  return [...byText(nodes, reading)].flatMap(([text, twins]) => {
    // A duplicate stands for nothing, but what was found below it was found with this text.
    const node = mostVisited(twins.filter(isPart));
    if (node === undefined || node.visits < reading.minVisits) return [];
    const ends = twins.length === 1 ? reading.ends(node) : sum(twins.map(reading.ends));
    const score = reading.score(node, ends);
    if (score === undefined || !Number.isFinite(score)) return [];
    return [{ node, twins, text, score, ends }];
  });
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
    if (twins !== undefined) twins.push(node);
    else if (own !== '') bundles.set(own, [node]);
  }
  return bundles;
}

/** Of equally visited ones the first. */
function mostVisited<State, Action>(
  nodes: readonly ChildNode<State, Action>[],
): ChildNode<State, Action> | undefined {
  let most: ChildNode<State, Action> | undefined;
  for (const node of nodes) if (most === undefined || node.visits > most.visits) most = node;
  return most;
}

function sum(counts: readonly EndCounts[]): EndCounts {
  return {
    right: counts.reduce((total, { right }) => total + right, 0),
    wrong: counts.reduce((total, { wrong }) => total + wrong, 0),
  };
}

/** The scored ends at and below each node itself. Duplicates and what has failed are none. */
export function countEnds<State, Action>(
  source: Pick<PairSource<State, Action>, 'correctFrom' | 'tree'>,
): (node: SearchNode) => EndCounts {
  const { tree } = source;
  const counts = Array.from({ length: tree.size }, () => ({ right: 0, wrong: 0 }));
  for (const node of tree.nodes()) {
    const right = isPart(node) ? isRight(source, node) : undefined;
    if (right === undefined) continue;
    for (let at: SearchNode<State, Action> | undefined = node; at !== undefined; at = at.parent) {
      const count = counts[at.id];
      if (count !== undefined) count[right ? 'right' : 'wrong'] += 1;
    }
  }
  return ({ id }) => counts[id] ?? { right: 0, wrong: 0 };
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
