import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';
import type { Downgrades, Droppable } from '../transport/downgrades.ts';
import { inWords } from '../transport/in-words.ts';
import {
  type Block,
  type CacheControl,
  type Conversation,
  conversationOf,
  type TextBlock,
  type Turn,
} from './conversation.ts';
import { boundSchema, canBind } from './schema.ts';

/** The settings common to all requests of one model. */
export interface RequestSettings {
  readonly modelId: string;
  /** The thinking setting. */
  readonly thinking: JsonValue | undefined;
  /** The effort. */
  readonly effort: string | undefined;
  /** The capacity that may be used; or `fast`, which the API calls a speed. */
  readonly serviceTier?: string | undefined;
  /** The cache mark; `undefined` if nothing is cached. */
  readonly mark: CacheControl | undefined;
}

interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: JsonValue;
  readonly cache_control?: CacheControl;
}

/** The body of a request to the Messages API. */
export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: readonly TextBlock[];
  readonly messages: readonly Turn[];
  readonly tools?: readonly Tool[];
  readonly tool_choice?:
    | { readonly type: 'any' | 'none' }
    | { readonly type: 'tool'; readonly name: string };
  readonly stop_sequences?: readonly string[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly thinking?: JsonValue;
  readonly service_tier?: string;
  readonly speed?: 'fast';
  readonly output_config?: {
    readonly effort?: string;
    readonly format?: { readonly type: 'json_schema'; readonly schema: JsonValue };
  };
}

/**
 * The body of a request, without features that the model is known not to support, and the partial answer that the model
 * gets. Up to four cache marks are set: after the tools, after the system messages, and after the last two blocks that
 * other requests share. Text that only this request contains is not written to the cache.
 */
export function messagesRequest(
  request: GenerateRequest,
  settings: RequestSettings,
  downgrades: Pick<Downgrades, 'refuses'>,
): { readonly body: MessagesBody; readonly beginning: string } {
  const { mark, modelId: model } = settings;
  const isBindable = canBind(request.schema);
  const refuses = (what: Droppable) =>
    downgrades.refuses(what) || (what === 'schema' && !isBindable);
  const { tools = [], toolChoice, maxTokens: max_tokens = defaultMaxTokens } = request;
  const called = tools.length > 0 ? [] : calledTools(request.messages);
  const conversation = conversationOf(request.messages, {
    prefill: !downgrades.refuses('continuation'),
    thoughts: !downgrades.refuses('thoughts'),
    words: inWords(
      request,
      (what) => refuses(what) && !(what === 'toolChoice' && toolChoice === 'none'),
    ),
  });
  const { system, beginning } = conversation;
  return {
    body: {
      model,
      max_tokens,
      ...(tools.length > 0 && { tools: markedLast(tools.map(toolOf), mark) }),
      ...(called.length > 0 && { tools: called, tool_choice: { type: 'none' } }),
      ...(system.length > 0 && { system: markedLast(system, mark) }),
      messages: mark === undefined ? conversation.turns : markedTurns(conversation, mark),
      ...toolChoiceOf(request, downgrades),
      ...samplingOf(request, downgrades),
      ...outputOf(request, settings, { refuses }),
      ...servedBy(settings),
    },
    beginning,
  };
}

function servedBy({ serviceTier }: RequestSettings): Pick<MessagesBody, 'service_tier' | 'speed'> {
  if (serviceTier === undefined) return {};
  return serviceTier === 'fast' ? { speed: 'fast' } : { service_tier: serviceTier };
}

function toolOf({ name, description, input }: NonNullable<GenerateRequest['tools']>[number]): Tool {
  return { name, ...(description !== undefined && { description }), input_schema: input };
}

/**
 * The names of the tools that a conversation calls. The API refuses calls of unknown tools, so a judge's request must
 * declare these, but no others.
 */
function calledTools(messages: GenerateRequest['messages']): readonly Tool[] {
  const names = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name));
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: 'object' } }));
}

function toolChoiceOf(
  { toolChoice = 'auto' }: GenerateRequest,
  downgrades: Pick<Downgrades, 'refuses'>,
): Pick<MessagesBody, 'tool_choice'> {
  // Every model supports this choice.
  if (toolChoice === 'none') return { tool_choice: { type: 'none' } };
  if (toolChoice === 'auto' || downgrades.refuses('toolChoice')) return {};
  if (toolChoice === 'required') return { tool_choice: { type: 'any' } };
  return { tool_choice: { type: 'tool', name: toolChoice.name } };
}

function samplingOf(
  { temperature, topP, topK, stop = [] }: GenerateRequest,
  downgrades: Pick<Downgrades, 'refuses'>,
): Partial<MessagesBody> {
  const stops = downgrades.refuses('stop') ? [] : stop.filter(isSendable);
  return {
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...(temperature !== undefined && !downgrades.refuses('temperature') && { temperature }),
    ...(topP !== undefined && !downgrades.refuses('topP') && { top_p: topP }),
    ...(topK !== undefined && !downgrades.refuses('topK') && { top_k: topK }),
  };
}

/** Whether the API accepts a stop text: it refuses white space. */
export function isSendable(stop: string): boolean {
  return stop.trim() !== '';
}

function outputOf(
  { schema }: GenerateRequest,
  { thinking, effort }: RequestSettings,
  downgrades: Pick<Downgrades, 'refuses'>,
): Pick<MessagesBody, 'thinking' | 'output_config'> {
  const isBound = schema !== undefined && !downgrades.refuses('schema');
  const output_config = {
    ...(effort !== undefined && { effort }),
    ...(isBound && { format: { type: 'json_schema', schema: boundSchema(schema) } as const }),
  };
  return {
    ...(thinking !== undefined && { thinking }),
    ...(Object.keys(output_config).length > 0 && { output_config }),
  };
}

function markedTurns({ turns, tail }: Conversation, mark: CacheControl): readonly Turn[] {
  const shared = turns.flatMap(({ content }) => content).slice(0, tail === 0 ? undefined : -tail);
  const ends = new Set(shared.filter((block) => !isThought(block)).slice(-2));
  return turns.map((turn) => ({
    ...turn,
    content: turn.content.map((block) =>
      ends.has(block) ? { ...block, cache_control: mark } : block,
    ),
  }));
}

/** The API does not accept a cache mark on these blocks. */
function isThought({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function markedLast<Part extends { readonly cache_control?: CacheControl }>(
  parts: readonly Part[],
  mark: CacheControl | undefined,
): readonly Part[] {
  if (mark === undefined) return parts;
  return parts.map((part, place) =>
    place === parts.length - 1 ? { ...part, cache_control: mark } : part,
  );
}
