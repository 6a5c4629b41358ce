import type { JsonValue } from '../../../spec/json.ts';
import { readMessages } from '../chat-request.ts';
import { contentOf } from '../chat-template.ts';
import type { Call, Reply } from '../dialect.ts';
import { textAt, textsAt } from '../fields.ts';
import { jsonReply } from '../reply.ts';
import { readForScore } from '../serve-model.ts';

/** What marks the end of a step for Qwen2.5-Math-PRM. */
const stepTag = '<extra_0>';

/** `POST /pooling`: a row of two probabilities, wrong and right, for each step; without steps, one score. */
export function pooling(call: Call): Reply {
  const texts = inputsOf(call);
  const { reward } = call.service.settings;
  return scored(call, {
    id: 'pool',
    texts,
    data: texts.map((text, index) => ({
      index,
      object: 'pooling',
      data: text.includes(stepTag)
        ? stepsOf(text).map((step) => [1 - reward({ text: step }), reward({ text: step })])
        : [reward({ text })],
    })),
  });
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
      probs: [reward({ text })],
      num_classes: 1,
    })),
  });
}

/** `POST /score`: how well each of the second texts goes with the first. */
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
  const data = texts.map((text, index) => ({
    index,
    object: 'score',
    score: call.service.settings.reward({ text, query }),
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
function stepsOf(text: string): readonly string[] {
  const parts = text.split(stepTag).slice(0, -1);
  return parts.map((_, place) => parts.slice(0, place + 1).join(stepTag));
}
