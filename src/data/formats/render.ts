import type { Message } from '../../spec/language-model.ts';

/**
 * A conversation as the text that a completion is appended to. A trailing `assistant` turn is the beginning of
 * that completion; behind any other turn the text ends where a turn of the assistant begins.
 */
export type RenderPrompt = (messages: readonly Message[]) => string;

/** The contents alone, parted by empty lines; the last one ends with a line break, unless it is to be continued. */
export function plainPrompt(messages: readonly Message[]): string {
  const text = messages.map(({ content }) => content).join('\n\n');
  return messages.at(-1)?.role === 'assistant' ? text : `${text}\n`;
}
