import type { SearchNode } from '../../contracts/node.ts';
import { countEnds, type TreeRecord } from '../record.ts';
import type { LabelledStep } from '../rows.ts';

/**
 * Where the share of right continuations is read. `ends`: the ends below the node that were scored.
 * `evaluation`: the evaluation of the node, in trees where that was estimated by playing on from it; where a node
 * has none, the ends.
 */
export type ValueSource = 'ends' | 'evaluation';

/** What a rule says of a step. */
export type StepLabel = Omit<LabelledStep, 'text'>;

/**
 * MC(s), the share of right ends among those that were scored at a node and below it, in [0, 1]; `undefined` where
 * none was.
 *
 * @see Wang et al., "Math-Shepherd: Verify and Reinforce LLMs Step-by-step without Human Annotations", 2023,
 * section 3.3, equations 2 and 3.
 */
export function monteCarlo<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'correctFrom' | 'tree'>,
  source: ValueSource,
): (node: SearchNode<State, Action>) => number | undefined {
  const endsAt = countEnds(record);
  return (node) => {
    if (source === 'evaluation' && node.rawValue !== undefined) return node.rawValue;
    const { right, wrong } = endsAt(node);
    return right + wrong === 0 ? undefined : right / (right + wrong);
  };
}

/** Labels by the share alone: soft the share itself; hard, and the rating as 1 or −1, whether it is above 0. */
export function shareLabel(value: number): StepLabel {
  return { value, label: value > 0, rating: value > 0 ? 1 : -1 };
}
