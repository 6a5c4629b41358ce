import { base64Of } from '../base64.ts';
import type { Call, Reply } from '../dialect.ts';
import { numberAt, textsAt } from '../fields.ts';
import { jsonReply } from '../reply.ts';
import { readForScore } from '../serve-model.ts';

/** `POST /v1/embeddings`: a vector for each text, shortened on request. */
export function embeddings(call: Call): Reply {
  const { body, service } = call;
  const texts = textsAt(body, 'input');
  const input = readForScore(call, texts);
  const dimensions = numberAt(body, 'dimensions');
  return jsonReply({
    object: 'list',
    model: body['model'] ?? service.settings.models[0] ?? '',
    data: texts.map((text, index) => {
      const vector = service.settings.embedding(text).slice(0, dimensions);
      const embedding = body['encoding_format'] === 'base64' ? base64Of(vector) : vector;
      return { object: 'embedding', index, embedding };
    }),
    usage: { prompt_tokens: input, total_tokens: input },
  });
}
