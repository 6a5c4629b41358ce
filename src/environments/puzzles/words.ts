import type { Notation } from '../../contracts/environment.ts';

/** The notation of a puzzle whose actions are words. */
export function wordNotation<State, Action extends string>(rules: {
  readonly prompt: (state: State) => string;
  readonly expected: (state: State) => string;
  /** The first action in a text. */
  readonly find: (text: string, state: State) => Action | undefined;
  /** The effect of an action, or what is wrong with it in one sentence. */
  readonly read: (state: State, action: Action) => unknown;
}): Notation<State, Action> {
  const failure = (message: string) => ({ failure: { kind: 'parse', message } }) as const;
  return {
    prompt: (state) => [{ role: 'user', content: rules.prompt(state) }],
    format: (action) => action,
    parse(text, state) {
      const action = rules.find(text, state);
      if (action === undefined) {
        const got = text.trim().slice(0, 80);
        return failure(`Expected ${rules.expected(state)}, got \`${got}\`.`);
      }
      const move = rules.read(state, action);
      return typeof move === 'string' ? failure(move) : { action };
    },
  };
}

/** The error for any action in a solved state. */
export function solvedMessage(action: string): string {
  return `Expected no action in a solved state, got \`${action}\`.`;
}
