import { expectArray, expectation, expectObject, expectText } from '../../base/expect.ts';
import type { EmbeddingModel, Embeddings } from '../../contracts/embedding-model.ts';
import type { ModelOperation } from './model-operation.ts';
import { ofModel } from './of-model.ts';
import { mostTokensIn } from './tokens.ts';

/** Turns texts into vectors. */
export function embed(model: EmbeddingModel): ModelOperation<readonly string[], Embeddings> {
  const common = ofModel('embed', model);
  return {
    ...common,
    check(texts) {
      expectArray('texts', texts);
      for (const [place, text] of texts.entries()) expectText(`texts[${place}]`, text);
    },
    address: (texts) => [...texts],
    worstCase: (texts) => ({ inputTokens: mostTokensIn(texts) }),
    run: (texts, call) => model.embed(texts, call),
    accept: ({ length }, reply) => accept(common.name, reply, length),
    // A journal stores only the vectors.
    result: {
      encode: ({ embeddings }) => embeddings,
      decode: (json) => ({ embeddings: json as readonly (readonly number[])[] }),
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
