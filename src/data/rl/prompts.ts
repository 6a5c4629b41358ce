import { expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { mean } from '../../base/stats/mean.ts';
import { knownValue } from '../../tree/selection.ts';
import { pathsIn } from '../paths.ts';
import { rowBase } from '../provenance.ts';
import { promptAt, type TreeRecord } from '../record.ts';
import { rowRule } from '../row-rule.ts';
import type { PromptRow, RowRule } from '../rows.ts';

/**
 * The prompts of the problems, with their difficulty for the search. Trees with equal prompts make one row: V is the
 * mean over their roots, the solve rate is over all their scored ends, and the rest is from the first tree. For trees
 * with only the right ends, the solve rate is the evaluation of the root.
 *
 * The right answer is in a separate column, for a reward function, never in the prompt.
 *
 * @throws EspalierError `usage` if an option is out of range.
 */
export function prompts(
  options: {
    /** The least share of right ends: in [0, 1]. @defaultValue 0 */
    readonly minSolveRate?: number;
    /** The greatest share of right ends: from `minSolveRate` to 1. @defaultValue 1 */
    readonly maxSolveRate?: number;
  } = {},
): RowRule<PromptRow> {
  expectOptions('prompts', options, 'minSolveRate maxSolveRate');
  const { minSolveRate = 0, maxSolveRate = 1 } = options;
  expectNumber('minSolveRate', minSolveRate, { min: 0, max: 1 });
  expectNumber('maxSolveRate', maxSolveRate, { min: minSolveRate, max: 1 });
  return rowRule({
    name: 'prompts',
    title: 'the problems alone, with their answers',
    options,
    kind: 'prompt',
    *rows<State, Action>(trees: readonly TreeRecord<State, Action>[]): Generator<PromptRow> {
      const byPrompt = new Map<string, TreeRecord<State, Action>[]>();
      for (const record of trees) {
        const key = JSON.stringify(promptAt(record, record.tree.root));
        byPrompt.set(key, [...(byPrompt.get(key) ?? []), record]);
      }
      for (const equal of byPrompt.values()) {
        const row = rowOf(equal);
        if (row === undefined) continue;
        if (row.solveRate >= minSolveRate && row.solveRate <= maxSolveRate) yield row;
      }
    },
  });
}

function rowOf<State, Action>(trees: readonly TreeRecord<State, Action>[]): PromptRow | undefined {
  const [first] = trees;
  if (first === undefined) return undefined;
  const { root } = first.tree;
  const values = trees.map(({ tree }) => knownValue(tree.root));
  return {
    kind: 'prompt',
    ...rowBase(first, { rule: 'prompts', nodes: [root], from: root }),
    answer: trees.find(({ answer }) => answer !== undefined)?.answer ?? '',
    value: mean(values),
    solveRate: solveRateOf(trees),
  };
}

function solveRateOf<State, Action>(trees: readonly TreeRecord<State, Action>[]): number {
  const estimates = trees.flatMap(({ ends, tree: { root } }) =>
    ends === 'right' && root.rawValue !== undefined ? [root.rawValue] : [],
  );
  if (estimates.length > 0) return mean(estimates);
  const ends = trees.map((record) => pathsIn(record).endsAt(record.tree.root));
  const right = ends.reduce((sum, count) => sum + count.right, 0);
  const scored = ends.reduce((sum, count) => sum + count.right + count.wrong, 0);
  return scored === 0 ? 0 : right / scored;
}
