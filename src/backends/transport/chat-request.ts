import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest, Message, ToolDefinition } from '../../contracts/language-model.ts';
import { beginningInWords, schemaInWords, toolChoiceInWords } from './in-words.ts';

/** A part of the body of a request. */
export interface JsonBody {
  readonly [name: string]: JsonValue;
}

/** The name under which a schema is sent: models see it. */
export const schemaName = 'answer';

/** A conversation, and the beginning of its answer, if it has begun. */
export interface Conversation {
  /** The turns before. */
  readonly messages: readonly Message[];
  /** The beginning of the answer, not empty. */
  readonly beginning?: string;
}

/** Splits the beginning of an answer off: the trailing turns of the assistant, unless they call tools. */
export function conversationOf(messages: readonly Message[]): Conversation {
  const isBeginning = ({ role, toolCalls }: Message) =>
    role === 'assistant' && (toolCalls ?? []).length === 0;
  const end = messages.findLastIndex((message) => !isBeginning(message)) + 1;
  const beginning = messages
    .slice(end)
    .map(({ content }) => content)
    .join('');
  const before = messages.slice(0, end);
  return beginning === '' ? { messages: before } : { messages: before, beginning };
}

/** What a server does not take, and is to be told in words. */
export interface ToldInWords {
  readonly beginning?: string | undefined;
  readonly schema?: JsonValue | undefined;
  readonly toolChoice?: GenerateRequest['toolChoice'] | undefined;
}

/** A conversation with what is told in words at its end. */
export function withWords(messages: readonly Message[], told: ToldInWords): readonly Message[] {
  const words = [
    told.schema === undefined ? undefined : schemaInWords(told.schema),
    toolChoiceInWords(told.toolChoice),
    told.beginning === undefined ? undefined : `${beginningInWords}\n\n${told.beginning}`,
  ].filter((text) => text !== undefined);
  if (words.length === 0) return messages;
  const last = messages.at(-1);
  return last?.role === 'user'
    ? [...messages.slice(0, -1), { ...last, content: [last.content, ...words].join('\n\n') }]
    : [...messages, { role: 'user', content: words.join('\n\n') }];
}

/** Messages as Chat Completions takes them. @param system - The role of instructions. */
export function chatMessages(
  messages: readonly Message[],
  system: 'system' | 'developer' = 'system',
): readonly JsonBody[] {
  return messages.map(({ role, content, toolCalls = [], toolCallId }) => ({
    role: role === 'system' ? system : role,
    content: content === '' && toolCalls.length > 0 ? null : content,
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  }));
}

/** A tool as Chat Completions takes it. @param strict - Whether its input is bound to the schema, if said. */
export function chatTool(
  { name, description, input }: ToolDefinition,
  strict?: boolean,
): { readonly type: 'function'; readonly function: JsonBody } {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters: input,
      ...(strict !== undefined && { strict }),
    },
  };
}

/** A choice of tools as Chat Completions takes it. */
export function chatToolChoice(choice: NonNullable<GenerateRequest['toolChoice']>): JsonValue {
  return typeof choice === 'string'
    ? choice
    : { type: 'function', function: { name: choice.name } };
}

/** A schema as Chat Completions takes it. */
export function chatSchema(schema: JsonValue, strict: boolean): JsonBody {
  return { type: 'json_schema', json_schema: { name: schemaName, schema, strict } };
}
