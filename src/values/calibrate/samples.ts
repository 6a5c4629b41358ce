import { expectFunction, expectIterable, expectNode } from '../../base/expect.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Labelled } from './auc.ts';

/**
 * Labelled scores from finished trees: each end labels itself and every valued node on its path, so that a node's
 * fraction of right labels is the fraction of right ends below it. Samples of one tree are one group. Ends merged into
 * a duplicate are left out.
 *
 * @param nodes - The nodes of one or more trees, all in one call, such as `trees.flatMap((tree) => [...tree.nodes()])`.
 * @param isCorrect - Whether an end is right; `undefined` if unknown, so that it labels nothing.
 */
export function labelledFrom<State, Action>(
  nodes: Iterable<SearchNode<State, Action>>,
  isCorrect: (end: SearchNode<State, Action>) => boolean | undefined,
): readonly Labelled[] {
  expectIterable('nodes', 'the nodes of trees, such as `[...tree.nodes()]`', nodes);
  expectFunction('isCorrect', isCorrect);
  const groups = new Map<SearchNode<State, Action>, number>();
  const labelled: Labelled[] = [];
  for (const end of nodes) {
    expectNode('nodes', end);
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
