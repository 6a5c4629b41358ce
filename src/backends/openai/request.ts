import { contentAddress } from '../../base/canonical-json.ts';
import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest, Message, ModelCall } from '../../contracts/language-model.ts';
import { wantsLogprobs } from '../transport/chat-logprobs.ts';
import {
  chatMessages,
  chatTool,
  dataUrl,
  drawnFields,
  type JsonBody,
  markedContent,
  markedParts,
  type Refuses,
  schemaName,
  wishedFields,
  worded,
} from '../transport/chat-request.ts';
import type { Downgrades } from '../transport/downgrades.ts';
import { unbound } from '../transport/in-words.ts';
import { piecesOf } from '../transport/pieces.ts';
import { isOfObjects } from '../transport/schema-parts.ts';
import type { ModelTraits } from './models.ts';
import { isStrict } from './strict-schema.ts';

/** The provider name for original turns. */
export const provider = 'openai';

/** The API for a request. */
export type OpenAiApi = 'chat' | 'responses';

/** The recipient of a request. */
export interface Recipient {
  readonly model: string;
  readonly traits: ModelTraits;
  /** The reasoning effort. */
  readonly effort: string | undefined;
  /** The requested service tier. */
  readonly serviceTier: string | undefined;
  /** The features that it does not support. */
  readonly downgrades: Downgrades;
  readonly call: ModelCall;
}

/** The maximum number of stop texts. */
const mostStops = 4;

/** The smallest token limit that the Responses API accepts. */
const leastTokens = 16;

/** The API for a request: Responses, unless the request needs a feature that only Chat Completions has. */
export function apiFor(
  request: GenerateRequest,
  { traits, downgrades }: Pick<Recipient, 'traits' | 'downgrades'>,
): OpenAiApi {
  const { samples = 1, stop = [], seed, tools = [], maxTokens = defaultMaxTokens } = request;
  if (tools.length > 0 && !traits.chatsWithTools) return 'responses';
  const needsChat =
    samples > 1 ||
    maxTokens < leastTokens ||
    (stop.length > 0 && !downgrades.refuses('stop')) ||
    (seed !== undefined && !downgrades.refuses('seed')) ||
    (wantsLogprobs(request) && !downgrades.refuses('logprobs'));
  return needsChat ? 'chat' : 'responses';
}

/** The body of a request to Chat Completions. */
export function chatBody(request: GenerateRequest, recipient: Recipient): JsonBody {
  const { model, traits, effort, serviceTier } = recipient;
  const refuses = refusedOf(request, recipient);
  const told = worded(request, refuses);
  return {
    model,
    messages: chatMessages(
      told.messages,
      instructor(traits),
      marks(recipient) ? markedContent : undefined,
    ),
    ...drawnFields(request, { refuses, limit: 'max_completion_tokens', mostStops }),
    ...sampling(request, recipient),
    ...wishedFields(request, { ...told, refuses }, isStrict),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...cacheFields(told.messages, recipient),
  };
}

/** The body of a request to the Responses API, which is told not to store anything. */
export function responsesBody(request: GenerateRequest, recipient: Recipient): JsonBody {
  const { tools = [], topLogprobs = 0 } = request;
  const { model, traits, effort, serviceTier, downgrades } = recipient;
  warnOfChatOnly(request, recipient);
  const { messages, schema, toolChoice } = worded(request, refusedOf(request, recipient));
  const tellsLogprobs = wantsLogprobs(request) && !downgrades.refuses('logprobs');
  const included = [
    ...(tellsLogprobs ? ['message.output_text.logprobs'] : []),
    // Thoughts that are not stored there must be sent back.
    ...(traits.samples ? [] : ['reasoning.encrypted_content']),
  ];
  return {
    model,
    input: messages.flatMap((turn) => inputItems(turn, recipient)),
    max_output_tokens: request.maxTokens ?? defaultMaxTokens,
    ...sampling(request, recipient),
    ...(tellsLogprobs && topLogprobs > 0 && { top_logprobs: topLogprobs }),
    ...(included.length > 0 && { include: included }),
    ...(schema !== undefined && {
      text: {
        format: { type: 'json_schema', name: schemaName, schema, strict: isStrict(schema) },
      },
    }),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        type: 'function',
        ...chatTool(tool, isStrict(tool.input) && !downgrades.refuses('strictTools')).function,
      })),
    }),
    ...(toolChoice !== undefined && {
      tool_choice:
        typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.name },
    }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...cacheFields(messages, recipient),
    store: false,
  };
}

