import { expectFunction, expectMethods, expectObjects } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { TreeRecord } from '../record.ts';
import { type Splice, type SpliceOptions, splicesOf } from './splices.ts';

/**
 * Tries all splices of some trees, one after another, in tree order. Rules are synchronous and free of effects, so this
 * runs beforehand: it returns the `verify` of `agentR` for the same options, which rejects splices that were not tried.
 */
export async function verifySplices<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
  options: SpliceOptions & {
    /**
     * Takes the actions of a splice in the state that its bad step led to, and tells whether they lead to a right end.
     * Errors are rethrown.
     */
    readonly replay: (state: State, splice: Splice<State, Action>) => MaybePromise<boolean>;
  },
): Promise<(splice: Splice) => boolean> {
  expectOptions('verifySplices', options, 'alpha beta maxSplices isWrong replay');
  const { replay } = options;
  expectFunction('replay', replay);
  expectObjects('trees', trees);
  for (const [place, { tree }] of trees.entries())
    expectMethods(`trees[${place}].tree`, tree, ['nodes']);
  const verified = new Map<unknown, Set<unknown>>();
  for (const record of trees) {
    for (const splice of splicesOf(record, options)) {
      const { bad, good } = splice;
      // Only a state that was reached can be judged or scored.
      if (!(await replay(bad.state as State, splice))) continue;
      const ends = verified.get(bad) ?? new Set();
      verified.set(bad, ends.add(good));
    }
  }
  return ({ bad, good }) => verified.get(bad)?.has(good) ?? false;
}
