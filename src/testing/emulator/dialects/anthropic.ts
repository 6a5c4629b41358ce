import { defined } from '../../../backends/transport/json.ts';
import type { JsonValue } from '../../../contracts/json.ts';
import { readTools } from '../chat-request.ts';
import type { Call, Dialect, Exchange, Reply } from '../dialect.ts';
import { type JsonObject, numberAt, objectOf, textAt, textsAt } from '../fields.ts';
import type { Asked, Choice } from '../generate.ts';
import { anthropicFields } from '../known-fields.ts';
import type { EmulatedQuestion } from '../question.ts';
import { badRequest, Rejection, type RejectionOptions } from '../rejection.ts';
import { jsonReply } from '../reply.ts';
import { type Generation, generate } from '../serve-model.ts';
import { countTokens } from '../tokens.ts';
import { batchRoutes, checkItem, createBatch } from './anthropic-batches.ts';
import { type CachedPrompt, countCached } from './anthropic-cache.ts';
import { type AnthropicPrompt, readPromptOf } from './anthropic-request.ts';
import { checkSchemas } from './anthropic-schemas.ts';
import { streamedMessage } from './anthropic-stream.ts';
import { checkThoughts, thinkingBlock } from './anthropic-thoughts.ts';

/** The maximum tokens of an answer. */
const mostTokens = 128_000;

/** Anthropic's API. */
export const anthropic: Dialect = {
  calls: { 'POST /v1/messages': messages, 'POST /v1/messages/batches': createBatch },
  information: {
    ...batchRoutes,
    'POST /v1/messages/count_tokens': ({ body }) => {
      const { blocks } = readPromptOf(body);
      return jsonReply({
        input_tokens: countTokens(blocks.map(({ text }) => text).join('')) + 1,
      });
    },
    'GET /v1/models': ({ service }) => {
      const { models, contextLength } = service.settings;
      return jsonReply({
        data: models.map((id) => modelOf(id, contextLength)),
        has_more: false,
        first_id: models[0] ?? null,
        last_id: models.at(-1) ?? null,
      });
    },
    'GET /v1/models/*': ({ service, exchange }) => {
      const id = exchange.path.slice('/v1/models/'.length);
      const { models, contextLength } = service.settings;
      if (!models.includes(id)) throw new Rejection(unknownModel(id));
      return jsonReply(modelOf(id, contextLength));
    },
  },
  errorBody: anthropicError,
  batchPrefix: 'msgbatch',
  unauthorized: (key) => ({
    status: 401,
    message: key === undefined ? 'x-api-key header is required' : 'invalid x-api-key',
  }),
  notFound: () => ({ status: 404, message: 'Not Found' }),
  unknownModel,
  overflow: ({ input, limit }) =>
    input <= limit
      ? undefined
      : { status: 400, message: `prompt is too long: ${input} tokens > ${limit} maximum` },
  headers: limitHeaders,
  knownFields: anthropicFields,
  refusesUnknown: true,
  unknownField: (name) => ({
    status: 400,
    message: `${name}: Extra inputs are not permitted`,
  }),
};

function messages(call: Call): Reply {
  const { body } = call;
  checkItem(call);
  const prompt = readPromptOf(body);
  checkThoughts(call);
  checkSchemas(body);
  const asked = readMessages(call, prompt);
  const count = countCached(call, prompt.blocks);
  const generation = generate(call, asked, count);
  const message = messageOf(call, generation, count);
  return body['stream'] === true ? streamedMessage(message) : jsonReply(message);
}

function readMessages(
  { body, service, exchange }: Call,
  { messages: turns }: AnthropicPrompt,
): Asked {
  if (exchange.headers['anthropic-version'] === undefined) {
    throw badRequest('anthropic-version: header is required');
  }
  const maxTokens = numberAt(body, 'max_tokens');
  if (maxTokens === undefined) throw badRequest('max_tokens: Field required');
  if (maxTokens > mostTokens) {
    throw badRequest(
      `max_tokens: ${maxTokens} > ${mostTokens}, which is the maximum allowed number of output tokens for ${textAt(body, 'model')}`,
    );
  }
  for (const name of ['temperature', 'top_p']) {
    const given = numberAt(body, name) ?? 0;
    if (given < 0 || given > 1) throw badRequest(`${name}: range: 0..1`);
  }
  checkWarming(body);
  checkBudget(body, maxTokens);
  const stop = textsAt(body, 'stop_sequences');
  if (stop.some((end) => end.trim() === '')) {
    throw badRequest('stop_sequences: each stop sequence must contain non-whitespace');
  }
  const format = objectOf(objectOf(body['output_config'])['format']);
  return {
    model: textAt(body, 'model') ?? '',
    messages: turns,
    continues: isPrefilled(turns, service.settings.modern),
    choices: 1,
    stop,
    maxTokens,
    ...defined({
      temperature: numberAt(body, 'temperature'),
      schema: format['type'] === 'json_schema' ? format['schema'] : undefined,
      tools: readTools(body['tools']),
      toolChoice: toolChoiceOf(body, service.settings.modern),
    }),
  };
}

