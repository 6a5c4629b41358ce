import type { EmbeddingModel } from '../../src/contracts/embedding-model.ts';

/** A model that counts letters, and remembers what it was asked. */
export interface LetterModel extends EmbeddingModel {
  readonly asked: readonly (readonly string[])[];
}

/** Embeds a text as its numbers of `a`, `b` and `c`. A text with `!` cannot be embedded. */
export function letterModel(modelId = 'letters'): LetterModel {
  const asked: (readonly string[])[] = [];
  return {
    provider: 'test',
    modelId,
    price: { input: 1, output: 0 },
    asked,
    async embed(texts, { clock, signal }) {
      asked.push([...texts]);
      await clock.sleep(5, signal);
      if (texts.some((text) => text.includes('!'))) throw new Error('The model choked.');
      const count = (text: string, letter: string) => text.split(letter).length - 1;
      const embeddings = texts.map((text) => ['a', 'b', 'c'].map((one) => count(text, one)));
      return { embeddings, usage: { inputTokens: texts.length } };
    },
  };
}
