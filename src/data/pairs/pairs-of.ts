import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';
import type { EndCounts } from '../paths.ts';
import { isRight, type TreeRecord } from '../record.ts';
import { candidatesAmong, countEnds, keepLargest } from './candidates.ts';
import { checkRule, pairsAmong } from './matching.ts';
import type { PairNodes, PairRule, PairSource, PreferencePair } from './pair-rule.ts';

/**
 * The preference pairs in a finished tree, parents in the order of their ids and at each one the best chosen child
 * first, so that equal trees give equal pairs.
 *
 * @throws EspalierError `usage` where the rule is none.
 */
export function pairsOf<State, Action>(
  source: Pick<TreeRecord<State, Action>, 'correctFrom' | 'notation' | 'tree'>,
  rule: PairRule,
): readonly PreferencePair<State, Action>[] {
  checkRule(rule);
  const { tree, notation } = source;
  const path = new Set<SearchNode<State, Action>>(pathTo(tree.best));
  const endsAt = countEnds(source);
  const reading = {
    score: rule.score,
    minVisits: rule.minVisits ?? 1,
    text: ({ action }: ChildNode<State, Action>) => notation.format(action),
    ends: endsAt,
  };
  const isChosen = chooser(source, rule.nodes, { path, endsAt });
  const pairs: PreferencePair<State, Action>[] = [];
  for (const parent of tree.nodes()) {
    if (parent.children.length < 2 || !isChosen(parent)) continue;
    const candidates = candidatesAmong(parent.children, reading);
    const family = { parent, candidates, path, seed: tree.origin.seed };
    for (const pair of pairsAmong(family, rule)) pairs.push(pair);
  }
  return keepLargest(pairs, rule.maxPairsPerTree);
}

function chooser<State, Action>(
  source: PairSource<State, Action>,
  nodes: PairNodes,
  {
    path,
    endsAt,
  }: {
    readonly endsAt: (node: SearchNode) => EndCounts;
    readonly path: ReadonlySet<SearchNode<State, Action>>;
  },
): (node: SearchNode<State, Action>) => boolean {
  switch (nodes) {
    case 'all':
      return () => true;
    case 'path':
      return (node) => path.has(node);
    case 'right-path': {
      const ends = isRight(source, source.tree.best) === true;
      return (node) => ends && path.has(node);
    }
    case 'success-path':
      return (node) => endsAt(node).right > 0;
  }
}
