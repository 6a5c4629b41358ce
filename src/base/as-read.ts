import type { Message } from '../contracts/language-model.ts';

/** Messages as a model reads them: by these, requests are told apart. */
export function asRead(messages: readonly Message[]): readonly Message[] {
  return messages.map(({ prefixEnds: _, ...message }) => message);
}
