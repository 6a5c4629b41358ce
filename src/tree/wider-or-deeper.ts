import { greatest } from '../base/stats/greatest.ts';
import type { Random } from '../contracts/context.ts';
import type { SearchNode } from '../contracts/node.ts';
import { notesOf } from './notes.ts';
import { type Belief, gaussianBelief } from './posterior.ts';
import { isClosed, type Selection, subtree } from './selection.ts';
import { promiseOf } from './summary.ts';
import type { SearchTree } from './tree.ts';

/**
 * Walks down from the cursor, and at each node decides between another child (wider) and going on from one that is
 * there (deeper), by one draw each from what is believed of the scores that it brought.
 *
 * - Wider: the scores of the children, each as often as it was generated.
 * - Deeper: the scores of all that is below the children; then the child with the highest draw from the scores of its
 *   subtree.
 *
 * A node without children is always made wider, and one that can get no other child never.
 *
 * @param belief - What is believed of scores. Default: {@link gaussianBelief}.
 * @see Inoue et al., "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching Tree Search", 2025
 * (arXiv 2503.04412), section 3.3.
 */
export function widerOrDeeper(belief: Belief = gaussianBelief()): Selection {
  return (tree, random) => {
    const draw = (nodes: Iterable<SearchNode>) => belief.draw(random, scores(nodes));
    let node = tree.cursor;
    if (isClosed(node)) return undefined;
    for (;;) {
      const { children, complete } = node;
      const deeper = children.filter(({ status, visits }) => status === 'open' && visits > 0);
      if (deeper.length === 0) return node;
      const below = children.flatMap((child) => [...subtree(child)].slice(1));
      if (!complete && draw(children) >= draw(below)) return node;
      node = deeper[greatest(deeper.map((child) => draw(subtree(child))))] ?? node;
    }
  };
}

/** The score of each node, as often as it counts: as it was generated, where nothing else is said. */
function* scores(
  nodes: Iterable<SearchNode>,
  times: (node: SearchNode) => number = endedAt,
): Generator<number> {
  for (const node of nodes) {
    for (let left = times(node); left > 0; left--) yield promiseOf(node, 1);
  }
}

/** How many simulations ended at a node. */
function endedAt({ visits, children }: SearchNode): number {
  return children.reduce((left, child) => left - child.visits, visits);
}

/** Arms to generate from, and which of them brought what. */
export interface Arms {
  /** The arm with the highest draw from the scores that it brought, wherever in the tree; `undefined` of none. */
  choose<State, Action>(tree: SearchTree<State, Action>, random: Random): string | undefined;
  /** Notes that an arm has generated a node once more. */
  note<State, Action>(
    tree: SearchTree<State, Action>,
    node: SearchNode<State, Action>,
    arm: string | undefined,
  ): void;
}

/** Chooses among arms, such as the models of `multiModel`, by Thompson sampling. What they brought is noted in the tree. */
export function thompsonArms(names: readonly string[], belief: Belief = gaussianBelief()): Arms {
  return {
    choose(tree, random) {
      const draw = (name: string) => belief.draw(random, scores(tree.nodes(), drawnFrom(name)));
      return names[greatest(names.map(draw))];
    },
    note(tree, node, arm) {
      if (arm === undefined) return;
      notes.write(tree, node, { ...notes.at(node), [arm]: drawnFrom(arm)(node) + 1 });
    },
  };
}

/** How often each arm has generated a node. */
const notes = notesOf<Readonly<Record<string, number>>>('arms');

function drawnFrom(arm: string): (node: SearchNode) => number {
  return (node) => notes.at(node)?.[arm] ?? 0;
}
