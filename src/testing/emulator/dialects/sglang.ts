import { defined } from '../../../backends/transport/json.ts';
import type { JsonValue } from '../../../contracts/json.ts';
import {
  type ChatManners,
  cacheDetails,
  chatCompletions,
  openAiUsage,
} from '../chat-completions.ts';
import { readPrompt } from '../chat-template.ts';
import type { Call, Dialect, Reply } from '../dialect.ts';
import {
  type JsonObject,
  listOf,
  numberAt,
  objectOf,
  parsed,
  textAt,
  textsAt,
  words,
} from '../fields.ts';
import { type Asked, asUser, type Choice, isCut } from '../generate.ts';
import { fieldsBeside } from '../known-fields.ts';
import { plainRefusals } from '../refusal-forms.ts';
import type { RejectionOptions } from '../rejection.ts';
import { emptyReply, eventReply, jsonReply, modelList } from '../reply.ts';
import { type Generation, generate, readForScore } from '../serve-model.ts';
import { plainText, textCompletions } from '../text-completions.ts';
import { decisions, systemOne } from './decisions.ts';
import { embeddings } from './embeddings.ts';

/** The id of the token that ends a turn. */
const endOfTurn = 2;

const matchedStop = ({ stoppedBy, finish }: Choice): JsonValue =>
  stoppedBy ?? (finish === 'stop' ? endOfTurn : null);

const choiceFields = (choice: Choice): JsonObject => ({ matched_stop: matchedStop(choice) });

const usage = (generation: Generation): JsonObject => ({
  ...openAiUsage(generation),
  ...cacheDetails(generation),
  reasoning_tokens: generation.tokens.reasoning,
});

const manners: ChatManners = {
  read: (asked, call) =>
    readOwn(
      call.body['continue_final_message'] === true
        ? { ...asked, continues: asked.messages.at(-1)?.role === 'assistant' }
        : { ...asked, ...asUser(asked) },
      call,
    ),
  reasoningField: 'reasoning_content',
  choiceFields,
  replyFields: () => ({ metadata: { weight_version: 'default' } }),
  usage,
  firstDelta: { role: 'assistant', content: '' },
};

const ownFields = words(`
  continue_final_message chat_template_kwargs top_k min_p repetition_penalty regex ebnf
  json_schema no_stop_trim stop_token_ids stop_regex min_tokens ignore_eos skip_special_tokens
  separate_reasoning rid lora_path cache_salt
`);

/** SGLang. */
export const sglang: Dialect = {
  calls: {
    'POST /v1/chat/completions': chatCompletions(manners),
    'POST /v1/completions': textCompletions({ ...plainText, read: readOwn, choiceFields, usage }),
    'POST /generate': generateNatively,
    'POST /v1/score': score,
    'POST /classify': classify,
    'POST /v1/embeddings': embeddings,
    'POST /v1/systemone': systemOne,
    'POST /v1/decisions': decisions,
  },
  information: {
    'POST /tokenize': tokenize,
    'GET /health': () => emptyReply(),
    'GET /health_generate': () => emptyReply(),
    'GET /get_model_info': modelInfo,
    'GET /model_info': modelInfo,
    'GET /server_info': serverInfo,
    'GET /get_server_info': serverInfo,
    'GET /v1/models': (call) => {
      const { contextLength: max_model_len } = call.service.settings;
      return modelList(call, 'sglang', (root) => ({ root, parent: null, max_model_len }));
    },
  },
  errorBody: topLevelError,
  ...plainRefusals,
  isOpen: (path) => path.startsWith('/health'),
  unknownModel: (model) => ({ status: 404, message: `The model \`${model}\` does not exist.` }),
  servesAnyModel: true,
  overflow: ({ input, output = 0, limit }) => {
    if (input + output <= limit && input < limit) return undefined;
    const message =
      input >= limit
        ? `The input (${input} tokens) is longer than the model's context length (${limit} tokens).`
        : `Requested token count exceeds the model's maximum context length of ${limit} tokens. You requested a total of ${input + output} tokens: ${input} tokens from the input messages and ${output} tokens for the completion.`;
    return { status: 400, message };
  },
  prefixes: { block: 1 },
  knownFields: fieldsBeside(ownFields),
};

/** An error at the top level of the body. */
export function topLevelError({ status, message, type, param }: RejectionOptions): JsonValue {
  const usual = status >= 500 ? 'InternalServerError' : 'BadRequestError';
  return {
    object: 'error',
    message,
    type: type ?? (status === 404 ? 'NotFoundError' : usual),
    param: param ?? null,
    code: status,
  };
}

