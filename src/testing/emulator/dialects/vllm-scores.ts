import type { JsonValue } from '../../../contracts/json.ts';
import { base64Of } from '../base64.ts';
import { readMessages } from '../chat-request.ts';
import { contentOf } from '../chat-template.ts';
import type { Call, Reply } from '../dialect.ts';
import { listOf, textAt, textsAt } from '../fields.ts';
import { jsonReply } from '../reply.ts';
import { readForScore } from '../serve-model.ts';

/** The step marks, and whether a row starts with the probability of a right step. */
const stepTags: readonly (readonly [tag: string, goodFirst: boolean])[] = [
  ['<extra_0>', false],
  ['ки', true],
  ['\n\n\n\n\n', true],
];

/**
 * `POST /pooling`: a row of two probabilities for each step, in the order of the model with that step tag; for token
 * ids, one score per token; for a text without steps, one score.
 */
export function pooling(call: Call): Reply {
  const { body } = call;
  const ids = listOf(body['input']).filter((item) => Array.isArray(item));
  const texts = ids.length > 0 ? ids.map((item) => decoded(call, item)) : inputsOf(call);
  const isBase64 = body['encoding_format'] === 'base64';
  return scored(call, {
    id: 'pool',
    texts,
    data: texts.map((text, index) => {
      const data = ids.length > 0 ? tokenRows(call, listOf(ids[index])) : textRows(call, text);
      return { index, object: 'pooling', data: isBase64 ? base64Of(data.flat()) : data };
    }),
  });
}

function textRows(call: Call, text: string): readonly number[] | readonly (readonly number[])[] {
  const [tag, goodFirst = false] = stepTags.find(([mark]) => text.includes(mark)) ?? [];
  if (tag === undefined) return [activated(call, call.service.settings.reward({ text }))];
  return stepsOf(text, tag).map((step) => {
    const good = call.service.settings.reward({ text: step });
    const row = goodFirst ? [good, 1 - good] : [1 - good, good];
    return row.map((probability) => (isRaw(call) ? Math.log(probability) : probability));
  });
}

function tokenRows(call: Call, ids: readonly JsonValue[]): readonly (readonly number[])[] {
  return ids.map((_, place) => {
    const text = decoded(call, ids.slice(0, place + 1));
    return [activated(call, call.service.settings.reward({ text }))];
  });
}

function decoded({ service }: Call, ids: JsonValue): string {
  return service.vocabulary.decode(listOf(ids) as readonly number[]);
}

function isRaw({ body }: Call): boolean {
  return body['use_activation'] === false;
}

/** A score as a probability, or as its logit on request. */
function activated(call: Call, probability: number): number {
  return isRaw(call) ? Math.log(probability / (1 - probability)) : probability;
}

/** `POST /classify`: the score of a reward model with one label. */
export function classify(call: Call): Reply {
  const texts = inputsOf(call);
  const { reward } = call.service.settings;
  return scored(call, {
    id: 'classify',
    texts,
    data: texts.map((text, index) => ({
      index,
      label: 'LABEL_0',
      probs: [activated(call, reward({ text }))],
      num_classes: 1,
    })),
  });
}

/** `POST /score`: how well each of the second texts matches the first. */
export function score(call: Call): Reply {
  const queries = firstOf(call, ['text_1', 'queries']);
  const texts = firstOf(call, ['text_2', 'documents', 'items']);
  const data = texts.map((text, index) => ({
    index,
    object: 'score',
    score: call.service.settings.reward({
      text,
      query: queries[queries.length === 1 ? 0 : index] ?? '',
    }),
  }));
  return scored(call, { id: 'score', texts: [...queries, ...texts], data });
}

/** `POST /rerank`: the documents, best first. */
export function rerank(call: Call): Reply {
  const { body, service, exchange } = call;
  const query = textAt(body, 'query') ?? '';
  const documents = textsAt(body, 'documents');
  const total = readForScore(call, [query, ...documents]);
  const results = documents
    .map((text, index) => ({
      index,
      document: { text },
      relevance_score: service.settings.reward({ text, query }),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score);
  return jsonReply({
    id: `rerank-${exchange.index}`,
    model: body['model'] ?? '',
    usage: { total_tokens: total },
    results,
  });
}

/** `POST /generative_scoring`: the probability of the first label after each item. */
export function generativeScoring(call: Call): Reply {
  const query = textAt(call.body, 'query') ?? '';
  const texts = textsAt(call.body, 'items');
  const label = decoded(call, listOf(call.body['label_token_ids']).slice(0, 1));
  const data = texts.map((text, index) => ({
    index,
    object: 'score',
    score: call.service.settings.reward({ text, query, ...(label !== '' && { label }) }),
  }));
  return scored(call, { id: 'score', texts: texts.map((text) => query + text), data });
}

interface Scores {
  readonly id: string;
  readonly texts: readonly string[];
  readonly data: readonly JsonValue[];
}

function scored(call: Call, { id, texts, data }: Scores): Reply {
  const { body, service, exchange } = call;
  const input = readForScore(call, texts);
  return jsonReply({
    id: `${id}-${exchange.index}`,
    object: 'list',
    created: Math.floor(service.settings.now() / 1000),
    model: body['model'] ?? service.settings.models[0] ?? '',
    data,
    usage: { prompt_tokens: input, total_tokens: input, completion_tokens: 0 },
  });
}

function inputsOf({ body }: Call): readonly string[] {
  if (body['messages'] === undefined) return textsAt(body, 'input');
  return [readMessages(body['messages']).map(contentOf).join('\n')];
}

function firstOf({ body }: Call, names: readonly string[]): readonly string[] {
  return textsAt(body, names.find((name) => body[name] !== undefined) ?? '');
}

/** The text up to each of its step marks. */
function stepsOf(text: string, tag: string): readonly string[] {
  const parts = text.split(tag).slice(0, -1);
  return parts.map((_, place) => parts.slice(0, place + 1).join(tag));
}
