import type { Message, ToolDefinition } from '../../contracts/language-model.ts';

/** The contents of a prompt. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** Whether the last turn is to be continued. */
  readonly continues: boolean;
  /** The tools described to the model. */
  readonly tools?: readonly ToolDefinition[];
}

/**
 * A conversation as the model reads it: `<|user|>Hi<|end|><|assistant|>`. Each mark is one token, so a turn
 * takes two tokens besides its content, and the beginning of the answer one.
 */
export function renderPrompt(conversation: Conversation): string {
  const { messages, continues, tools = [] } = conversation;
  const told = tools.length === 0 ? '' : `<|tools|>${JSON.stringify(tools)}<|end|>`;
  const turns = messages.map((message) => `<|${message.role}|>${contentOf(message)}<|end|>`);
  const prompt = told + turns.join('');
  return continues ? prompt.slice(0, -'<|end|>'.length) : `${prompt}<|assistant|>`;
}

/** The content of a turn, including its tool calls. */
export function contentOf({ content, toolCalls = [] }: Message): string {
  return toolCalls.length === 0
    ? content
    : content + JSON.stringify(toolCalls.map(({ name, input }) => ({ name, input })));
}

/** Parses a prompt, so that a conversation gets the same answer at every endpoint. */
export function readPrompt(prompt: string): Conversation {
  const messages: Message[] = [];
  let read = 0;
  let isOpen = false;
  for (const [whole, role, content = '', end] of prompt.matchAll(
    /<\|(system|user|assistant|tool|tools)\|>(.*?)(<\|end\|>|$)/gsy,
  )) {
    read += whole.length;
    isOpen = end === '';
    if (role !== 'tools') messages.push({ role: role as Message['role'], content });
  }
  const last = messages.at(-1);
  if (read !== prompt.length || !isOpen || last?.role !== 'assistant') {
    return { messages: [{ role: 'user', content: prompt }], continues: false };
  }
  return last.content === ''
    ? { messages: messages.slice(0, -1), continues: false }
    : { messages, continues: true };
}

/** The source of the template, as reported by `/props` and `/api/show`. */
export const templateSource: string = [
  '{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}',
  '{% if add_generation_prompt %}<|assistant|>{% endif %}',
].join('');
