import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';
import { type EndCounts, type Paths, pathsIn } from '../paths.ts';
import { isEnd, isRight, type TreeRecord } from '../record.ts';
import { candidatesAmong, keepLargest } from './candidates.ts';
import { checkRule, pairsAmong } from './matching.ts';
import type { PairNodes, PairRule, PairSource, PreferencePair } from './pair-rule.ts';

/**
 * The preference pairs of a finished tree, in the order of parent ids and with the best chosen child of each first, so
 * that equal trees give equal pairs.
 *
 * @throws EspalierError `usage` for an invalid rule.
 */
export function pairsOf<State, Action>(
  source: Pick<TreeRecord<State, Action>, 'correctFrom' | 'notation' | 'tree'>,
  rule: PairRule,
): readonly PreferencePair<State, Action>[] {
  checkRule(rule);
  const { tree, notation } = source;
  const paths = pathsIn(source);
  const path = new Set<SearchNode<State, Action>>(pathTo(tree.best));
  const reading = {
    score: (node: SearchNode, ends: EndCounts) =>
      rule.score(node, { ...ends, discount: tree.discount }),
    minVisits: rule.minVisits ?? 1,
    text: ({ action }: ChildNode<State, Action>) => notation.format(action),
    ends: paths.endsAt,
  };
  const isChosen = chooser(source, rule.nodes, paths);
  const pairs: PreferencePair<State, Action>[] = [];
  for (const parent of tree.nodes()) {
    if (paths.placeOf(parent) !== parent) continue;
    const siblings = paths.below(parent);
    if (siblings.length < 2 || !isChosen(parent)) continue;
    const candidates = candidatesAmong(siblings, reading);
    const family = { parent, candidates, path, seed: tree.origin.seed };
    for (const pair of pairsAmong(family, rule)) pairs.push(pair);
  }
  return keepLargest(pairs, rule.maxPairsPerTree);
}

/** Whether a rule asks at a place. */
function chooser<State, Action>(
  source: PairSource<State, Action>,
  nodes: PairNodes,
  { placeOf, to }: Paths<State, Action>,
): (place: SearchNode<State, Action>) => boolean {
  const { best } = source.tree;
  // At the end of a path nothing is chosen, even where steps were tried below it, or an equal step goes on.
  const placesTo = (end: SearchNode<State, Action>) => pathTo(end).slice(0, -1).map(placeOf);
  const path = new Set(placesTo(best));
  switch (nodes) {
    case 'all':
      return () => true;
    case 'path':
      return (place) => path.has(place);
    case 'right-path': {
      const ends = isRight(source, best) === true;
      return (place) => ends && path.has(place);
    }
    case 'success-path': {
      const right = to(isEnd).filter((end) => isRight(source, end));
      const ways = new Set(right.flatMap(placesTo));
      return (place) => ways.has(place);
    }
  }
}
