import { turnText } from '../base/tools-in-words.ts';
import { type NotationSource, notationOf } from '../prompting/notation.ts';

/** How situations are told. */
export interface SituationOptions<State = any> {
  /**
   * A state as a text to be kept and compared. Where most of a prompt is the same in every state, similarities are too:
   * then tell here only what differs. Lessons and reflections must tell it alike.
   *
   * @defaultValue the last question of the prompt of the state, with what follows it
   */
  readonly situation?: (state: State) => string;
}

/** A state as a text to be kept and compared. */
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
