import type { SearchNode } from '../contracts/node.ts';
import { expectFunction, wrongResult } from './expect.ts';

/** Checks the result of a user's goal function: a promise would count as true. */
export function expectGoal(goal: (node: SearchNode) => boolean): typeof goal {
  expectFunction('goal', goal);
  return (node) => {
    const isReached = goal(node);
    if (typeof isReached === 'boolean') return isReached;
    throw wrongResult('goal', isReached, { returns: 'true or false' });
  };
}
