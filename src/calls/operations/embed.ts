import {
  expectArray,
  expectation,
  expectMethods,
  expectObject,
  expectText,
} from '../../base/expect.ts';
import { modelName } from '../../base/model-name.ts';
import type { Embedding, EmbeddingModel, Embeddings } from '../../contracts/embedding-model.ts';
import type { ModelOperation } from './model-operation.ts';
import { mostTokensIn } from './tokens.ts';

/** Turns texts into vectors. */
export function embed(model: EmbeddingModel): ModelOperation<readonly string[], Embeddings> {
  return {
    kind: 'embed',
    get name() {
      return modelName(model);
    },
    payee: model,
    repeatable: true,
    check(texts) {
      expectMethods('model', model, ['embed']);
      expectArray('texts', texts);
      for (const [place, text] of texts.entries()) expectText(`texts[${place}]`, text);
    },
    address: (texts) => [...texts],
    worstCase: (texts) => ({ inputTokens: mostTokensIn(texts) }),
    usage: (_, { usage }) => usage,
    run: (texts, call) => model.embed(texts, call),
    accept: ({ length }, reply) => accept(modelName(model), reply, length),
    // A journal holds the vectors alone.
    result: {
      encode: ({ embeddings }) => embeddings,
      decode: (json) => ({ embeddings: json as readonly Embedding[] }),
    },
    telemetry: { operation: 'embeddings' },
    extent: ({ length }, { embeddings }) => ({ requests: length + 1, answers: embeddings.length }),
  };
}

function accept(name: string, reply: Embeddings, count: number): Embeddings {
  expectObject(`reply of ${name}`, reply);
  const { embeddings } = reply;
  expectArray(`embeddings of ${name}`, embeddings);
  if (embeddings.length !== count) {
    throw new Error(`${name} gave ${embeddings.length} vectors for ${count} texts.`);
  }
  const odd = embeddings.findIndex(
    (vector) => !Array.isArray(vector) || !vector.every(Number.isFinite),
  );
  if (odd < 0) return reply;
  throw expectation(`embeddings[${odd}] of ${name}`, 'an array of numbers', embeddings[odd]);
}
