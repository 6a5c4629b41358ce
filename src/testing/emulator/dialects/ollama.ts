import type { JsonValue } from '../../../contracts/json.ts';
import { type ChatManners, chatCompletions, openAiUsage } from '../chat-completions.ts';
import { templateSource } from '../chat-template.ts';
import type { Dialect, Exchange, Reply } from '../dialect.ts';
import { textAt } from '../fields.ts';
import { openAiFields } from '../known-fields.ts';
import { Rejection, type RejectionOptions } from '../rejection.ts';
import { emptyReply, jsonReply, modelList } from '../reply.ts';
import { plainText, textCompletions } from '../text-completions.ts';
import { systemOne } from './decisions.ts';
import { embeddings } from './embeddings.ts';
import { chat, generateText, truncated } from './ollama-native.ts';

const manners: ChatManners = {
  // Ignores `n`, and drops turns that do not fit.
  read: (asked, { service }) => truncated({ ...asked, choices: 1 }, service.settings.contextLength),
  reasoningField: 'reasoning',
  replyFields: () => ({ system_fingerprint: 'fp_ollama' }),
  usage: openAiUsage,
  firstDelta: { role: 'assistant', content: '' },
};

/** Ollama. */
export const ollama: Dialect = {
  calls: {
    'POST /v1/chat/completions': chatCompletions(manners),
    'POST /v1/completions': textCompletions({
      ...plainText,
      maxTokens: undefined,
      read: (asked) => ({ ...asked, choices: 1 }),
      usage: openAiUsage,
    }),
    'POST /api/chat': chat,
    'POST /api/generate': generateText,
    'POST /v1/embeddings': embeddings,
    'POST /v1/systemone': systemOne,
  },
  information: {
    'GET /': () => ({ status: 200, body: { text: 'Ollama is running', type: 'text/plain' } }),
    'HEAD /': () => emptyReply(),
    'GET /api/version': () => jsonReply({ version: '0.35.2' }),
    'GET /api/tags': ({ service }) => jsonReply({ models: service.settings.models.map(tagOf) }),
    'GET /api/ps': ({ service }) => jsonReply({ models: service.settings.models.map(tagOf) }),
    'POST /api/show': ({ body, service }) => {
      const model = textAt(body, 'model') ?? textAt(body, 'name') ?? '';
      const { models, contextLength } = service.settings;
      if (!models.some((name) => name === model || name === `${model}:latest`)) {
        throw new Rejection({ status: 404, message: `model '${model}' not found` });
      }
      return showOf(contextLength);
    },
    'GET /v1/models': (call) => modelList(call, 'library'),
  },
  errorBody: ollamaError,
  unauthorized: () => ({ status: 401, message: 'unauthorized', type: 'authentication_error' }),
  notFound: () => ({
    status: 404,
    body: { text: '404 page not found', type: 'text/plain' },
  }),
  unknownModel: (model) => ({
    status: 404,
    message: `model '${model}' not found`,
    type: 'not_found_error',
  }),
  overflow: ({ input, limit }) =>
    input <= limit
      ? undefined
      : { status: 400, message: 'the input length exceeds the context length' },
  knownFields: openAiFields,
  unknownField: (name) => ({ status: 400, message: `json: unknown field "${name}"` }),
};

/** Its own endpoints have errors of one line; the OpenAI-compatible ones do not. */
function ollamaError({ message, type, status }: RejectionOptions, { path }: Exchange): JsonValue {
  if (!path.startsWith('/v1')) return { error: message };
  const usual = status >= 500 ? 'api_error' : 'invalid_request_error';
  return { error: { message, type: type ?? usual, param: null, code: null } };
}

function tagOf(name: string): JsonValue {
  return {
    name,
    model: name,
    modified_at: '2026-10-01T00:00:00Z',
    size: 5_600_000,
    digest: '0'.repeat(64),
    details: { format: 'gguf', family: 'llama', parameter_size: '2.7M', quantization_level: 'F16' },
  };
}

function showOf(contextLength: number): Reply {
  return jsonReply({
    modelfile: '',
    parameters: '',
    template: templateSource,
    details: { format: 'gguf', family: 'llama', parameter_size: '2.7M', quantization_level: 'F16' },
    model_info: { 'general.architecture': 'llama', 'llama.context_length': contextLength },
    capabilities: ['completion', 'tools'],
  });
}
