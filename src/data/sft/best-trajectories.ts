import { contentAddress } from '../../base/canonical-json.ts';
import { expectInteger, expectOneOf } from '../../base/expect.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { knownValue } from '../../tree/selection.ts';
import { pathTo } from '../../tree/summary.ts';
import { choosePaths, type TreePath } from '../path-choice.ts';
import { pathCompletion } from '../path-completion.ts';
import { provenanceOf } from '../provenance.ts';
import { isEnd, isRight, promptAt, turnOf } from '../record.ts';
import type { RowRule, SftRow } from '../rows.ts';

/** Options of `sftRules.bestTrajectories`. */
export interface BestTrajectoriesOptions {
  /** k, how many paths of a problem, over all its trees: an integer from 1 up. @defaultValue 2, the paper's */
  readonly best?: number;
  /** What ranks them: the mean or the least Q of their steps. The other one breaks ties. @defaultValue `'mean'` */
  readonly by?: 'mean' | 'min';
  /** Whether a row is a whole path or one step of it. @defaultValue `'trajectory'` */
  readonly unit?: 'step' | 'trajectory';
}

interface Ranked<State, Action> extends TreePath<State, Action> {
  readonly nodes: readonly ChildNode<State, Action>[];
  readonly mean: number;
  readonly min: number;
}

/**
 * The best right paths of a problem. They are ranked by the mean of Q over their steps, or by the least Q; equal
 * ones by the other of the two, then by the order of the trees and of the nodes. Paths of equal text count once.
 *
 * As a trajectory, the score of a row is what it was ranked by. As a step, it is the Q of that step, its prompt is
 * that of the state before it, and a step that several paths share is one row.
 *
 * @see Guan et al., "rStar-Math: Small LLMs Can Master Math Reasoning with Self-Evolved Deep Thinking", 2025
 * (arXiv 2501.04519), section 3.4: the two right paths of the highest average Q.
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function bestTrajectories(options: BestTrajectoriesOptions = {}): RowRule<SftRow> {
  const { best = 2, by = 'mean', unit = 'trajectory' } = options;
  expectInteger('best', best, { min: 1 });
  expectOneOf('by', by, ['mean', 'min']);
  expectOneOf('unit', unit, ['trajectory', 'step']);
  const name = 'best-trajectories';
  return {
    name,
    kind: 'sft',
    *rows(trees) {
      const then = by === 'mean' ? 'min' : 'mean';
      const paths = choosePaths(trees, 'ends').filter(({ record, end }) => isRight(record, end));
      const ranked = paths
        .map(rank)
        .toSorted((one, other) => other[by] - one[by] || other[then] - one[then]);
      const kept = withoutTwins(ranked, wholeRow(name, by), best);
      if (unit === 'trajectory') yield* kept.map(({ row }) => row);
      else yield* stepsOf(name, kept);
    },
  };
}

function stepsOf<State, Action>(
  name: string,
  paths: readonly RowOf<Ranked<State, Action>>[],
): readonly SftRow[] {
  const steps = paths.flatMap(({ of: { record, nodes } }) =>
    nodes.map((node) => ({ record, node })),
  );
  return withoutTwins(steps, ({ record, node }) => ({
    kind: 'sft',
    prompt: promptAt(record, node.parent),
    ...(record.tools !== undefined && { tools: record.tools }),
    completion: [turnOf(record, node)],
    ends: isEnd(node),
    score: knownValue(node),
    weight: 1,
    provenance: provenanceOf(record, {
      rule: name,
      nodes: [node.parent, node],
      from: node.parent,
    }),
  })).map(({ row }) => row);
}

function wholeRow(name: string, by: 'mean' | 'min') {
  return <State, Action>(path: Ranked<State, Action>): SftRow => {
    const { record, end } = path;
    const { root } = record.tree;
    return {
      kind: 'sft',
      prompt: promptAt(record, root),
      ...(record.tools !== undefined && { tools: record.tools }),
      completion: pathCompletion(record, root, end),
      ends: true,
      score: path[by],
      weight: 1,
      provenance: provenanceOf(record, { rule: name, nodes: pathTo(end), from: root }),
    };
  };
}

function rank<State, Action>(path: TreePath<State, Action>): Ranked<State, Action> {
  const nodes = pathTo<State, Action>(path.end).filter(isChild);
  const qvalues = nodes.map(knownValue);
  const mean = qvalues.reduce((sum, qvalue) => sum + qvalue, 0) / qvalues.length;
  return { ...path, nodes, mean, min: qvalues.reduce((least, qvalue) => Math.min(least, qvalue)) };
}

interface RowOf<Source> {
  readonly of: Source;
  readonly row: SftRow;
}

/** The first of each set of rows with equal text, up to a limit. */
function withoutTwins<Source>(
  sources: readonly Source[],
  rowOf: (source: Source) => SftRow,
  limit: number = Number.POSITIVE_INFINITY,
): readonly RowOf<Source>[] {
  const kept = new Map<string, RowOf<Source>>();
  for (const source of sources) {
    if (kept.size >= limit) break;
    const row = rowOf(source);
    const key = contentAddress(JSON.stringify([row.prompt, row.completion]));
    if (!kept.has(key)) kept.set(key, { of: source, row });
  }
  return [...kept.values()];
}

function isChild<State, Action>(node: SearchNode<State, Action>): node is ChildNode<State, Action> {
  return node.kind !== 'root';
}
