import { describe, expect, test } from 'vitest';
import { Decoder, type Prefix } from '../../../src/backends/tiny/decoder.ts';
import type { LlamaFile } from '../../../src/backends/tiny/gguf.ts';
import { readRandomLlama } from '../../support/temporary-gguf.ts';

const prompt = Array.from({ length: 100 }, (_, index) => (index * 37 + 11) % 360);
/** Two layers, a key and a value of 16 numbers each, 4 bytes a number. */
const slotBytes = 2 * 2 * 16 * 4;
const logitsBytes = 369 * 4;

describe('the same bits', () => {
  test('however a prompt is cut', async () => {
    const file = await readRandomLlama();
    const whole = logitsOf(new Decoder(file), prompt);
    for (const size of [1, 7, 33, 64, 99]) {
      const decoder = new Decoder(file);
      let prefix = decoder.root;
      let logits: Float32Array | undefined;
      for (let start = 0; start < prompt.length; start += size) {
        const tokens = prompt.slice(start, start + size);
        const [decoded] = decoder.decode([{ prefix, tokens, wantLogits: true }]);
        ({ prefix, logits } = decoded ?? { prefix });
      }
      expect(logits).toEqual(whole);
    }
  });

  test('whatever else is in the batch', async () => {
    const file = await readRandomLlama();
    const texts = Array.from({ length: 9 }, (_, index) => prompt.slice(index, index * 5 + 20));
    const alone = texts.map((text) => logitsOf(new Decoder(file), text));
    for (const count of [2, 3, 5, 9]) {
      const decoder = new Decoder(file);
      const items = texts.map((tokens) => ({ prefix: decoder.root, tokens, wantLogits: true }));
      const together = decoder.decode(items.slice(0, count)).map(({ logits }) => logits);
      expect(together).toEqual(alone.slice(0, count));
    }
  });

  test('whatever was cached and whatever was given up', async () => {
    const file = await readRandomLlama();
    const texts = Array.from({ length: 6 }, (_, index) => [...prompt.slice(0, 15), index, 7, 8]);
    const alone = texts.map((text) => logitsOf(new Decoder(file), text));
    const small = new Decoder(file, 24 * slotBytes + 2 * logitsBytes);
    for (const order of [texts, texts.toReversed()]) {
      for (const text of order) expect(logitsOf(small, text)).toEqual(alone[texts.indexOf(text)]);
    }
    expect(small.stats.evicted).toBeGreaterThan(0);
    expect(small.stats.cached).toBeLessThanOrEqual(24 + 2 * Math.floor(logitsBytes / slotBytes));
  });
});

describe('reuse', () => {
  test('a cached text costs nothing', async () => {
    const decoder = await decoderOf();
    const first = logitsOf(decoder, prompt);
    expect(logitsOf(decoder, prompt)).toBe(first);
    expect(decoder.stats).toEqual({
      computed: 100,
      reused: 100,
      evicted: 0,
      cached: 100,
      batches: 2,
    });
  });

  test('texts of one batch share what they have in common', async () => {
    const decoder = await decoderOf();
    const [left, right, same] = decoder.decode([
      { prefix: decoder.root, tokens: [1, 2, 3, 4], wantLogits: true },
      { prefix: decoder.root, tokens: [1, 2, 3, 5], wantLogits: false },
      { prefix: decoder.root, tokens: [1, 2, 3, 4], wantLogits: true },
    ]);
    expect(decoder.stats).toMatchObject({ computed: 5, reused: 7, cached: 5, batches: 1 });
    expect(same).toEqual(left);
    expect(same?.prefix).toBe(left?.prefix);
    expect(right).toEqual({ prefix: { ...right?.prefix, length: 4, token: 5 } });
  });

  test('logits that are wanted later cost one row', async () => {
    const decoder = await decoderOf();
    const [silent] = decoder.decode([{ prefix: decoder.root, tokens: [1, 2], wantLogits: false }]);
    const item = { prefix: silent?.prefix ?? decoder.root, tokens: [], wantLogits: true };
    expect(decoder.pending(item)).toBe(1);
    const [asked] = decoder.decode([item]);
    expect(decoder.pending(item)).toBe(0);
    expect(decoder.stats).toMatchObject({ computed: 3, cached: 2 });
    expect(asked?.logits).toEqual(logitsOf(await decoderOf(), [1, 2]));
  });

  test('pending counts the rows that an item would cost', async () => {
    const decoder = await decoderOf();
    const item = { prefix: decoder.root, tokens: [1, 2, 3, 4], wantLogits: true };
    expect(decoder.pending(item)).toBe(4);
    decoder.decode([{ ...item, tokens: [1, 2, 9] }]);
    expect(decoder.pending(item)).toBe(2);
    expect(decoder.pending({ ...item, tokens: [1] })).toBe(1);
    expect(decoder.pending({ ...item, tokens: [], wantLogits: false })).toBe(0);
    expect(decoder.stats.computed).toBe(3);
  });

  test('an item without tokens gives its prefix back', async () => {
    const decoder = await decoderOf();
    const [decoded] = decoder.decode([{ prefix: decoder.root, tokens: [], wantLogits: false }]);
    expect(decoded).toEqual({ prefix: decoder.root });
    expect(decoder.decode([])).toEqual([]);
    expect(decoder.stats).toEqual({ computed: 0, reused: 0, evicted: 0, cached: 0, batches: 0 });
  });
});

