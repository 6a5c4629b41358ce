import type { GenerateRequest, Message, ToolDefinition } from '../contracts/language-model.ts';

/** Whether a turn calls tools, or is the result of a call. */
export function isOfTools({ role, toolCalls = [] }: Message): boolean {
  return role === 'tool' || toolCalls.length > 0;
}

/** A turn as text: its content, followed by its tool calls as JSON. */
export function turnText({ content, toolCalls = [] }: Message): string {
  const calls = toolCalls.map(({ name, input }) => JSON.stringify({ tool: name, input }));
  return [...(content === '' ? [] : [content]), ...calls].join('\n');
}

/**
 * A request for a model without tool support: the tools are described at the beginning of the conversation, calls are
 * JSON, and their results are user messages. Common prefixes of requests are preserved.
 */
export function toolsInWords(request: GenerateRequest): GenerateRequest {
  const { tools = [], toolChoice = 'auto', messages, ...others } = request;
  if (tools.length === 0 && !messages.some(isOfTools)) return request;
  const turns = messages.map((message) => told(message, messages));
  const demand = tools.length === 0 ? undefined : demandOf(toolChoice);
  return {
    ...others,
    messages: joined([
      ...(tools.length === 0 ? [] : [{ role: 'system', content: listOf(tools) } as const]),
      ...turns,
      ...(demand === undefined || turns.at(-1)?.role === 'assistant'
        ? []
        : [{ role: 'user', content: demand } as const]),
    ]),
  };
}

function told(message: Message, conversation: readonly Message[]): Message {
  const { role, content, toolCallId, images } = message;
  if (role === 'assistant') return { role, content: turnText(message) };
  if (role !== 'tool') return message;
  const called = conversation
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .findLast(({ id }) => id === toolCallId);
  const tool = called === undefined ? 'The tool' : `The tool \`${called.name}\``;
  return { role: 'user', content: `${tool} returned:\n${content}`, ...(images && { images }) };
}

function listOf(tools: readonly ToolDefinition[]): string {
  const lines = tools.map(({ name, description, input }) =>
    [`- \`${name}\``, ...(description === undefined ? [] : [description]), inputOf(input)].join(
      ': ',
    ),
  );
  return `There are tools, each with the JSON schema of its input:\n${lines.join('\n')}\n\nA call of a tool is JSON: {"tool": "<name>", "input": {…}}`;
}

function inputOf(input: ToolDefinition['input']): string {
  return JSON.stringify(input);
}

function demandOf(choice: NonNullable<GenerateRequest['toolChoice']>): string | undefined {
  if (choice === 'none') return undefined;
  if (choice === 'auto') return 'Where you call a tool, write the call and nothing else.';
  const which = choice === 'required' ? 'one of the tools' : `the tool \`${choice.name}\``;
  return `Answer by calling ${which}: write the call and nothing else.`;
}

/** Joins consecutive user turns, and consecutive system turns, because templates expect them to alternate. */
function joined(messages: readonly Message[]): readonly Message[] {
  const result: Message[] = [];
  for (const message of messages) {
    const before = result.at(-1);
    if (before?.role !== message.role || message.role === 'assistant') {
      result.push(message);
      continue;
    }
    const images = [...(before.images ?? []), ...(message.images ?? [])];
    const content = `${before.content}\n\n${message.content}`;
    result.splice(-1, 1, {
      role: message.role,
      content,
      ...(images.length > 0 && { images }),
    });
  }
  return result;
}
