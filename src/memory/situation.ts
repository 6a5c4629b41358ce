import { turnText } from '../base/tools-in-words.ts';
import { type NotationSource, notationOf } from '../prompting/notation.ts';

/** How states are described in memory. */
export interface SituationOptions<State = any> {
  /**
   * A state as text, to be stored and compared. If most of the prompt is the same in every state, return only what
   * differs here, since shared text makes all states similar. Lessons and reflections must use the same function.
   *
   * @defaultValue the last question of the prompt of the state, with what follows it
   */
  readonly situation?: (state: State) => string;
}

/** A state as text, to be stored and compared. */
export function situationOf<State>(
  { situation }: SituationOptions<State>,
  source: NotationSource<State, unknown>,
  state: State,
): string {
  if (situation !== undefined) return situation(state);
  const messages = notationOf(source).prompt(state);
  const place = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(Math.max(0, place)).map(turnText).join('\n\n');
}