describe('a full cache', () => {
  test('gives up the leaf that was not used for the longest time', async () => {
    const decoder = await decoderOf(4 * slotBytes);
    read(decoder, [1, 2]);
    read(decoder, [3, 4]);
    read(decoder, [1, 2]);
    read(decoder, [5]);
    expect(decoder.stats).toMatchObject({ cached: 4, evicted: 1 });
    expect(costs(decoder, [[1, 2], [3], [3, 4], [5]])).toEqual([0, 0, 1, 0]);
  });

  test('keeps what is retained, and what leads there', async () => {
    const decoder = await decoderOf(4 * slotBytes);
    const kept = read(decoder, [1, 2]);
    decoder.retain(kept);
    read(decoder, [3, 4]);
    read(decoder, [5, 6]);
    expect(costs(decoder, [[1, 2], [3], [5, 6]])).toEqual([0, 1, 0]);
    decoder.release(kept);
    read(decoder, [7, 8]);
    expect(costs(decoder, [[1], [5, 6], [7, 8]])).toEqual([1, 0, 0]);
  });
});

describe('what was given up', () => {
  test('is read again, and it is what it was', async () => {
    const decoder = await decoderOf(4 * slotBytes + logitsBytes);
    const held = read(decoder, [1, 2]);
    read(
      decoder,
      Array.from({ length: 9 }, (_, index) => 20 + index),
    );
    const item = { prefix: held, tokens: [3], wantLogits: true };
    expect(decoder.pending(item)).toBe(3);
    const [decoded] = decoder.decode([item]);
    expect(decoded?.logits).toEqual(logitsOf(await decoderOf(), [1, 2, 3]));
    expect(decoded?.prefix.length).toBe(3);
    expect(decoder.pending({ prefix: held, tokens: [], wantLogits: false })).toBe(0);
  });

  test('may be logits that were not wanted for a while', async () => {
    const decoder = await decoderOf(5 * slotBytes + logitsBytes);
    const first = logitsOf(decoder, [1, 2]);
    const item = { prefix: decoder.root, tokens: [1, 2], wantLogits: true };
    expect(decoder.pending(item)).toBe(0);
    logitsOf(decoder, [1, 2, 3]);
    expect(decoder.pending(item)).toBe(1);
    expect(decoder.stats).toMatchObject({ cached: 3, evicted: 0 });
    expect(logitsOf(decoder, [1, 2])).toEqual(first);
  });

  test('makes room in the middle of a batch that does not fit together', async () => {
    const file = await readRandomLlama();
    const decoder = new Decoder(file, 4 * slotBytes + logitsBytes);
    const texts = [
      [1, 2, 3],
      [4, 5, 6],
      [7, 8, 9],
    ];
    const items = texts.map((tokens) => ({ prefix: decoder.root, tokens, wantLogits: true }));
    const decoded = decoder.decode(items);
    for (const [index, text] of texts.entries()) {
      expect(decoded[index]?.logits).toEqual(logitsOf(new Decoder(file), text));
    }
    expect(decoder.stats.batches).toBe(3);
  });

  test('is never what one item needs: it says so, and stays usable', async () => {
    const decoder = await decoderOf(4 * slotBytes);
    const kept = read(decoder, [1]);
    decoder.retain(kept);
    expect(() => read(decoder, [2, 3, 4, 5])).toThrow(
      `Expected \`cacheBytes\` to be enough for 4 tokens beside what is retained, got \`${4 * slotBytes}\`.`,
    );
    expect(costs(decoder, [[2, 3, 4], [1]])).toEqual([3, 0]);
    expect(read(decoder, [2, 3, 4]).length).toBe(3);
  });
});

describe('misuse', () => {
  test('names what is out of range', async () => {
    const decoder = await decoderOf();
    const { root } = decoder;
    const tokens = Array.from({ length: 129 }, () => 1);
    const item = { prefix: root, tokens: [1], wantLogits: true };
    expect(() => decoder.decode([{ ...item, tokens }])).toThrow(
      'Expected `tokens` to be at most 128 with their prefix, got `129`.',
    );
    expect(() => decoder.decode([{ ...item, tokens: [369] }])).toThrow(
      'Expected `token` to be an integer from 0 to 368, got `369`.',
    );
    expect(() => decoder.decode([{ ...item, tokens: [] }])).toThrow(
      'Expected `tokens` to be at least one where logits are wanted, got `0`.',
    );
    expect(() => decoder.release(root)).toThrow('Expected `prefix` to be retained, got an object.');
    const { root: foreign } = await decoderOf();
    expect(() => decoder.decode([{ ...item, prefix: foreign }])).toThrow(
      'Expected `prefix` to be one of this decoder, got an object.',
    );
    expect(decoder.stats.computed).toBe(0);
  });
});

async function decoderOf(cacheBytes?: number): Promise<Decoder> {
  return new Decoder(await randomFile(), cacheBytes);
}

let file: Promise<LlamaFile> | undefined;

function randomFile(): Promise<LlamaFile> {
  file ??= readRandomLlama();
  return file;
}

function read(decoder: Decoder, tokens: readonly number[]): Prefix {
  const [decoded] = decoder.decode([{ prefix: decoder.root, tokens, wantLogits: false }]);
  return decoded?.prefix ?? decoder.root;
}

function costs(decoder: Decoder, texts: readonly (readonly number[])[]): readonly number[] {
  return texts.map((tokens) =>
    decoder.pending({ prefix: decoder.root, tokens, wantLogits: false }),
  );
}

function logitsOf(decoder: Decoder, tokens: readonly number[]): Float32Array | undefined {
  const [decoded] = decoder.decode([{ prefix: decoder.root, tokens, wantLogits: true }]);
  return decoded?.logits;
}
