import { expectFunction } from '../../base/expect.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Labelled } from './auc.ts';

/**
 * Labelled scores from finished trees: each end that was reached labels itself and every node on the way to it, as far
 * as they were valued, so that a node's share of right labels is the share of right ends found below it. Those of one
 * tree are one group. Ends whose duplicate was kept are left out.
 *
 * @param nodes - The nodes of one or more trees, all in one call, such as `trees.flatMap((tree) => [...tree.nodes()])`.
 * @param isCorrect - Whether an end is right; `undefined` where nobody knows, and then it labels nothing.
 */
export function labelledFrom<State, Action>(
  nodes: Iterable<SearchNode<State, Action>>,
  isCorrect: (end: SearchNode<State, Action>) => boolean | undefined,
): readonly Labelled[] {
  expectFunction('isCorrect', isCorrect);
  const groups = new Map<SearchNode<State, Action>, number>();
  const labelled: Labelled[] = [];
  for (const end of nodes) {
    if (!end.terminal || end.status === 'pruned') continue;
    const correct = isCorrect(end);
    if (correct === undefined) continue;
    const path = [end];
    for (let at = end.parent; at !== undefined; at = at.parent) path.push(at);
    const root = path.at(-1) ?? end;
    const group = groups.get(root) ?? groups.size;
    groups.set(root, group);
    for (const { rawValue } of path) {
      if (rawValue !== undefined) labelled.push({ score: rawValue, correct, group });
    }
  }
  return labelled;
}