/** Refuses invalid combinations in a request that only fills the cache, with an answer of no tokens. */
function checkWarming(body: JsonObject): void {
  if (body['max_tokens'] !== 0) return;
  const choice = textAt(objectOf(body['tool_choice']), 'type') ?? 'auto';
  const isForced = choice === 'any' || choice === 'tool';
  const format = objectOf(body['output_config'])['format'];
  if (body['stream'] === true || format !== undefined || isForced) {
    throw badRequest('max_tokens: 0 cannot be combined with stream, a format or a forced tool');
  }
}

function checkBudget(body: JsonObject, maxTokens: number): void {
  const budget = numberAt(objectOf(body['thinking']), 'budget_tokens');
  if (budget === undefined) return;
  if (budget < 1024) {
    throw badRequest(
      'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    );
  }
  if (budget >= maxTokens) {
    throw badRequest('`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
}

function isPrefilled(turns: AnthropicPrompt['messages'], modern: boolean): boolean {
  const last = turns.at(-1);
  if (last?.role !== 'assistant') return false;
  if (modern) {
    throw badRequest(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  }
  if (/\s$/.test(last.content)) {
    throw badRequest('messages: final assistant content cannot end with trailing whitespace');
  }
  return true;
}

function toolChoiceOf(body: JsonObject, modern: boolean): EmulatedQuestion['toolChoice'] {
  const choice = objectOf(body['tool_choice']);
  const type = textAt(choice, 'type') ?? '';
  switch (type) {
    case 'any':
    case 'tool':
      if (modern) {
        throw badRequest(
          `tool_choice: type "${type}" is not supported by this model. Use "auto" or "none".`,
        );
      }
      return type === 'any' ? 'required' : { name: textAt(choice, 'name') ?? '' };
    case 'auto':
    case 'none':
      return type;
    default:
      return undefined;
  }
}

function messageOf(call: Call, { choices, tokens }: Generation, count: CachedPrompt): JsonObject {
  const [choice] = choices;
  const { input, cached, cacheWrite, forAnHour } = count;
  return {
    id: `msg_${call.exchange.index}`,
    type: 'message',
    role: 'assistant',
    model: call.body['model'] ?? '',
    content: choice === undefined ? [] : contentOf(choice, call),
    stop_reason: choice === undefined ? 'end_turn' : stopReason(choice),
    stop_sequence: choice?.stoppedBy ?? null,
    stop_details: null,
    container: null,
    usage: {
      input_tokens: input - cached - cacheWrite,
      cache_creation_input_tokens: cacheWrite,
      cache_read_input_tokens: cached,
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWrite - forAnHour,
        ephemeral_1h_input_tokens: forAnHour,
      },
      output_tokens: tokens.output,
      output_tokens_details: { thinking_tokens: tokens.reasoning },
      service_tier: call.exchange.customId === undefined ? 'standard' : 'batch',
    },
  };
}

function contentOf(
  { text, reasoning, toolCalls }: Choice,
  { service }: Call,
): readonly JsonValue[] {
  const calls = toolCalls.map(({ id, name, input }) => ({
    type: 'tool_use',
    id: id.replace('call', 'toolu'),
    name,
    input,
  }));
  if (reasoning !== '') for (const { id } of calls) service.thoughtful.add(id);
  return [
    ...(reasoning === '' ? [] : [thinkingBlock(reasoning)]),
    ...(text === '' ? [] : [{ type: 'text', text, citations: null }]),
    ...calls,
  ];
}

function stopReason({ finish, stoppedBy }: Choice): string {
  const words = {
    stop: stoppedBy === undefined ? 'end_turn' : 'stop_sequence',
    length: 'max_tokens',
    tool: 'tool_use',
    refusal: 'refusal',
    pause: 'pause_turn',
    context: 'model_context_window_exceeded',
  };
  return words[finish];
}

function modelOf(id: string, contextLength: number): JsonObject {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: '2026-09-01T00:00:00Z',
    max_input_tokens: contextLength,
    max_tokens: mostTokens,
    capabilities: null,
    lifecycle: 'active',
  };
}

function unknownModel(model: string): RejectionOptions {
  return { status: 404, message: `model: ${model}` };
}

function anthropicError(
  { status, message, type }: RejectionOptions,
  { index }: Exchange,
): JsonValue {
  const types: Readonly<Record<number, string>> = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    503: 'overloaded_error',
    529: 'overloaded_error',
  };
  return {
    type: 'error',
    error: { type: type ?? types[status] ?? 'api_error', message },
    request_id: `req_${index}`,
  };
}

/** The rate limits left by the requests in flight, each of which counts as 1000 tokens for now. */
function limitHeaders({ exchange, service }: Call): Readonly<Record<string, string>> {
  const { inFlight } = service.account;
  const reset = new Date(service.settings.now() + 1000).toISOString();
  const limits = {
    requests: 4000,
    tokens: 2_400_000,
    'input-tokens': 2_000_000,
    'output-tokens': 400_000,
  };
  const told = Object.entries(limits).flatMap(([name, limit]) => [
    [`anthropic-ratelimit-${name}-limit`, String(limit)],
    [
      `anthropic-ratelimit-${name}-remaining`,
      String(limit - inFlight * (name === 'requests' ? 1 : 1000)),
    ],
    [`anthropic-ratelimit-${name}-reset`, reset],
  ]);
  return { 'request-id': `req_${exchange.index}`, ...Object.fromEntries(told) };
}
