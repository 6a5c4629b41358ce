import { expectation, expectFunction, expectMethods } from '../../base/expect.ts';
import type { Notation } from '../../contracts/environment.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Solution } from '../../contracts/reward-model.ts';

/** A question and the steps to a node. */
export type SolutionText = Omit<Solution, 'from'>;

/** How nodes look to a reward model. One of the two is needed. */
export interface SolutionOptions<State, Action> {
  /** How states and actions look to a model: as a rule the `notation` of the environment. */
  readonly notation?: Pick<Notation<State, Action>, 'format' | 'prompt'>;
  /**
   * The question and the steps to a node. What it throws fails this one node.
   *
   * @defaultValue the last question of the user in the prompt of the root, and the actions on the way, as the
   * notation has them
   */
  readonly solutionOf?: (node: SearchNode<State, Action>) => SolutionText;
}

/** How nodes look to a reward model. @throws EspalierError `usage` where that is not told. */
export function solutionFrom<State, Action>({
  notation,
  solutionOf,
}: SolutionOptions<State, Action>): (node: SearchNode<State, Action>) => SolutionText {
  if (solutionOf !== undefined) {
    expectFunction('solutionOf', solutionOf);
    return solutionOf;
  }
  if (notation === undefined)
    throw expectation('notation', 'given beside no `solutionOf`', notation);
  expectMethods('notation', notation, ['prompt', 'format']);
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
