import { expectOptions } from '../base/expect-options.ts';
import { heuristic } from '../values/heuristic.ts';
import { listPolicy, type Problem } from './problem.ts';

/** A state of a {@link syntheticTree}. */
export interface SyntheticState {
  /** A 32-bit hash of the path to the state. */
  readonly hash: number;
  /** The number of actions taken. */
  readonly depth: number;
}

/**
 * A complete tree determined by hashes of paths: of any size, cheap, and without duplicates. Ends are rewarded with
 * their value, and values are uniform over [0, 1).
 */
export function syntheticTree(
  options: {
    /** The number of actions per state. @defaultValue 4 */
    readonly branching?: number;
    /** The depth of ends, in actions. @defaultValue 12 */
    readonly depth?: number;
    /** The seed of the tree: an integer. @defaultValue 1 */
    readonly seed?: number;
  } = {},
): Problem<SyntheticState, number> {
  expectOptions('syntheticTree', options, 'branching depth seed');
  const { branching = 4, depth = 12, seed = 1 } = options;
  const actions = Array.from({ length: branching }, (_, action) => action);
  return {
    environment: {
      name: 'synthetic-tree',
      reset: () => ({ state: { hash: seed >>> 0, depth: 0 } }),
      step(state, action) {
        const next = { hash: mix(state.hash, action), depth: state.depth + 1 };
        if (next.depth < depth) return { state: next };
        return { state: next, terminal: true, reward: worthOf(next) };
      },
      key: ({ hash, depth: taken }) => `${hash}/${taken}`,
      answer: (state) => (state.depth < depth ? undefined : state.hash),
    },
    policy: listPolicy((state) =>
      (state.depth < depth ? actions : []).map((action) => ({ action })),
    ),
    evaluator: heuristic(worthOf),
  };
}

function mix(hash: number, action: number): number {
  const mixed = Math.imul(hash ^ (action + 0x9e3779b9), 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

function worthOf({ hash }: SyntheticState): number {
  return (Math.imul(hash, 0xc2b2ae35) >>> 0) / 0x100000000;
}
