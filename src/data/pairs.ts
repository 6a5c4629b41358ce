import type { ChildNode, SearchNode } from '../spec/node.ts';
import { pathTo } from '../tree/summary.ts';
import type { SearchTree } from '../tree/tree.ts';

/** Which siblings make a preference pair. */
export interface PairRule {
  /** What the rule is called in datasets, in kebab-case. */
  readonly name: string;
  /** At which nodes siblings are compared: along the path that was committed or found, or everywhere. */
  readonly nodes: 'all' | 'path';
  /** Which siblings: the best against the worst, the best against each other, or each against each worse one. */
  readonly siblings: 'all-ordered' | 'best-vs-all' | 'best-vs-worst';
  /** What they are compared by: the higher, the better; `undefined` for a node that is left out. */
  readonly score: (node: SearchNode) => number | undefined;
  /** By how much the chosen one is better: more than this, from 0 up. @defaultValue 0 */
  readonly minMargin?: number;
  /** How often both were visited at least: an integer from 0 up. @defaultValue 1 */
  readonly minVisits?: number;
}

/** Two actions in one state, of which one is better. */
export interface PreferencePair<State = unknown, Action = unknown> {
  /** Where both were proposed. */
  readonly parent: SearchNode<State, Action>;
  /** The better one. */
  readonly chosen: ChildNode<State, Action>;
  /** The worse one. */
  readonly rejected: ChildNode<State, Action>;
  /** What the better one scores. */
  readonly chosenScore: number;
  /** What the worse one scores. */
  readonly rejectedScore: number;
  /** By how much it is better: above 0. */
  readonly margin: number;
}

/**
 * The preference pairs in a finished tree, parents first and in the order of the children, so that equal trees
 * give equal pairs. Duplicates and children that have failed are no part of one.
 */
export function pairsOf<State, Action>(
  tree: SearchTree<State, Action>,
  rule: PairRule,
): readonly PreferencePair<State, Action>[] {
  const nodes = rule.nodes === 'all' ? tree.nodes() : pathTo(tree.best);
  return [...nodes].flatMap((parent) => pairsAt(parent, rule));
}

interface Scored<State, Action> {
  readonly node: ChildNode<State, Action>;
  readonly score: number;
}

function pairsAt<State, Action>(
  parent: SearchNode<State, Action>,
  { siblings, score, minMargin = 0, minVisits = 1 }: PairRule,
): readonly PreferencePair<State, Action>[] {
  const scored = parent.children.flatMap((node): readonly Scored<State, Action>[] => {
    const isOut = node.status === 'failed' || node.annotations['duplicateOf'] !== undefined;
    const own = isOut || node.visits < minVisits ? undefined : score(node);
    return own === undefined ? [] : [{ node, score: own }];
  });
  return match(scored, siblings).flatMap(([better, worse]) => {
    const margin = better.score - worse.score;
    if (!(margin > minMargin)) return [];
    return {
      parent,
      chosen: better.node,
      rejected: worse.node,
      chosenScore: better.score,
      rejectedScore: worse.score,
      margin,
    };
  });
}

function match<State, Action>(
  scored: readonly Scored<State, Action>[],
  siblings: PairRule['siblings'],
): readonly (readonly [Scored<State, Action>, Scored<State, Action>])[] {
  // The sort is stable: of equal ones the first child comes first.
  const ranked = scored.toSorted((a, b) => b.score - a.score);
  const [best] = ranked;
  const worst = ranked.at(-1);
  if (best === undefined || worst === undefined || best === worst) return [];
  switch (siblings) {
    case 'best-vs-worst':
      return [[best, worst]];
    case 'best-vs-all':
      return ranked.slice(1).map((worse) => [best, worse]);
    case 'all-ordered':
      return ranked.flatMap((better, place) =>
        ranked.slice(place + 1).map((worse) => [better, worse] as const),
      );
  }
}
