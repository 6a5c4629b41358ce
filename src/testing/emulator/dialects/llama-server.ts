import {
  type ChatManners,
  cacheDetails,
  chatCompletions,
  openAiUsage,
} from '../chat-completions.ts';
import { readMessages, readTools } from '../chat-request.ts';
import { renderPrompt, templateSource } from '../chat-template.ts';
import type { Call, Dialect, Reply } from '../dialect.ts';
import { type JsonObject, listOf, numberAt, textAt } from '../fields.ts';
import type { Asked } from '../generate.ts';
import { fieldsBeside } from '../known-fields.ts';
import { chatLogprobs } from '../logprobs.ts';
import { badRequest, Rejection, type RejectionOptions } from '../rejection.ts';
import { jsonReply, modelList } from '../reply.ts';
import type { Generation } from '../serve-model.ts';
import { textCompletions } from '../text-completions.ts';
import { countTokens } from '../tokens.ts';
import { systemOne } from './decisions.ts';
import { embeddings } from './embeddings.ts';
import { completion, ownFields, timingsOf, withOwnFields } from './llama-completion.ts';

const manners: ChatManners = {
  read: (asked, call) => readOwn(continued(asked), call),
  reasoningField: 'reasoning_content',
  replyFields: (generation) => ({
    system_fingerprint: 'b11669-emulated',
    timings: timingsOf(generation),
  }),
  usage,
  firstDelta: { role: 'assistant', content: null },
};

const chat = chatCompletions(manners);
const text = textCompletions({
  maxTokens: undefined,
  read: readOwn,
  // In the form of the chat endpoint, not of text completions.
  logprobs: chatLogprobs,
  usage,
});

/** llama-server, of llama.cpp. */
export const llamaServer: Dialect = {
  calls: {
    'POST /v1/chat/completions': chat,
    'POST /chat/completions': chat,
    'POST /v1/completions': text,
    'POST /completion': completion,
    'POST /completions': completion,
    'POST /v1/embeddings': embeddings,
    'POST /v1/systemone': systemOne,
  },
  information: {
    'GET /health': () => jsonReply({ status: 'ok' }),
    'GET /props': props,
    'GET /slots': slots,
    'GET /v1/models': models,
    'GET /models': models,
    'POST /apply-template': ({ body }) => jsonReply({ prompt: renderPrompt(conversation(body)) }),
    'POST /v1/chat/completions/input_tokens': ({ body }) =>
      jsonReply({ input_tokens: countTokens(renderPrompt(conversation(body))) }),
    'POST /tokenize': ({ body, service }) =>
      jsonReply({ tokens: service.vocabulary.encode(textAt(body, 'content') ?? '') }),
    'POST /detokenize': ({ body, service }) =>
      jsonReply({ content: service.vocabulary.decode(listOf(body['tokens']) as number[]) }),
  },
  errorBody: llamaError,
  unauthorized: () => ({ status: 401, message: 'Invalid API Key', type: 'authentication_error' }),
  isOpen: (path) => ['/health', '/v1/models', '/models'].includes(path),
  notFound: () => ({ status: 404, message: 'File Not Found', type: 'not_found_error' }),
  unknownModel: (model) => ({
    status: 404,
    message: `model '${model}' not found`,
    type: 'not_found_error',
  }),
  servesAnyModel: true,
  overflow: ({ input, limit }) =>
    input < limit
      ? undefined
      : {
          status: 400,
          message: `request (${input} tokens) exceeds the available context size (${limit} tokens), try increasing it`,
          type: 'exceed_context_size_error',
          extra: { n_prompt_tokens: input, n_ctx: limit },
        },
  headers: () => ({ server: 'llama.cpp' }),
  prefixes: { block: 1 },
  knownFields: fieldsBeside(ownFields),
  unknownField: (name) => ({ status: 400, message: `Unknown field '${name}'` }),
};

function llamaError({ status, message, type, extra = {} }: RejectionOptions) {
  const usual = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { error: { code: status, message, type: type ?? usual, ...extra } };
}

/** Counts only one choice, however many there are. */
function usage(generation: Generation): JsonObject {
  return {
    ...openAiUsage(generation, generation.choices[0]?.tokens ?? 0),
    ...cacheDetails(generation),
  };
}

/** A trailing assistant turn is always continued. */
function continued(asked: Asked): Asked {
  const { messages } = asked;
  if (messages.at(-1)?.role !== 'assistant') return asked;
  if (messages.at(-2)?.role === 'assistant') {
    throw badRequest('Cannot have 2 or more assistant messages at the end of the list.');
  }
  return { ...asked, continues: true };
}

function readOwn(asked: Asked, call: Call): Asked {
  const { body, service } = call;
  const { parallel } = service.settings;
  if (asked.choices > parallel) {
    throw badRequest(
      `Field 'n': Value must be between 1 <= value <= ${parallel}, but got ${asked.choices}`,
    );
  }
  if (numberAt(body, 'top_logprobs') !== undefined && body['logprobs'] !== true) {
    throw badRequest('top_logprobs requires logprobs to be set to true');
  }
  return withOwnFields(asked, body);
}

function conversation(body: JsonObject) {
  const messages = readMessages(body['messages']);
  const tools = readTools(body['tools']);
  const continues = messages.at(-1)?.role === 'assistant';
  return { messages, continues, ...(tools !== undefined && { tools }) };
}

function props({ service }: Call): Reply {
  const { parallel, contextLength, models: names } = service.settings;
  return jsonReply({
    default_generation_settings: { n_ctx: contextLength, params: { n_predict: -1 } },
    total_slots: parallel,
    model_alias: names[0] ?? '',
    model_path: `/models/${names[0] ?? ''}.gguf`,
    chat_template: templateSource,
    chat_template_caps: { supports_system_role: true, supports_tools: true },
    modalities: { vision: false, audio: false },
    build_info: 'b11669-emulated',
    is_sleeping: false,
  });
}

function slots({ service, exchange }: Call): Reply {
  const { parallel, contextLength } = service.settings;
  // This request itself does not occupy the model.
  const busy = service.account.inFlight - 1;
  if (exchange.query.get('fail_on_no_slot') === '1' && busy >= parallel) {
    throw new Rejection({
      status: 503,
      message: 'no slot available',
      type: 'unavailable_error',
    });
  }
  return jsonReply(
    Array.from({ length: parallel }, (_, id) => ({
      id,
      n_ctx: contextLength,
      is_processing: id < busy,
    })),
  );
}

function models(call: Call): Reply {
  const { contextLength } = call.service.settings;
  const meta = { n_ctx: contextLength, n_ctx_train: contextLength, n_params: 2_710_000 };
  return modelList(call, 'llamacpp', () => ({ meta }));
}
