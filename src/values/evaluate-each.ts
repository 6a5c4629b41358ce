import type { Evaluation } from '../contracts/evaluation.ts';
import type { Failed } from '../contracts/failure.ts';
import type { SearchNode } from '../contracts/node.ts';

type Verdict = Evaluation | Failed;

/** Evaluates nodes side by side, and says of the values what they are about. The start has no action. */
export function evaluateEach<State, Action>(
  { about }: { readonly about: 'action' | 'state' },
  nodes: readonly SearchNode<State, Action>[],
  evaluate: (node: SearchNode<State, Action>) => Promise<Verdict>,
): Promise<readonly Verdict[]> {
  return Promise.all(nodes.map(async (node) => saying(about, node, await evaluate(node))));
}

/** An evaluation of a node that says what it is about. */
export function saying(
  about: 'action' | 'state',
  { kind }: Pick<SearchNode, 'kind'>,
  verdict: Verdict,
): Verdict {
  const isState = about === 'state' || kind === 'root';
  return isState || 'failure' in verdict ? verdict : { ...verdict, about };
}
