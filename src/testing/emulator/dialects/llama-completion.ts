import { defined } from '../../../backends/transport/json.ts';
import { schemaIn } from '../chat-completions.ts';
import { readPrompt } from '../chat-template.ts';
import type { Call, Reply } from '../dialect.ts';
import { type JsonObject, numberAt, textAt, textsAt, words } from '../fields.ts';
import { type Asked, type Choice, isCut } from '../generate.ts';
import { tokenOf } from '../logprobs.ts';
import { badRequest } from '../rejection.ts';
import { eventReply, jsonReply } from '../reply.ts';
import { type Generation, generate } from '../serve-model.ts';
import { promptsOf } from '../text-completions.ts';
import { tokensOf } from '../tokens.ts';

/** The fields of llama-server in addition to those of OpenAI. */
export const ownFields: readonly string[] = words(`
  n_predict n_probs n_cmpl top_k min_p typical_p repeat_penalty mirostat grammar json_schema
  cache_prompt id_slot return_tokens post_sampling_probs chat_template_kwargs samplers
  timings_per_token ignore_eos
`);

/** Reads the additional fields of llama-server. */
export function withOwnFields(asked: Asked, body: JsonObject): Asked {
  const schema = schemaIn(body['json_schema']);
  if (schema !== undefined && body['grammar'] !== undefined) {
    throw badRequest('Cannot use both json_schema and grammar');
  }
  if (asked.tools !== undefined && body['grammar'] !== undefined) {
    throw badRequest('Cannot use custom grammar constraints with tools.');
  }
  // A seed below 0 means no seed.
  const { seed, ...rest } = asked;
  return {
    ...rest,
    ...(seed !== undefined && seed >= 0 && { seed }),
    ...defined({ schema }),
  };
}

/** `POST /completion`. */
export function completion(call: Call): Reply {
  const { body, service } = call;
  const [prompt = ''] = promptsOf(call);
  const limit = numberAt(body, 'n_predict') ?? -1;
  const probabilities = numberAt(body, 'n_probs') ?? 0;
  const asked = withOwnFields(
    {
      model: textAt(body, 'model') ?? service.settings.models[0] ?? '',
      prompt,
      ...readPrompt(prompt),
      choices: 1,
      stop: textsAt(body, 'stop'),
      ...defined({
        maxTokens: limit < 0 ? undefined : limit,
        temperature: numberAt(body, 'temperature'),
        seed: numberAt(body, 'seed'),
        topLogprobs: probabilities > 0 ? probabilities : undefined,
      }),
    },
    body,
  );
  const generation = generate(call, asked);
  const [choice] = generation.choices;
  const reply = replyOf(choice, generation, call);
  if (body['stream'] !== true) return jsonReply(reply);
  const pieces = tokensOf(choice?.text ?? '').map((content) => ({ content, stop: false }));
  return eventReply([...pieces, { ...reply, content: '' }].map((data) => ({ data })));
}

function replyOf(choice: Choice | undefined, generation: Generation, call: Call): JsonObject {
  const { body, service, exchange } = call;
  const { input, cached } = generation.tokens;
  const words = { stop_type: isCut(choice) ? 'limit' : 'eos', stopping_word: '' };
  const matched = { stop_type: 'word', stopping_word: choice?.stoppedBy ?? '' };
  return {
    index: 0,
    content: choice?.text ?? '',
    tokens: body['return_tokens'] === true ? service.vocabulary.encode(choice?.text ?? '') : [],
    id_slot: exchange.index % service.settings.parallel,
    stop: true,
    model: body['model'] ?? service.settings.models[0] ?? '',
    tokens_predicted: choice?.tokens ?? 0,
    tokens_evaluated: input,
    tokens_cached: cached,
    truncated: false,
    ...(choice?.stoppedBy === undefined ? words : matched),
    ...(choice?.logprobs !== undefined && {
      completion_probabilities: choice.logprobs.map(tokenOf),
    }),
    timings: timingsOf(generation),
  };
}

/** The tokens reused, read and written; reading and writing take a millisecond per token. */
export function timingsOf({ tokens, choices }: Generation): JsonObject {
  const [read, written] = [tokens.input - tokens.cached, choices[0]?.tokens ?? 0];
  return {
    cache_n: tokens.cached,
    prompt_n: read,
    prompt_ms: read,
    predicted_n: written,
    predicted_ms: written,
  };
}
