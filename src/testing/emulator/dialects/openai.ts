import type { JsonValue } from '../../../contracts/json.ts';
import {
  type ChatManners,
  cacheDetails,
  chatCompletions,
  openAiUsage,
  reasoningDetails,
} from '../chat-completions.ts';
import type { Call, Dialect } from '../dialect.ts';
import { type JsonObject, numberAt, objectOf } from '../fields.ts';
import type { Asked, Choice } from '../generate.ts';
import { openAiFields } from '../known-fields.ts';
import { Rejection, type RejectionOptions } from '../rejection.ts';
import { jsonReply } from '../reply.ts';
import type { Generation } from '../serve-model.ts';
import { plainText, textCompletions } from '../text-completions.ts';
import { decisions } from './decisions.ts';
import { embeddings } from './embeddings.ts';
import { batchRoutes, createBatch } from './openai-batches.ts';
import { fileRoutes } from './openai-files.ts';
import { checkMarks, checkRanges, checkReasoning, effortOf } from './openai-gates.ts';
import { responses } from './openai-responses.ts';
import { checkSchemas } from './openai-schemas.ts';

const usage = (generation: Generation): JsonObject => ({
  ...openAiUsage(generation),
  ...cacheDetails(generation),
  ...reasoningDetails(generation),
});

/** Chat Completions as OpenAI has them. */
export const openAiManners: ChatManners = {
  read: readOpenAi,
  reasoningField: undefined,
  choiceFields: refusalFields,
  replyFields: () => ({ service_tier: 'default', system_fingerprint: 'fp_emulated' }),
  usage,
  firstDelta: { role: 'assistant', content: '', refusal: null },
};

/** OpenAI's API. */
export const openAi: Dialect = {
  calls: {
    'POST /v1/chat/completions': chatCompletions(openAiManners),
    'POST /v1/completions': textCompletions({
      ...plainText,
      read: (asked) => asked,
      usage: openAiUsage,
    }),
    'POST /v1/responses': responses,
    'POST /v1/embeddings': embeddings,
    'POST /v1/decisions': decisions,
    'POST /v1/batches': createBatch,
  },
  information: {
    ...batchRoutes,
    ...fileRoutes,
    'GET /v1/models': ({ service }) =>
      jsonReply({ object: 'list', data: service.settings.models.map(modelOf) }),
    'GET /v1/models/*': ({ service, exchange }) => {
      const id = exchange.path.slice('/v1/models/'.length);
      if (!service.settings.models.includes(id)) throw new Rejection(unknownModel(id));
      return jsonReply(modelOf(id));
    },
  },
  errorBody: openAiError,
  unauthorized: (key) => ({
    status: 401,
    type: 'invalid_request_error',
    ...(key === undefined
      ? { message: "You didn't provide an API key. Send it as `Authorization: Bearer YOUR_KEY`." }
      : {
          // The real server also shows this much of a wrong key.
          message: `Incorrect API key provided: ${masked(key)}.`,
          code: 'invalid_api_key',
        }),
  }),
  notFound: ({ method, path }) => ({
    status: 404,
    message: `Invalid URL (${method} ${path})`,
    type: 'invalid_request_error',
  }),
  unknownModel,
  overflow: overflowOf,
  headers: limitHeaders,
  prefixes: { block: 128, least: 1024 },
  knownFields: openAiFields,
  refusesUnknown: true,
  unknownField: (name, path) =>
    path === '/v1/responses'
      ? {
          status: 400,
          message: `Unknown parameter: '${name}'.`,
          code: 'unknown_parameter',
          param: name,
        }
      : { status: 400, message: `Unrecognized request argument supplied: ${name}` },
};

/** The body of an error in OpenAI's form. */
export function openAiError(rejection: RejectionOptions): JsonValue {
  const { message, type, param, code, status, extra = {} } = rejection;
  const usual = status >= 500 ? 'server_error' : 'invalid_request_error';
  const kind = type ?? (status === 429 ? 'requests' : usual);
  return { error: { message, type: kind, param: param ?? null, code: code ?? null, ...extra } };
}

function readOpenAi(asked: Asked, { body }: Call): Asked {
  checkReasoning(body, effortOf(body));
  checkMarks(body);
  checkSchemas(body);
  if (asked.stop.length > 4) {
    throw new Rejection({
      status: 400,
      message: `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${asked.stop.length} instead.`,
      code: 'array_above_max_length',
      param: 'stop',
    });
  }
  checkRanges(body);
  checkTopLogprobs(body);
  checkJsonWord(asked, body);
  return asked;
}

function checkTopLogprobs(body: JsonObject): void {
  if (numberAt(body, 'top_logprobs') === undefined || body['logprobs'] === true) return;
  throw new Rejection({
    status: 400,
    message: "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
    param: 'top_logprobs',
  });
}

function checkJsonWord({ messages }: Asked, body: JsonObject): void {
  if (objectOf(body['response_format'])['type'] !== 'json_object') return;
  if (messages.some(({ content }) => /json/i.test(content))) return;
  throw new Rejection({
    status: 400,
    message:
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    param: 'messages',
  });
}

/** A refusal has a separate field, and ends like any other answer. */
function refusalFields({ finish, text }: Choice): JsonObject {
  if (finish !== 'refusal') return {};
  return {
    message: { role: 'assistant', content: null, refusal: text },
    finish_reason: 'stop',
  };
}

function modelOf(id: string): JsonObject {
  return { id, object: 'model', created: 1_700_000_000, owned_by: 'emulated' };
}

function unknownModel(model: string): RejectionOptions {
  return {
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    code: 'model_not_found',
  };
}

function masked(key: string): string {
  return key.length < 12 ? '*'.repeat(key.length) : `${key.slice(0, 3)}***${key.slice(-4)}`;
}

function overflowOf(
  { input, output = 0, limit }: Parameters<Dialect['overflow']>[0],
  path: string,
): RejectionOptions | undefined {
  if (input + output <= limit) return undefined;
  const message =
    path === '/v1/responses'
      ? 'Your input exceeds the context window of this model. Please adjust your input and try again.'
      : `This model's maximum context length is ${limit} tokens. However, you requested ${input + output} tokens (${input} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`;
  return {
    status: 400,
    message,
    code: 'context_length_exceeded',
    param: path === '/v1/responses' ? 'input' : 'messages',
  };
}

/** The rate limits left by the requests in flight, each of which counts as 1000 tokens for now. */
function limitHeaders({ exchange, service }: Call): Readonly<Record<string, string>> {
  const { inFlight } = service.account;
  return {
    'x-request-id': `req_${exchange.index}`,
    'openai-version': '2020-10-01',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': String(10_000 - inFlight),
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': '2000000',
    'x-ratelimit-remaining-tokens': String(2_000_000 - 1000 * inFlight),
    'x-ratelimit-reset-tokens': '1s',
  };
}
