import { expectOptions } from '../base/expect-options.ts';
import { seededRandom } from '../base/random.ts';
import type { Random } from '../contracts/context.ts';
import { heuristic } from '../values/heuristic.ts';
import { listPolicy, type Problem } from './problem.ts';

/**
 * A tree of bandits: the end of each path has a fixed reward, 1 for one path and at most 0.6 for all others. The
 * evaluator is deceptive at first: the arms that lead to the best path look worst. The state is the list of arms pulled
 * so far.
 */
export function banditTree(
  options: {
    /** The number of arms per state. @defaultValue 3 */
    readonly arms?: number;
    /** The number of pulls until the end. @defaultValue 3 */
    readonly depth?: number;
    /** The seed of the tree. @defaultValue 0 */
    readonly seed?: number;
  } = {},
): Problem<readonly number[], number> & {
  /** The best path, with reward 1. */
  readonly best: readonly number[];
  /** v*(s) of any state: the reward of the best end below it. */
  value(state: readonly number[]): number;
} {
  expectOptions('banditTree', options, 'arms depth seed');
  const { arms = 3, depth = 3, seed = 0 } = options;
  const random = seededRandom(seed);
  const best = Array.from({ length: depth }, (_, place) => random.split(place).integer(arms));
  const pulls = Array.from({ length: arms }, (_, arm) => arm);
  const reward = (path: readonly number[]): number =>
    startsWith(best, path) ? 1 : 0.6 * drawAt(random, path);
  const value = (path: readonly number[]): number =>
    path.length === depth ? reward(path) : Math.max(...pulls.map((arm) => value([...path, arm])));

  return {
    best,
    value,
    environment: {
      name: 'bandit-tree',
      reset: () => ({ state: [] }),
      step(path, arm) {
        const state = [...path, arm];
        if (state.length < depth) return { state };
        return { state, terminal: true, reward: reward(state) };
      },
      key: (path) => path.join(''),
      answer: (path) => (path.length < depth ? undefined : path),
    },
    policy: listPolicy((path) => (path.length < depth ? pulls : []).map((action) => ({ action }))),
    evaluator: heuristic((path) =>
      startsWith(best, path) ? 0.1 : 0.2 + 0.3 * drawAt(random, path),
    ),
  };
}

function startsWith(path: readonly number[], start: readonly number[]): boolean {
  return start.every((arm, place) => path[place] === arm);
}

function drawAt(random: Random, path: readonly number[]): number {
  return random.split('value', ...path).next();
}
