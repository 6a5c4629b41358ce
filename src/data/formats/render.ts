import type { JsonValue } from '../../contracts/json.ts';
import type { Message, ToolCall } from '../../contracts/language-model.ts';

/** The contents alone, parted by empty lines; the last one ends with a line break, unless it is to be continued. */
export function plainPrompt(messages: readonly Message[]): string {
  const text = messages.map(contentOf).join('\n\n');
  return messages.at(-1)?.role === 'assistant' ? text : `${text}\n`;
}

/**
 * ChatML, as Qwen and others speak it. Calls of tools stand behind the content in `<tool_call>` tags; tools that
 * are offered are not shown.
 */
export function chatmlPrompt(messages: readonly Message[]): string {
  const last = messages.at(-1);
  const isPartial = last?.role === 'assistant';
  const whole = isPartial ? messages.slice(0, -1) : messages;
  const turns = whole.map((turn) => `<|im_start|>${turn.role}\n${contentOf(turn)}<|im_end|>\n`);
  const begun = isPartial ? contentOf(last) : '';
  return `${turns.join('')}<|im_start|>assistant\n${begun}`;
}

function contentOf({ content, toolCalls = [] }: Message): string {
  const calls = toolCalls.map(
    (call) => `<tool_call>\n${JSON.stringify(callOf(call))}\n</tool_call>`,
  );
  return [...(content === '' ? [] : [content]), ...calls].join('\n');
}

function callOf({ name, input }: ToolCall): JsonValue {
  return { name, arguments: input };
}