function readOwn(asked: Asked, { body }: Call): Asked {
  const schema = textAt(body, 'json_schema');
  return {
    ...asked,
    ...(body['no_stop_trim'] === true && { keepsStop: true }),
    ...defined({ schema: schema === undefined ? undefined : parsed(schema) }),
  };
}

/** `POST /generate`: one text, or `n` texts. */
function generateNatively(call: Call): Reply {
  const { body, service } = call;
  const sampling = objectOf(body['sampling_params']);
  const ids = listOf(body['input_ids']) as readonly number[];
  const prompt = textAt(body, 'text') ?? service.vocabulary.decode(ids);
  const schema = textAt(sampling, 'json_schema');
  const generation = generate(call, {
    model: service.settings.models[0] ?? '',
    prompt,
    ...readPrompt(prompt),
    choices: numberAt(sampling, 'n') ?? 1,
    stop: textsAt(sampling, 'stop'),
    keepsStop: sampling['no_stop_trim'] === true,
    maxTokens: numberAt(sampling, 'max_new_tokens') ?? 128,
    ...defined({
      temperature: numberAt(sampling, 'temperature'),
      seed: numberAt(sampling, 'sampling_seed'),
      topLogprobs:
        body['return_logprob'] === true ? (numberAt(body, 'top_logprobs_num') ?? 0) : undefined,
      schema: schema === undefined ? undefined : parsed(schema),
    }),
  });
  const replies = generation.choices.map((choice) => nativeReply(choice, generation, call));
  if (body['stream'] === true) {
    return eventReply([...replies.map((data) => ({ data })), { data: { word: '[DONE]' } }]);
  }
  return jsonReply(replies.length === 1 ? (replies[0] ?? {}) : replies);
}

function nativeReply(choice: Choice, { tokens }: Generation, call: Call): JsonObject {
  const { text, logprobs } = choice;
  const { vocabulary } = call.service;
  const told = logprobs?.map(({ token, logprob }) => [
    logprob,
    vocabulary.encode(token)[0] ?? 0,
    call.body['return_text_in_logprobs'] === true ? token : null,
  ]);
  return {
    text,
    output_ids: vocabulary.encode(text),
    meta_info: {
      id: textAt(call.body, 'rid') ?? `generate-${call.exchange.index}`,
      finish_reason: isCut(choice)
        ? { type: 'length', length: choice.tokens }
        : { type: 'stop', matched: matchedStop(choice) },
      prompt_tokens: tokens.input,
      completion_tokens: choice.tokens,
      cached_tokens: tokens.cached,
      ...(told !== undefined && { output_token_logprobs: told }),
    },
  };
}

/** `POST /v1/score`: the probability of each label after each item. */
function score(call: Call): Reply {
  const { body, service } = call;
  const query = textAt(body, 'query') ?? '';
  const items = textsAt(body, 'items');
  const labels = listOf(body['label_token_ids']).length;
  // Without the softmax, other tokens than the labels also have probability.
  const share = body['apply_softmax'] === true ? 1 : 0.5;
  const scores = items.map((text) => {
    const first = service.settings.reward({ text, query });
    return Array.from(
      { length: labels },
      (_, label) => share * (label === 0 ? first : (1 - first) / Math.max(1, labels - 1)),
    );
  });
  const input = readForScore(
    call,
    items.map((item) => (body['item_first'] === true ? item + query : query + item)),
  );
  return jsonReply({
    object: 'scoring',
    scores,
    model: body['model'] ?? '',
    usage: { prompt_tokens: input, total_tokens: input, completion_tokens: 0 },
  });
}

/** `POST /classify`: the score of a reward model for each rendered conversation. */
function classify(call: Call): Reply {
  const texts = textsAt(call.body, 'text');
  const input = readForScore(call, texts);
  const { reward } = call.service.settings;
  return jsonReply(
    texts.map((text) => ({
      embedding: [reward({ text })],
      meta_info: { prompt_tokens: Math.ceil(input / texts.length) },
    })),
  );
}

/** `POST /tokenize`: the ids of a text's tokens. */
function tokenize({ body, service }: Call): Reply {
  const tokens = service.vocabulary.encode(textAt(body, 'prompt') ?? '');
  const { contextLength } = service.settings;
  return jsonReply({ tokens, count: tokens.length, max_model_len: contextLength });
}

function modelInfo({ service }: Call): Reply {
  const [model = ''] = service.settings.models;
  return jsonReply({
    model_path: model,
    tokenizer_path: model,
    is_generation: true,
    preferred_sampling_params: null,
  });
}

function serverInfo({ service }: Call): Reply {
  const [model = ''] = service.settings.models;
  return jsonReply({
    model_path: model,
    context_length: service.settings.contextLength,
    version: '0.5.6',
  });
}
