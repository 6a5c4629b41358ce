import { EspalierError } from '../../base/errors.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { questionAt, stepText } from '../../prompting/solution.ts';
import { type EndCounts, pathsIn } from '../paths.ts';
import type { TreeRecord } from '../record.ts';
import type { LabelledStep } from '../rows.ts';

/** The labels that a rule gives a step. */
export type StepLabel = Omit<LabelledStep, 'text'>;

/** A number of the step of a node: the same for nodes of the trees of a problem whose rows show the same up to there. */
export type StepNumbers<State, Action> = (
  record: TreeRecord<State, Action>,
) => (node: SearchNode<State, Action>) => number;

/** Numbers the steps of the trees of a problem. Those of one tree are what {@link pathsIn} says. */
export function stepNumbers<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
): StepNumbers<State, Action> {
  const [only] = trees;
  if (only !== undefined && trees.length === 1) {
    const { stepOf } = pathsIn(only);
    return () => (node) => stepOf(node).id;
  }
  const known = new Map<string, number>();
  const numberOf = (text: string) => {
    const number = known.get(text) ?? known.size;
    known.set(text, number);
    return number;
  };
  const numbers = new Map(
    trees.map((record) => {
      const { notation, tree } = record;
      const own: number[] = [];
      own[tree.root.id] = numberOf(questionAt(notation, tree.root));
      for (const node of pathsIn(record).nodes) {
        own[node.id] = numberOf(`${own[node.parent.id]} ${stepText(notation, node).trim()}`);
      }
      return [record, own];
    }),
  );
  return (record) => (node) => numbers.get(record)?.[node.id] ?? -1;
}

/**
 * MC(s), the share of right ends among the scored ends at and below a node, in [0, 1], over all trees of a problem;
 * `undefined` without any.
 *
 * @param source - `ends` counts ends. `evaluation` uses the evaluation of the step, the mean over all nodes with that
 * step, falling back to counting. Default: `ends` if a tree has all ends, `evaluation` if it has only the right ones.
 * @throws EspalierError `usage` for `ends` if a tree lacks the wrong ones.
 * @see Wang et al., "Math-Shepherd: Verify and Reinforce LLMs Step-by-step without Human Annotations", 2023,
 * section 3.3, equations 2 and 3.
 */
export function monteCarlo<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
  numbers: StepNumbers<State, Action>,
  source: 'ends' | 'evaluation' | undefined,
): (record: TreeRecord<State, Action>, node: SearchNode<State, Action>) => number | undefined {
  const partial = trees.find(({ ends }) => ends === 'right');
  if (partial !== undefined && source === 'ends') {
    throw new EspalierError(
      'usage',
      `Expected \`from\` to be \`evaluation\`, got \`ends\`: the tree of ${partial.problem} holds the right ends only, of which every share is 1.`,
    );
  }
  const evaluations = evaluationsIn(trees, numbers);
  const counts = endsIn(trees, numbers);
  return (record, node) => {
    const step = numbers(record)(node);
    if (record.ends === 'right') return evaluations[step]?.mean;
    const estimated = source === 'evaluation' ? evaluations[step]?.mean : undefined;
    if (estimated !== undefined) return estimated;
    const { right = 0, wrong = 0 } = counts[step] ?? {};
    return right + wrong === 0 ? undefined : right / (right + wrong);
  };
}

/** By step, the ends at and below it. A tree has each step once. */
function endsIn<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
  numbers: StepNumbers<State, Action>,
): readonly (EndCounts | undefined)[] {
  const counts: EndCounts[] = [];
  for (const record of trees) {
    const { nodes, stepOf, endsAt } = pathsIn(record);
    const numberOf = numbers(record);
    const counted = new Set<string>();
    for (const node of [record.tree.root, ...nodes]) {
      const step = numberOf(node);
      const key = `${step} ${stepOf(node).id}`;
      if (counted.has(key)) continue;
      counted.add(key);
      const { right, wrong } = endsAt(node);
      const before = counts[step] ?? { right: 0, wrong: 0 };
      counts[step] = { right: before.right + right, wrong: before.wrong + wrong };
    }
  }
  return counts;
}

/** The evaluation of each step, as one prefix has one: of all nodes that are that step, by their samples. */
function evaluationsIn<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
  numbers: StepNumbers<State, Action>,
): readonly ({ readonly mean: number } | undefined)[] {
  const known: { mean: number; samples: number }[] = [];
  for (const record of trees) {
    const numberOf = numbers(record);
    for (const node of [record.tree.root, ...pathsIn(record).nodes]) {
      if (node.rawValue === undefined) continue;
      const number = numberOf(node);
      const samples = Math.max(1, node.evaluations.length);
      const step = known[number] ?? { mean: node.rawValue, samples: 0 };
      known[number] = step;
      step.samples += samples;
      // Equal values stay what they are, to the last digit.
      step.mean += ((node.rawValue - step.mean) * samples) / step.samples;
    }
  }
  return known;
}

/** The label of a step by the share alone. */
export function shareLabel(value: number | undefined): StepLabel | undefined {
  if (value === undefined) return undefined;
  return { value, label: value > 0, rating: value > 0 ? 1 : -1 };
}
