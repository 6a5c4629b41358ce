import type { SearchNode } from '../../contracts/node.ts';

/** Whether a node is an end that nothing speaks against: rewarded above 0, or not at all. */
export function isGoal({ terminal, reward }: SearchNode): boolean {
  return terminal && (reward === undefined || reward > 0);
}
