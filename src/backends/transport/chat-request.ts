import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type {
  GenerateRequest,
  Image,
  Message,
  ToolDefinition,
} from '../../contracts/language-model.ts';
import { wantsLogprobs } from './chat-logprobs.ts';
import type { Droppable } from './downgrades.ts';
import { inWords } from './in-words.ts';
import { defined } from './json.ts';
import { piecesOf } from './pieces.ts';
import { seedOf } from './seeds.ts';

/** A part of the body of a request. */
export interface JsonBody {
  readonly [name: string]: JsonValue;
}

/** The name of the schema in requests, which models see. */
export const schemaName = 'answer';

/** A conversation, and the partial answer if there is one. */
export interface Conversation {
  /** The turns before. */
  readonly messages: readonly Message[];
  /** The partial answer, not empty. */
  readonly beginning?: string;
}

/** Splits off a partial answer: the trailing assistant turns, unless they call tools. */
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

/** Whether a feature would be requested in vain. */
export type Refuses = (what: Droppable) => boolean;

/** A request, with unsupported features expressed in words. */
export interface Worded {
  /** The conversation, with the words added at its end. */
  readonly messages: readonly Message[];
  /** The partial answer that the model continues. */
  readonly beginning: string | undefined;
  /** The schema that constrains it. */
  readonly schema: JsonValue | undefined;
  /** The tool that must be called. */
  readonly toolChoice: GenerateRequest['toolChoice'];
}

/** The features that are requested, with the others expressed in words. */
export function worded(request: GenerateRequest, refuses: Refuses): Worded {
  const { schema, tools = [], toolChoice = 'auto' } = request;
  const { messages, beginning } = conversationOf(request.messages);
  const choice = tools.length > 0 && toolChoice !== 'auto' ? toolChoice : undefined;
  const taken = {
    beginning: refuses('continuation') ? undefined : beginning,
    schema: refuses('schema') ? undefined : schema,
    toolChoice: refuses('toolChoice') ? undefined : choice,
  };
  const isTold = taken.beginning === undefined;
  const words = inWords(
    defined({ schema, toolChoice: choice }),
    refuses,
    isTold ? beginning : undefined,
  );
  const last = messages.at(-1);
  if (words.length === 0) return { ...taken, messages };
  const told: Message =
    last?.role === 'user'
      ? { ...last, content: [last.content, ...words].join('\n\n') }
      : { role: 'user', content: words.join('\n\n') };
  return {
    ...taken,
    messages: [...messages.slice(0, last?.role === 'user' ? -1 : undefined), told],
  };
}

/** How a server expects parameters. */
export interface Manners {
  readonly refuses: Refuses;
  /** Its name for the token limit of an answer. */
  readonly limit: 'max_completion_tokens' | 'max_tokens';
  /** The maximum number of stop texts. @defaultValue no limit */
  readonly mostStops?: number;
}

/** The number of answers, their length, and their seed. */
export function drawnFields(
  request: GenerateRequest,
  { refuses, limit, mostStops }: Manners,
): JsonBody {
  const { samples = 1, offset = 0, maxTokens = defaultMaxTokens, stop = [], seed } = request;
  return {
    ...(samples > 1 && { n: samples }),
    [limit]: maxTokens,
    ...(stop.length > 0 && !refuses('stop') && { stop: stop.slice(0, mostStops) }),
    ...(seed !== undefined && !refuses('seed') && { seed: seedOf(seed, offset) }),
  };
}

/**
 * The other fields of Chat Completions.
 *
 * @param isStrict - Whether a schema can be enforced strictly, for a tool's input or an answer. If left out, answers
 * are strict, and tools have no such field.
 */
export function wishedFields(
  request: GenerateRequest,
  { schema, toolChoice, refuses }: Worded & { readonly refuses: Refuses },
  isStrict?: (schema: JsonValue) => boolean,
): JsonBody {
  const { tools = [], topLogprobs = 0 } = request;
  const bindsTo = (input: JsonValue) => isStrict?.(input) && !refuses('strictTools');
  return {
    ...(wantsLogprobs(request) &&
      !refuses('logprobs') && {
        logprobs: true,
        ...(topLogprobs > 0 && { top_logprobs: topLogprobs }),
      }),
    ...(schema !== undefined && {
      response_format: chatSchema(schema, isStrict?.(schema) ?? true),
    }),
    ...(tools.length > 0 && { tools: tools.map((tool) => chatTool(tool, bindsTo(tool.input))) }),
    ...(toolChoice !== undefined && { tool_choice: chatToolChoice(toolChoice) }),
  };
}

/**
 * Messages for Chat Completions. Tools cannot return images there, so a user message shows them after the results.
 *
 * @param system - The role of instructions. @param kept - The fields of a turn that its provider requires back.
 */
export function chatMessages(
  messages: readonly Message[],
  system: 'system' | 'developer' = 'system',
  kept: (message: Message) => JsonBody = () => ({}),
): readonly JsonBody[] {
  return messages.flatMap((message, place) => {
    const turn = { ...chatMessage(message), ...kept(message) };
    const told = { ...turn, role: message.role === 'system' ? system : message.role };
    if (message.role !== 'tool' || messages[place + 1]?.role === 'tool') return [told];
    const start = messages.findLastIndex(({ role }, at) => at < place && role !== 'tool') + 1;
    const images = messages.slice(start, place + 1).flatMap((result) => result.images ?? []);
    if (images.length === 0) return [told];
    return [told, { role: 'user', content: images.map(imagePart) }];
  });
}

/** A turn for Chat Completions. */
export function chatMessage(message: Message): JsonBody {
  const { role, content, toolCalls = [], toolCallId, images = [] } = message;
  return {
    role,
    content:
      role === 'user' && images.length > 0
        ? [...images.map(imagePart), ...textParts(content)]
        : content === '' && toolCalls.length > 0
          ? null
          : content,
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

/** An image as a data URL. */
export function dataUrl({ mediaType, base64 }: Image): string {
  return `data:${mediaType};base64,${base64}`;
}

function imagePart(image: Image): JsonBody {
  return { type: 'image_url', image_url: { url: dataUrl(image) } };
}

/** The content of a message with marked pieces; the content of an assistant stays unchanged. */
export function markedContent(message: Message): JsonBody {
  if (message.role === 'assistant' || message.content.trim() === '') return {};
  const images = message.role === 'user' ? (message.images ?? []).map(imagePart) : [];
  return { content: [...images, ...markedParts(message, 'text')] };
}

/** The content of a message, with a mark after each piece that recurs in other requests. */
export function markedParts(message: Message, type: 'input_text' | 'text'): readonly JsonBody[] {
  const { texts, tail } = piecesOf(message);
  return texts.map((text, place) => ({
    type,
    text,
    ...(place < texts.length - tail && { prompt_cache_breakpoint: { mode: 'explicit' } }),
  }));
}

function textParts(text: string): readonly JsonBody[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** A tool for Chat Completions. @param strict - Whether the schema of its input is enforced, if set. */
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

/** A tool choice for Chat Completions. */
function chatToolChoice(choice: NonNullable<GenerateRequest['toolChoice']>): JsonValue {
  return typeof choice === 'string'
    ? choice
    : { type: 'function', function: { name: choice.name } };
}

/** A schema for Chat Completions. */
export function chatSchema(schema: JsonValue, strict: boolean): JsonBody {
  return { type: 'json_schema', json_schema: { name: schemaName, schema, strict } };
}
