import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest, Message } from '../../contracts/language-model.ts';
import { wantsLogprobs } from '../wire/chat-logprobs.ts';
import {
  chatMessages,
  chatSchema,
  chatTool,
  chatToolChoice,
  conversationOf,
  type JsonBody,
  schemaName,
  withWords,
} from '../wire/chat-request.ts';
import type { Droppable } from '../wire/downgrades.ts';
import { seedOf } from '../wire/seeds.ts';
import type { ModelTraits, ReasoningEffort } from './models.ts';
import { isStrict } from './strict-schema.ts';

/** Which API a request goes to. */
export type OpenAiApi = 'chat' | 'responses';

/** For whom a request is written. */
export interface Recipient {
  /** The model. */
  readonly model: string;
  /** What it takes. */
  readonly traits: ModelTraits;
  /** How hard it is to think. */
  readonly effort: ReasoningEffort | undefined;
  /** What the calls of one search have in common. */
  readonly run: string | undefined;
  /** Whether something is asked for in vain. Says so to the caller, once. */
  readonly refuses: (what: Droppable) => boolean;
  /** Says once what is not as it was asked for. */
  readonly warn: (about: string, what: string) => void;
}

/** How many stop texts the API takes. */
const mostStops = 4;

/** The least limit on the tokens of an answer that the Responses API takes. */
const leastTokens = 16;

/** The API for a request: Responses, unless only Chat Completions has what the request needs. */
export function apiFor(
  request: GenerateRequest,
  { traits, refuses }: Pick<Recipient, 'traits' | 'refuses'>,
): OpenAiApi {
  const { samples = 1, stop = [], seed, tools = [], maxTokens = defaultMaxTokens } = request;
  if (tools.length > 0 && !traits.chatsWithTools) return 'responses';
  const needsChat =
    samples > 1 ||
    maxTokens < leastTokens ||
    (stop.length > 0 && !refuses('stop')) ||
    (seed !== undefined && !refuses('seed')) ||
    (wantsLogprobs(request) && !refuses('logprobs'));
  return needsChat ? 'chat' : 'responses';
}

/** The body of a request to Chat Completions. */
export function chatBody(request: GenerateRequest, recipient: Recipient): JsonBody {
  const { samples = 1, offset = 0, stop = [], seed, schema, tools = [] } = request;
  const { model, traits, effort, refuses } = recipient;
  const { told, isBound, choice } = wordsFor(request, refuses);
  return {
    model,
    messages: chatMessages(told, traits.reasons ? 'developer' : 'system'),
    ...(samples > 1 && { n: samples }),
    max_completion_tokens: request.maxTokens ?? defaultMaxTokens,
    ...sampling(request, recipient),
    ...(stop.length > 0 && !refuses('stop') && { stop: stop.slice(0, mostStops) }),
    ...(seed !== undefined && !refuses('seed') && { seed: seedOf(seed, offset) }),
    ...(wantsLogprobs(request) &&
      !refuses('logprobs') && {
        logprobs: true,
        ...((request.topLogprobs ?? 0) > 0 && { top_logprobs: request.topLogprobs }),
      }),
    ...(isBound &&
      schema !== undefined && { response_format: chatSchema(schema, isStrict(schema)) }),
    ...(tools.length > 0 && { tools: tools.map((tool) => chatTool(tool, isStrict(tool.input))) }),
    ...(choice !== undefined && { tool_choice: chatToolChoice(choice) }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...cacheKey(recipient),
  };
}

/** The body of a request to the Responses API. It is told not to keep what was said. */
export function responsesBody(request: GenerateRequest, recipient: Recipient): JsonBody {
  const { schema, tools = [], topLogprobs = 0 } = request;
  const { model, traits, effort, refuses } = recipient;
  warnOfChatOnly(request, recipient);
  const { told, isBound, choice } = wordsFor(request, refuses);
  return {
    model,
    input: told.flatMap((message) => inputItems(message, traits.reasons ? 'developer' : 'system')),
    max_output_tokens: request.maxTokens ?? defaultMaxTokens,
    ...sampling(request, recipient),
    ...(wantsLogprobs(request) &&
      !refuses('logprobs') && {
        include: ['message.output_text.logprobs'],
        ...(topLogprobs > 0 && { top_logprobs: topLogprobs }),
      }),
    ...(isBound &&
      schema !== undefined && {
        text: {
          format: { type: 'json_schema', name: schemaName, schema, strict: isStrict(schema) },
        },
      }),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        type: 'function',
        ...chatTool(tool, isStrict(tool.input)).function,
      })),
    }),
    ...(choice !== undefined && {
      tool_choice: typeof choice === 'string' ? choice : { type: 'function', name: choice.name },
    }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...cacheKey(recipient),
    store: false,
  };
}

/** What the Responses API does not take, whatever the model: Chat Completions may still be asked for it. */
function warnOfChatOnly({ stop = [], seed }: GenerateRequest, { refuses, warn }: Recipient): void {
  if (stop.length > 0 && !refuses('stop')) {
    warn('stop', 'takes no stop texts in the Responses API: answers are cut off here instead.');
  }
  if (seed !== undefined && !refuses('seed')) {
    warn('seed', 'takes no seed in the Responses API: samples differ from run to run.');
  }
}

/** The conversation with what is told in words, and what is not. */
function wordsFor(request: GenerateRequest, refuses: Recipient['refuses']) {
  const { schema, tools = [], toolChoice } = request;
  const { messages, beginning } = conversationOf(request.messages);
  if (beginning !== undefined) refuses('continuation');
  const isBound = schema !== undefined && !refuses('schema');
  const wish = tools.length > 0 && toolChoice !== 'auto' ? toolChoice : undefined;
  const choice = wish !== undefined && !refuses('toolChoice') ? wish : undefined;
  const told = withWords(messages, {
    beginning,
    schema: isBound ? undefined : schema,
    toolChoice: choice === undefined ? wish : undefined,
  });
  return { told, isBound, choice };
}

/** Temperature 1 is the default: asking for it says nothing, and some models refuse to be told. */
function sampling({ temperature, topP, topK }: GenerateRequest, recipient: Recipient): JsonBody {
  const { traits, refuses } = recipient;
  if (topK !== undefined) refuses('topK');
  const isTold = temperature !== undefined && (traits.samples || temperature !== 1);
  return {
    ...(isTold && !refuses('temperature') && { temperature }),
    ...(topP !== undefined &&
      (traits.samples || topP !== 1) &&
      !refuses('topP') && { top_p: topP }),
  };
}

/** Requests with the same key are served where their common beginning is cached. */
function cacheKey({ run }: Recipient): JsonBody {
  return run === undefined ? {} : { prompt_cache_key: run.slice(0, 64) };
}

/** A message as the Responses API takes it: calls and their results are items of their own. */
function inputItems(
  { role, content, toolCalls = [], toolCallId = '' }: Message,
  system: 'system' | 'developer',
): readonly JsonValue[] {
  if (role === 'tool') {
    return [{ type: 'function_call_output', call_id: toolCallId, output: content }];
  }
  const calls = toolCalls.map(({ id, name, input }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: JSON.stringify(input),
  }));
  if (content === '' && calls.length > 0) return calls;
  return [{ role: role === 'system' ? system : role, content }, ...calls];
}
