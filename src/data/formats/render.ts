import { expectMessages } from '../../base/expect-messages.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Message, ToolCall } from '../../contracts/language-model.ts';

/** The contents alone, separated by empty lines; the last one ends with a line break, unless it will be continued. */
export function plainPrompt(messages: readonly Message[]): string {
  expectMessages(messages);
  const text = messages.map(contentOf).join('\n\n');
  return messages.at(-1)?.role === 'assistant' ? text : `${text}\n`;
}

/**
 * ChatML, as used by Qwen and others. Tool calls follow the content in `<tool_call>` tags; offered tools are not shown.
 */
export function chatmlPrompt(messages: readonly Message[]): string {
  expectMessages(messages);
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