/** The features that would be requested in vain, including a schema for answers that need not be objects. */
function refusedOf({ schema }: GenerateRequest, { downgrades, call }: Recipient): Refuses {
  const isBindable = schema === undefined || isOfObjects(schema);
  if (!isBindable && !downgrades.refuses('schema')) downgrades.warn(call, 'schema', unbound);
  return (what) => downgrades.refuses(what) || (what === 'schema' && !isBindable);
}

/**
 * Warns of features that the Responses API does not support for any model. Chat Completions may still be used for them.
 */
function warnOfChatOnly(request: GenerateRequest, { downgrades, call }: Recipient): void {
  const { stop = [], seed } = request;
  if (stop.length > 0 && !downgrades.refuses('stop')) {
    const what = 'takes no stop texts in the Responses API: answers are cut off locally instead.';
    downgrades.warn(call, 'stop', what);
  }
  if (seed !== undefined && !downgrades.refuses('seed')) {
    const what = 'takes no seed in the Responses API: samples differ from run to run.';
    downgrades.warn(call, 'seed', what);
  }
}

function sampling({ temperature, topP }: GenerateRequest, { downgrades }: Recipient): JsonBody {
  return {
    ...(temperature !== undefined && !downgrades.refuses('temperature') && { temperature }),
    ...(topP !== undefined && !downgrades.refuses('topP') && { top_p: topP }),
  };
}

function instructor({ reasons }: ModelTraits): 'developer' | 'system' {
  return reasons ? 'developer' : 'system';
}

/** Whether the ends of prefixes are marked. */
function marks({ traits, downgrades }: Recipient): boolean {
  return traits.marksPrefixes && !downgrades.refuses('prefixEnds');
}

/**
 * The fields for the cache. Requests with one key are routed to the same cache, about fifteen per minute: so the
 * branches at the root share a few keys, and the task is cached once for each. Automatic caching would store the end of
 * each prompt, at a quarter extra.
 */
function cacheFields(messages: readonly Message[], recipient: Recipient): JsonBody {
  const { run } = recipient.call;
  return {
    ...(run !== undefined && { prompt_cache_key: keyOf(run, messages) }),
    ...(marks(recipient) && { prompt_cache_options: { mode: 'explicit' } }),
  };
}

/** The number of keys that the branches of one search share. */
const mostKeys = 8;

function keyOf(run: string, messages: readonly Message[]): string {
  const asked = messages.findIndex(({ role }) => role === 'user');
  const pieces = messages.slice(asked).flatMap((message) => {
    const { texts, tail } = piecesOf(message);
    return texts.slice(0, texts.length - tail);
  });
  // The task, and the first step after it.
  const branch = pieces.slice(0, 2);
  if (branch.length < 2) return run.slice(0, 64);
  const [first = 0] = Buffer.from(contentAddress(JSON.stringify(branch)));
  return `${run.slice(0, 62)}-${first % mostKeys}`;
}

/** A message for the Responses API: calls and their results are separate items. */
function inputItems(message: Message, recipient: Recipient): readonly JsonValue[] {
  const { role, content, toolCalls = [], toolCallId = '', images = [], original } = message;
  if (original?.provider === provider && Array.isArray(original.data)) return original.data;
  const shown = images.map((image) => ({
    ...{ type: 'input_image', detail: 'auto', image_url: dataUrl(image) },
  }));
  const isMarked = marks(recipient) && role !== 'assistant' && content.trim() !== '';
  const texts = isMarked
    ? markedParts(message, 'input_text')
    : content === ''
      ? []
      : [{ type: 'input_text', text: content }];
  const said = images.length === 0 && !isMarked ? content : [...shown, ...texts];
  if (role === 'tool') {
    return [{ type: 'function_call_output', call_id: toolCallId, output: said }];
  }
  const calls = toolCalls.map(({ id, name, input }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: JSON.stringify(input),
  }));
  if (content === '' && calls.length > 0) return calls;
  const speaker = role === 'system' ? instructor(recipient.traits) : role;
  return [{ role: speaker, content: said }, ...calls];
}
