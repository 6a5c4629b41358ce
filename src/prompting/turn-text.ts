import type { Message } from '../contracts/language-model.ts';

/** A turn as text: what is said, and behind it the tools that it calls, as JSON. */
export function turnText({ content, toolCalls = [] }: Message): string {
  const calls = toolCalls.map(({ name, input }) => JSON.stringify({ name, input }));
  return [...(content === '' ? [] : [content]), ...calls].join('\n');
}
