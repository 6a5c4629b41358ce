import { EspalierError } from '../../base/errors.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { type Paths, pathsIn } from '../paths.ts';
import type { TreeRecord } from '../record.ts';
import type { LabelledStep } from '../rows.ts';

/** The labels that a rule gives a step. */
export type StepLabel = Omit<LabelledStep, 'text'>;

/**
 * MC(s), the share of right ends among the scored ends at and below a node, in [0, 1]; `undefined` without any.
 *
 * @param source - `ends` counts ends. `evaluation` uses the evaluation of the step, the mean over all nodes with that
 * step, falling back to counting. Default: `ends` if the tree has all ends, `evaluation` if it has only the right ones.
 * @throws EspalierError `usage` for `ends` if the tree lacks the wrong ones.
 * @see Wang et al., "Math-Shepherd: Verify and Reinforce LLMs Step-by-step without Human Annotations", 2023,
 * section 3.3, equations 2 and 3.
 */
export function monteCarlo<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'correctFrom' | 'ends' | 'notation' | 'problem' | 'tree'>,
  source: 'ends' | 'evaluation' | undefined,
): (node: SearchNode<State, Action>) => number | undefined {
  const { ends = 'all', problem } = record;
  if (ends === 'right') {
    if (source === 'ends') {
      throw new EspalierError(
        'usage',
        `Expected \`from\` to be \`evaluation\`, got \`ends\`: the tree of ${problem} holds the right ends only, of which every share is 1.`,
      );
    }
  }
  const paths = pathsIn(record);
  const evaluation = evaluationsIn(record.tree.root, paths);
  if (ends === 'right') return evaluation;
  return (node) => {
    const estimated = source === 'evaluation' ? evaluation(node) : undefined;
    if (estimated !== undefined) return estimated;
    const { right, wrong } = paths.endsAt(node);
    return right + wrong === 0 ? undefined : right / (right + wrong);
  };
}

/** The evaluation of the step of a node, as one prefix has one: of all nodes that are that step, by their samples. */
function evaluationsIn<State, Action>(
  root: SearchNode<State, Action>,
  { nodes, stepOf }: Paths<State, Action>,
): (node: SearchNode<State, Action>) => number | undefined {
  const known: { mean: number; samples: number }[] = [];
  for (const node of [root, ...nodes]) {
    if (node.rawValue === undefined) continue;
    const { id } = stepOf(node);
    const samples = Math.max(1, node.evaluations.length);
    const step = known[id] ?? { mean: node.rawValue, samples: 0 };
    known[id] = step;
    step.samples += samples;
    // Equal values stay unchanged, to the last digit.
    step.mean += ((node.rawValue - step.mean) * samples) / step.samples;
  }
  return (node) => known[stepOf(node).id]?.mean;
}

/** The label of a step by the share alone. */
export function shareLabel(value: number | undefined): StepLabel | undefined {
  if (value === undefined) return undefined;
  return { value, label: value > 0, rating: value > 0 ? 1 : -1 };
}
