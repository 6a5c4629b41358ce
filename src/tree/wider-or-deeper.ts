import type { Random } from '../contracts/context.ts';
import type { SearchNode } from '../contracts/node.ts';
import { notesOf } from './notes.ts';
import { type Belief, gaussianBelief, type Moments, merged, unseen } from './posterior.ts';
import { named } from './rules.ts';
import { endedAt, isClosed, ownReturn, type Selection, type TreeView } from './selection.ts';
import { promiseOf } from './summary.ts';
import type { SearchTree } from './tree.ts';

/**
 * Walks down from the cursor and decides at each node between another child (wider) and an existing one (deeper), by
 * one draw each from the belief about its scores.
 *
 * - Wider: the scores of the children, counted as often as each was generated.
 * - Deeper: the scores of everything below the children; then the child with the highest draw from the scores of its
 *   subtree.
 *
 * A node without children is always widened; one that can get no other child never is.
 *
 * @param belief - The belief about scores. Default: {@link gaussianBelief}.
 * @see Inoue et al., "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching Tree Search", 2025
 * (arXiv 2503.04412), section 3.3.
 */
export function widerOrDeeper(belief: Belief = gaussianBelief()): Selection {
  const { explain } = belief;
  const select = <State, Action>(
    { cursor, discount = 1 }: TreeView<State, Action>,
    random: Random,
  ): SearchNode<State, Action> | undefined => {
    const draw = (seen: Moments) => belief.draw(random, seen);
    let node = cursor;
    if (isClosed(node)) return undefined;
    for (;;) {
      const children: readonly SearchNode<State, Action>[] = node.children;
      const deeper = children.filter(({ status, visits }) => status === 'open' && visits > 0);
      if (deeper.length === 0) return node;
      const seen = (part: 'own' | 'below') =>
        all(children.map((child) => tallyOf(child, discount)[part]));
      if (!node.complete && draw(seen('own')) >= draw(seen('below'))) return node;
      node = highest(deeper, (child) => draw(tallyOf(child, discount).whole)) ?? node;
    }
  };
  const reasons = explain && {
    explain: (_parent: SearchNode, discount: number) => (child: SearchNode) =>
      explain(tallyOf(child, discount).whole),
  };
  return named('widerOrDeeper', { belief }, Object.assign(select, reasons));
}

/** The first of the items with the highest number. What is none comes last. */
function highest<Item>(items: readonly Item[], draw: (item: Item) => number): Item | undefined {
  let [best, most] = [items[0], Number.NEGATIVE_INFINITY];
  for (const item of items) {
    const own = draw(item);
    if (own > most) [best, most] = [item, own];
  }
  return best;
}

/** The scores of a node and of all below it, each as often as it counts: as it was generated, or as an arm generated it. */
interface Tally {
  /** What it holds for: as long as these stand, nothing below has changed either. */
  readonly of: { readonly visits: number; readonly value: number; readonly discount: number };
  readonly score: number;
  readonly own: Moments;
  readonly below: Moments;
  readonly whole: Moments;
  /** What each arm brought. */
  readonly arms: ReadonlyMap<string, Moments>;
}

/** A simulation adds to the tallies on its path only: to count whole subtrees at each draw takes the square of the time. */
const known = new WeakMap<SearchNode, Tally>();

/** The stack is explicit, because paths may be long. */
function tallyOf(top: SearchNode, discount: number): Tally {
  const kept = fresh(top, discount);
  if (kept !== undefined) return kept;
  const stale: SearchNode[] = [];
  const stack = [top];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    stale.push(node);
    for (const child of node.children) {
      if (fresh(child, discount) === undefined) stack.push(child);
    }
  }
  let tally: Tally | undefined;
  for (const node of stale.reverse()) {
    tally = counted(node, discount);
    known.set(node, tally);
  }
  return tally ?? counted(top, discount);
}

function fresh(node: SearchNode, discount: number): Tally | undefined {
  const tally = known.get(node);
  if (tally?.of.visits !== node.visits || tally.of.discount !== discount) return undefined;
  return tally.of.value === ownReturn(node, discount) ? tally : undefined;
}

/** The tally of a node from those of its children. */
function counted(node: SearchNode, discount: number): Tally {
  const { visits, children } = node;
  const of = { visits, value: ownReturn(node, discount), discount };
  const before = known.get(node);
  const isKept = before?.of.value === of.value && before.of.discount === discount;
  const score = isKept ? before.score : promiseOf(node, discount);
  const times = (count: number) => ({ count: Math.max(0, count), mean: score, squares: 0 });
  const tallies = children.map((child) => tallyOf(child, discount));
  const below = all(tallies.map(({ whole }) => whole));
  const own = times(endedAt(node));
  const arms = new Map<string, Moments>();
  const add = (arm: string, seen: Moments) => arms.set(arm, merged(arms.get(arm) ?? unseen, seen));
  for (const arm of Object.keys(notes.at(node) ?? {})) add(arm, times(drawn(node, arm)));
  for (const tally of tallies) for (const [arm, seen] of tally.arms) add(arm, seen);
  return { of, score, own, below, whole: merged(own, below), arms };
}

function all(moments: readonly Moments[]): Moments {
  return moments.reduce(merged, unseen);
}

/** Arms to generate from, and the scores of each. */
export interface Arms {
  /** The arm with the highest draw from its scores across the tree; `undefined` without arms. */
  choose<State, Action>(tree: SearchTree<State, Action>, random: Random): string | undefined;
  /** Records that an arm has generated a node. */
  note<State, Action>(
    tree: SearchTree<State, Action>,
    node: SearchNode<State, Action>,
    arm: string | undefined,
  ): void;
}

/**
 * Chooses among arms, such as the models of `multiModel`, by Thompson sampling. Their scores are stored in the tree.
 */
export function thompsonArms(names: readonly string[], belief: Belief = gaussianBelief()): Arms {
  return {
    choose(tree, random) {
      if (names.length === 0) return undefined;
      const { arms } = tallyOf(tree.root, tree.discount);
      return highest(names, (name) => belief.draw(random, arms.get(name) ?? unseen));
    },
    note(tree, node, arm) {
      if (arm === undefined) return;
      notes.write(tree, node, { ...notes.at(node), [arm]: drawn(node, arm) + 1 });
      for (let at: SearchNode | undefined = node; at !== undefined; at = at.parent)
        known.delete(at);
    },
  };
}

/** How often each arm has generated a node. */
const notes = notesOf<Readonly<Record<string, number>>>('arms');

/** A saved tree may hold anything there. */
function drawn(node: SearchNode, arm: string): number {
  const times: unknown = notes.at(node)?.[arm];
  return typeof times === 'number' ? times : 0;
}
