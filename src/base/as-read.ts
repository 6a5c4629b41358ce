import type { Message } from '../contracts/language-model.ts';

/** Messages as a model reads them; requests are compared in this form. */
export function asRead(messages: readonly Message[]): readonly Message[] {
  return messages.map(({ prefixEnds: _, ...message }) => message);
}
