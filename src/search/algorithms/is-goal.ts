import { expectation, expectFunction } from '../../base/expect.ts';
import type { SearchNode } from '../../contracts/node.ts';

/** Whether a node is an end that nothing speaks against: rewarded above 0, or not at all. */
export function isGoal({ terminal, reward }: SearchNode): boolean {
  return terminal && (reward === undefined || reward > 0);
}

/** A goal of a user's, checked: a promise would count as true. */
export function checkedGoal(goal: (node: SearchNode) => boolean): typeof goal {
  expectFunction('goal', goal);
  return (node) => {
    const isReached = goal(node);
    if (typeof isReached === 'boolean') return isReached;
    throw expectation('goal', 'a function that returns true or false', isReached);
  };
}
