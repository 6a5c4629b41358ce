import type { SearchNode } from '../../contracts/node.ts';
import { countEnds, type TreeRecord } from '../record.ts';
import type { LabelledStep } from '../rows.ts';

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
  source: 'ends' | 'evaluation',
): (node: SearchNode<State, Action>) => number | undefined {
  const endsAt = countEnds(record);
  return (node) => {
    if (source === 'evaluation' && node.rawValue !== undefined) return node.rawValue;
    const { right, wrong } = endsAt(node);
    return right + wrong === 0 ? undefined : right / (right + wrong);
  };
}

/** The label of a step by the share alone. */
export function shareLabel(value: number | undefined): StepLabel | undefined {
  if (value === undefined) return undefined;
  return { value, label: value > 0, rating: value > 0 ? 1 : -1 };
}
