import { expectInteger, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ChildNode } from '../../contracts/node.ts';
import { knownValue } from '../../tree/selection.ts';
import { pathTo } from '../../tree/summary.ts';
import { distinct, textOfRow } from '../distinct.ts';
import { choosePaths, type TreePath } from '../path-choice.ts';
import { pathCompletion } from '../path-completion.ts';
import { rowBase } from '../provenance.ts';
import { isEnd, isRight, stepsTo, turnOf } from '../record.ts';
import { rowRule } from '../row-rule.ts';
import type { RowRule, SftRow } from '../rows.ts';

interface Ranked<State, Action> extends TreePath<State, Action> {
  readonly nodes: readonly ChildNode<State, Action>[];
  readonly mean: number;
  readonly min: number;
}

/**
 * The best right paths of a problem. They are ranked by the mean or the minimum of Q over their steps; ties go by the
 * other of the two, then by the order of trees and nodes. Paths with equal text count once.
 *
 * For trajectories, the score of a row is its ranking value. For steps, it is the Q of the step, the prompt is that of
 * the previous state, and a step shared by several paths is one row.
 *
 * @see Guan et al., "rStar-Math: Small LLMs Can Master Math Reasoning with Self-Evolved Deep Thinking", 2025
 * (arXiv 2501.04519), section 3.4: the two right paths of the highest average Q.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function bestTrajectories(
  options: {
    /** k, the number of paths per problem, over all its trees: an integer from 1 up. @defaultValue 2, the paper's */
    readonly best?: number;
    /**
     * The ranking value: the mean or the minimum Q of their steps. The other one breaks ties. @defaultValue `'mean'`
     */
    readonly by?: 'mean' | 'min';
    /** Whether a row is a complete path or a single step. @defaultValue `'trajectory'` */
    readonly unit?: 'step' | 'trajectory';
  } = {},
): RowRule<SftRow> {
  expectOptions('bestTrajectories', options, 'best by unit');
  const { best = 2, by = 'mean', unit = 'trajectory' } = options;
  expectInteger('best', best, { min: 1 });
  expectOneOf('by', by, ['mean', 'min']);
  expectOneOf('unit', unit, ['trajectory', 'step']);
  return rowRule({
    name,
    kind: 'sft',
    title: 'the best right paths',
    paper: 'Guan et al., 2025, arXiv 2501.04519',
    options,
    *rows(trees) {
      const then = by === 'mean' ? 'min' : 'mean';
      const ranked = choosePaths(trees, 'ends')
        .filter(({ record, end }) => isRight(record, end))
        .map(rank)
        .toSorted((one, other) => other[by] - one[by] || other[then] - one[then]);
      const whole = [...distinct(wholeRows(ranked, by), ({ row }) => textOfRow(row), best)];
      if (unit === 'trajectory') yield* whole.map(({ row }) => row);
      else
        yield* distinct(
          whole.flatMap(({ path }) => stepRows(path)),
          textOfRow,
        );
    },
  });
}

const name = 'best-trajectories';

function* wholeRows<State, Action>(paths: readonly Ranked<State, Action>[], by: 'mean' | 'min') {
  for (const path of paths) {
    const { record, end } = path;
    const { root } = record.tree;
    const row: SftRow = {
      kind: 'sft',
      ...rowBase(record, { rule: name, nodes: pathTo(end), from: root }),
      completion: pathCompletion(record, root, end),
      ends: true,
      score: path[by],
      weight: 1,
    };
    yield { path, row };
  }
}

function stepRows<State, Action>({ record, nodes }: Ranked<State, Action>): readonly SftRow[] {
  return nodes.map((node) => ({
    kind: 'sft',
    ...rowBase(record, { rule: name, nodes: [node.parent, node], from: node.parent }),
    completion: [turnOf(record, node)],
    ends: isEnd(node),
    score: knownValue(node, record.tree),
    weight: 1,
  }));
}

function rank<State, Action>(path: TreePath<State, Action>): Ranked<State, Action> {
  const nodes = stepsTo(path.end);
  const qvalues = nodes.map((node) => knownValue(node, path.record.tree));
  const mean = qvalues.reduce((sum, qvalue) => sum + qvalue, 0) / qvalues.length;
  return { ...path, nodes, mean, min: qvalues.reduce((least, qvalue) => Math.min(least, qvalue)) };
}
