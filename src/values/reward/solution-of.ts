import { expectFunction } from '../../base/expect.ts';
import type { EvaluateRequest } from '../../contracts/evaluator.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Provenance } from '../../contracts/provenance.ts';
import type { Solution } from '../../contracts/reward-model.ts';
import { notationOf } from '../../prompting/notation.ts';

/** A question and the steps to a node. */
export type SolutionText = Omit<Solution, 'from'>;

/** How nodes look to a reward model. */
export interface SolutionOptions<State = any, Action = any> {
  /**
   * The question and the steps to a node. What it throws fails this one node.
   *
   * @defaultValue the last question of the user in the prompt of the root, and the actions on the way, in the notation
   * of the environment
   */
  readonly solutionOf?: (node: SearchNode<State, Action>) => SolutionText;
}

/** What the part `name` needs to show solutions. */
export function solutionNeeds<State, Action>(
  name: string,
  { solutionOf }: SolutionOptions<State, Action>,
): Provenance {
  if (solutionOf === undefined) return { needsNotation: [name] };
  expectFunction('solutionOf', solutionOf);
  return {};
}

/** How nodes look to a reward model. */
export function solutionFrom<State, Action>(
  { solutionOf }: SolutionOptions<State, Action>,
  request: EvaluateRequest<State, Action>,
): (node: SearchNode<State, Action>) => SolutionText {
  if (solutionOf !== undefined) return solutionOf;
  const notation = notationOf(request);
  return (node) => {
    const steps: string[] = [];
    let place = node;
    while (place.kind !== 'root') {
      steps.unshift(notation.format(place.action));
      place = place.parent;
    }
    const messages = notation.prompt(place.state);
    const question = messages.findLast(({ role }) => role === 'user') ?? messages.at(-1);
    return { prompt: question?.content ?? '', steps };
  };
}
