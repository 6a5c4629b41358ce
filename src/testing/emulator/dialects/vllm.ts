import { defined } from '../../../backends/transport/json.ts';
import type { JsonValue } from '../../../contracts/json.ts';
import {
  type ChatManners,
  cacheDetails,
  chatCompletions,
  openAiUsage,
  schemaIn,
} from '../chat-completions.ts';
import { readChat } from '../chat-request.ts';
import { renderPrompt } from '../chat-template.ts';
import type { Call, Dialect } from '../dialect.ts';
import { type JsonObject, listOf, numberAt, objectOf, textAt, textsAt, words } from '../fields.ts';
import type { Asked, Choice } from '../generate.ts';
import { fieldsBeside } from '../known-fields.ts';
import { plainRefusals } from '../refusal-forms.ts';
import { badRequest, type RejectionOptions } from '../rejection.ts';
import { emptyReply, jsonReply, modelList } from '../reply.ts';
import type { Generation } from '../serve-model.ts';
import { plainText, textCompletions } from '../text-completions.ts';
import { tokensOf } from '../tokens.ts';
import { embeddings } from './embeddings.ts';
import { classify, generativeScoring, pooling, rerank, score } from './vllm-scores.ts';

const choiceFields = ({ stoppedBy }: Choice): JsonObject => ({
  stop_reason: stoppedBy ?? null,
  token_ids: null,
});

const usage = (generation: Generation): JsonObject => ({
  ...openAiUsage(generation),
  ...cacheDetails(generation),
});

const manners: ChatManners = {
  read: (asked, call) => readOwn(continued(asked, call), call),
  reasoningField: 'reasoning',
  choiceFields,
  replyFields: () => ({
    system_fingerprint: null,
    prompt_logprobs: null,
    kv_transfer_params: null,
  }),
  usage,
  firstDelta: { role: 'assistant', content: '' },
};

const ownFields = words(`
  add_generation_prompt continue_final_message chat_template_kwargs top_k min_p
  repetition_penalty length_penalty stop_token_ids include_stop_str_in_output ignore_eos
  min_tokens skip_special_tokens prompt_logprobs structured_outputs cache_salt return_token_ids
  priority request_id add_special_tokens
`);

/** vLLM. */
export const vllm: Dialect = {
  calls: {
    'POST /v1/chat/completions': chatCompletions(manners),
    'POST /v1/completions': textCompletions({ ...plainText, read: readOwn, choiceFields, usage }),
    'POST /pooling': pooling,
    'POST /classify': classify,
    'POST /score': score,
    'POST /v1/score': score,
    'POST /rerank': rerank,
    'POST /v1/rerank': rerank,
    'POST /generative_scoring': generativeScoring,
    'POST /v1/embeddings': embeddings,
  },
  information: {
    'GET /health': () => emptyReply(),
    'GET /ping': () => emptyReply(),
    'GET /version': () => jsonReply({ version: '0.13.0' }),
    'GET /v1/models': (call) => {
      const { contextLength: max_model_len } = call.service.settings;
      return modelList(call, 'vllm', (root) => ({
        root,
        parent: null,
        max_model_len,
        permission: [],
      }));
    },
    'POST /tokenize': tokenize,
    'POST /detokenize': ({ body, service }) =>
      jsonReply({ prompt: service.vocabulary.decode(listOf(body['tokens']) as number[]) }),
  },
  errorBody: vllmError,
  ...plainRefusals,
  isOpen: (path) => !path.startsWith('/v1'),
  unknownModel: (model) => ({
    status: 404,
    message: `The model \`${model}\` does not exist.`,
    param: 'model',
  }),
  overflow: ({ input, output = 0, limit }) =>
    input + Math.max(1, output) <= limit
      ? undefined
      : {
          status: 400,
          message: `This model's maximum context length is ${limit} tokens. However, you requested ${output} output tokens and your prompt contains at least ${input} input tokens, for a total of at least ${input + output} tokens. Please reduce the length of the input prompt or the number of requested output tokens.`,
          param: 'input_tokens',
        },
  prefixes: { block: 16 },
  knownFields: fieldsBeside(ownFields),
};

function vllmError({ status, message, type, param }: RejectionOptions): JsonValue {
  const types: Readonly<Record<number, string>> = {
    400: 'BadRequestError',
    401: 'AuthenticationError',
    404: 'NotFoundError',
    429: 'TooManyRequestsError',
  };
  const usual = types[status] ?? 'InternalServerError';
  return { error: { message, type: type ?? usual, param: param ?? null, code: status } };
}

/** The last turn is continued only if the request says both that it is continued and that no new turn begins. */
function continued(asked: Asked, { body }: Call): Asked {
  if (body['continue_final_message'] !== true) return asked;
  if (body['add_generation_prompt'] === true) {
    throw badRequest(
      'Cannot set both `continue_final_message` and `add_generation_prompt` to True.',
    );
  }
  if (body['add_generation_prompt'] !== false) {
    throw badRequest(
      'continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want the model to continue the final message.',
    );
  }
  return { ...asked, continues: true };
}

/** The default maximum of log-probabilities per token. */
const mostLogprobs = 20;

function readOwn(asked: Asked, { body }: Call): Asked {
  if ((asked.temperature ?? 0) < 0) {
    throw badRequest(`temperature must be non-negative, got ${asked.temperature}.`);
  }
  const top = asked.topLogprobs ?? 0;
  if (top > mostLogprobs) {
    throw badRequest(
      `Requested sample logprobs of ${top}, which is greater than max allowed: ${mostLogprobs}`,
    );
  }
  if (asked.choices > 1 && asked.temperature === 0) {
    throw badRequest(`n must be 1 when using greedy sampling, got ${asked.choices}.`);
  }
  if (Array.isArray(body['tools']) && asked.tools === undefined) {
    throw badRequest('`tools` must not be an empty array.');
  }
  if (asked.prompt === undefined && numberAt(body, 'top_logprobs') !== undefined) {
    if (body['logprobs'] !== true) {
      throw badRequest('when using `top_logprobs`, `logprobs` must be set to true.');
    }
  }
  const structured = objectOf(body['structured_outputs']);
  const options = textsAt(structured, 'choice');
  return {
    ...asked,
    ...(body['include_stop_str_in_output'] === true && { keepsStop: true }),
    ...defined({ schema: schemaIn(structured['json']) }),
    ...(options.length > 0 && { options }),
  };
}

function tokenize(call: Call) {
  const { body, service } = call;
  const prompt = textAt(body, 'prompt') ?? renderedChat(call);
  return jsonReply({
    count: tokensOf(prompt).length,
    max_model_len: service.settings.contextLength,
    tokens: service.vocabulary.encode(prompt),
    token_strs: body['return_token_strs'] === true ? tokensOf(prompt) : null,
  });
}

function renderedChat(call: Call): string {
  const asked = continued(readChat(call.body), call);
  const prompt = renderPrompt(asked);
  const isBare = call.body['add_generation_prompt'] === false && !asked.continues;
  return isBare ? prompt.slice(0, -'<|assistant|>'.length) : prompt;
}
