import { EspalierError } from '../base/errors.ts';
import type { Environment, Notation } from '../contracts/environment.ts';

/** A request to a part, with its environment. */
export interface NotationSource<State, Action> {
  readonly environment: Environment<State, Action>;
}

/**
 * The notation of states and actions for a model. A part that uses it declares that in `needsNotation`, so that a
 * search without a notation is refused before it begins.
 *
 * @throws EspalierError `usage` if the environment has none.
 */
export function notationOf<State, Action>({
  environment: { name, notation },
}: NotationSource<State, Action>): Notation<State, Action> {
  if (notation !== undefined) return notation;
  throw new EspalierError('usage', `Expected the environment ${name} to have a \`notation\`.`);
}

/** An environment with another notation. */
export function withNotation<State, Action>(
  environment: Environment<State, Action>,
  notation: Notation<State, Action>,
): Environment<State, Action> {
  const { key, answer } = environment;
  return {
    ...environment,
    // Spreading an instance of a class does not copy its methods.
    reset: (context) => environment.reset(context),
    step: (state, action, context) => environment.step(state, action, context),
    ...(key !== undefined && { key: key.bind(environment) }),
    ...(answer !== undefined && { answer: answer.bind(environment) }),
    notation,
  };
}
