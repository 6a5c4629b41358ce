import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';
import { isPart } from '../record.ts';

/**
 * Σ ln p over the tokens of all steps of a path, as the policy's model told them when it wrote them; `NaN` where a
 * step has none, or where several actions were read from one completion, so that it is not that of the step alone.
 */
export function pathLogprob(end: SearchNode): number {
  return pathTo(end).reduce(
    (sum, node) => (node.kind === 'root' ? sum : sum + stepLogprob(node)),
    0,
  );
}

function stepLogprob(node: ChildNode): number {
  const { completion, parent } = node;
  const tokens = completion?.logprobs ?? [];
  if (completion === undefined || tokens.length === 0) return Number.NaN;
  const isShared = parent.children.some(
    (sibling) =>
      sibling !== node &&
      isPart(sibling) &&
      sibling.completion?.text === completion.text &&
      sibling.completion.callId === completion.callId,
  );
  return isShared ? Number.NaN : tokens.reduce((sum, { logprob }) => sum + logprob, 0);
}
