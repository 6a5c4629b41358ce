import type { SearchNode } from '../../contracts/node.ts';

/** Whether a node is terminal with a positive reward or no reward. */
export function isGoal({ terminal, reward }: SearchNode): boolean {
  return terminal && (reward === undefined || reward > 0);
}
