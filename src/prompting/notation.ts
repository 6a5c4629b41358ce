import { EspalierError } from '../base/errors.ts';
import type { Environment, Notation } from '../contracts/environment.ts';

/** What is asked of a part, with the environment in question. */
export interface NotationSource<State, Action> {
  readonly environment: Environment<State, Action>;
}

/**
 * How states and actions look to a model. A part that asks for it says so in `needsNotation`, so that a search without
 * a notation is refused before it begins.
 *
 * @throws EspalierError `usage` where the environment has none.
 */
export function notationOf<State, Action>({
  environment: { name, notation },
}: NotationSource<State, Action>): Notation<State, Action> {
  if (notation !== undefined) return notation;
  throw new EspalierError('usage', `Expected the environment ${name} to have a \`notation\`.`);
}

/** An environment in another wording. */
export function withNotation<State, Action>(
  environment: Environment<State, Action>,
  notation: Notation<State, Action>,
): Environment<State, Action> {
  const { key, answer } = environment;
  return {
    ...environment,
    // Of an instance of a class the spread takes no methods.
    reset: (context) => environment.reset(context),
    step: (state, action, context) => environment.step(state, action, context),
    ...(key !== undefined && { key: key.bind(environment) }),
    ...(answer !== undefined && { answer: answer.bind(environment) }),
    notation,
  };
}
