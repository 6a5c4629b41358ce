import { describe, expect, test } from 'vitest';
import { type LlamaFile, readLlamaFile } from '../../../src/backends/tiny/gguf.ts';
import { halfBits, type TensorEncoding } from '../../support/gguf-encodings.ts';
import type { GgufContents } from '../../support/gguf-writer.ts';
import { chatTemplate, randomLlama } from '../../support/random-llama.ts';
import { readRandomLlama, temporaryGguf } from '../../support/temporary-gguf.ts';

describe('what is read', () => {
  test('the shape', async () => {
    const { name, config } = await readRandomLlama({ headCountKv: 2, ropeBase: 5000 });
    expect(name).toBe('random');
    expect(config).toEqual({
      contextLength: 128,
      embeddingLength: 32,
      blockCount: 2,
      headCount: 4,
      headCountKv: 2,
      headDimension: 8,
      feedForwardLength: 64,
      rmsEpsilon: Math.fround(1e-5),
      ropeBase: 5000,
      vocabularySize: 369,
    });
  });

  test('the vocabulary', async () => {
    const { vocabulary } = await readRandomLlama({ pieces: ['▁ab', 'ü'] });
    expect(vocabulary).toMatchObject({ model: 'llama', bos: 1, eos: 2, unknown: 0, chatTemplate });
    expect(vocabulary).toMatchObject({ addBos: true, addSpacePrefix: true });
    expect(vocabulary.tokens.slice(0, 4)).toEqual(['<unk>', '<s>', '</s>', '<|system|>']);
    expect(vocabulary.tokens.slice(260, 266)).toEqual(['<0xFE>', '<0xFF>', '▁ab', 'ü', '▁', '\n']);
    expect(vocabulary.scores.slice(261, 266)).toEqual([0, -0, -1, -2, -3]);
    expect(vocabulary.types.slice(0, 7)).toEqual([2, 3, 3, 3, 3, 3, 6]);
    expect(vocabulary).not.toHaveProperty('preTokenizer');
  });

  test('defaults of what a file may leave out', async () => {
    const contents = randomLlama({ headCountKv: 4 });
    const rare = /head_count_kv|freq_base|dimension_count|general.name|add_|_token_id|template/;
    const { config, vocabulary, name } = await readLlamaFile(
      temporaryGguf({ ...contents, metadata: without(contents.metadata, rare) }),
    );
    expect(config).toMatchObject({ headCountKv: 4, ropeBase: 10_000 });
    expect(vocabulary).toMatchObject({ addBos: true, addSpacePrefix: true });
    expect(Object.keys(vocabulary)).not.toContain('bos');
    expect(name).toBeUndefined();
  });

  test('the weights', async () => {
    const contents = randomLlama();
    const { tensors } = await readLlamaFile(temporaryGguf(contents));
    expect([...tensors.keys()]).toEqual(Object.keys(contents.tensors));
    for (const [name, { shape, data }] of Object.entries(contents.tensors)) {
      expect(tensors.get(name)).toEqual({ shape, data });
    }
  });
});

describe('encodings, by numbers that they hold exactly', () => {
  const ramp = (low: number, step: number) =>
    Float32Array.from({ length: 32 }, (_, index) => low + ((index * 5) % 16) * step);
  const bytes = Float32Array.from({ length: 32 }, (_, index) => (index * 8 - 127) / 4);

  test.each<readonly [TensorEncoding, Float32Array<ArrayBuffer>]>([
    ['f32', Float32Array.from({ length: 32 }, (_, index) => Math.fround(Math.PI ** index))],
    ['f16', Float32Array.from({ length: 32 }, (_, index) => (-2) ** (index - 19) * 1.125)],
    ['bf16', Float32Array.from({ length: 32 }, (_, index) => (-2) ** (index * 3 - 50) * 1.125)],
    ['q8_0', bytes],
    ['q4_0', ramp(-4, 0.5)],
    ['q4_1', ramp(3, 0.25)],
  ])('%s', async (encoding, data) => {
    const contents = randomLlama();
    const tensor = { shape: [32], encoding, data };
    const file = await readLlamaFile(
      temporaryGguf({
        ...contents,
        tensors: { ...contents.tensors, 'output_norm.weight': tensor },
      }),
    );
    expect(file.tensors.get('output_norm.weight')?.data).toEqual(data);
  });

  test('half precision: ends, subnormal numbers and ties', () => {
    const bits = [0, -0, 1, -2, 65504, 2 ** -24, 2 ** -14, 1 + 2 ** -11, 1 + 3 * 2 ** -11];
    expect(bits.map(halfBits)).toEqual([
      0, 0x8000, 0x3c00, 0xc000, 0x7bff, 1, 0x400, 0x3c00, 0x3c02,
    ]);
  });

  test.each<readonly [TensorEncoding, number]>([
    ['f16', 2 ** -11],
    ['bf16', 2 ** -8],
    ['q8_0', 1 / 200],
    ['q4_0', 1 / 6],
  ])('%s keeps a random model close', async (encoding, tolerance) => {
    const [exact, stored] = [await readRandomLlama(), await readRandomLlama({ encoding })];
    const [wanted, found] = [exact, stored].map(embeddings);
    const most = Math.max(...(wanted ?? []).map(Math.abs));
    for (const [index, value] of (wanted ?? []).entries()) {
      expect(Math.abs((found?.[index] ?? 0) - value)).toBeLessThanOrEqual(tolerance * most);
    }
  });
});

function embeddings({ tensors }: LlamaFile): readonly number[] {
  return [...(tensors.get('token_embd.weight')?.data ?? [])];
}

function without(metadata: GgufContents['metadata'], pattern: RegExp): GgufContents['metadata'] {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !pattern.test(key)));
}
