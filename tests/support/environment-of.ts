import type { Environment, Notation } from '../../src/contracts/environment.ts';

/** An environment that nobody steps in, for parts that look at its name and its notation. */
export function environmentOf<State = any, Action = any>(
  notation?: Notation<State, Action>,
): Environment<State, Action> {
  const fail = (): never => {
    throw new Error('Nobody steps here.');
  };
  return { name: 'words', reset: fail, step: fail, ...(notation !== undefined && { notation }) };
}
