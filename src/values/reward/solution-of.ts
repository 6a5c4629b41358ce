import { expectFunction } from '../../base/expect.ts';
import type { EvaluateRequest } from '../../contracts/evaluator.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Provenance } from '../../contracts/provenance.ts';
import type { Solution } from '../../contracts/reward-model.ts';
import { notationOf } from '../../prompting/notation.ts';
import { solutionTo } from '../../prompting/solution.ts';

/** The question and the steps to a node. */
export type SolutionOf<State, Action> = (node: SearchNode<State, Action>) => Omit<Solution, 'from'>;

/** What the evaluator `name` requires in order to show solutions. */
export function solutionNeeds<State, Action>(
  name: string,
  solutionOf: SolutionOf<State, Action> | undefined,
): Provenance {
  if (solutionOf === undefined) return { needsNotation: [name] };
  expectFunction('solutionOf', solutionOf);
  return {};
}

/** The default solution shown to a reward model. */
export function usualSolutions<State, Action>(
  request: EvaluateRequest<State, Action>,
): SolutionOf<State, Action> {
  const notation = notationOf(request);
  return (node) => solutionTo(notation, node);
}
