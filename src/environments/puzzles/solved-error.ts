import { EspalierError } from '../../spec/errors.ts';

/** The error of a step from a solved state, in which no action is legal. */
export function solvedError(action: string): EspalierError {
  return new EspalierError('usage', `Expected no action in a solved state, got \`${action}\`.`);
}
