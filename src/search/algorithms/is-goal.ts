import { expectObject } from '../../base/expect.ts';
import type { SearchNode } from '../../contracts/node.ts';

/** Whether a node is terminal with a positive reward or no reward. */
export function isGoal(node: SearchNode): boolean {
  expectObject('node', node);
  const { terminal, reward } = node;
  return terminal && (reward === undefined || reward > 0);
}
