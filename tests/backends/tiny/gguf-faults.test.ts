import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readLlamaFile } from '../../../src/backends/tiny/gguf.ts';
import { EspalierError } from '../../../src/base/errors.ts';
import {
  encodeGguf,
  type GgufContents,
  type GgufTensor,
  type MetadataEntry,
} from '../../support/gguf-writer.ts';
import { randomLlama } from '../../support/random-llama.ts';
import { temporaryGguf } from '../../support/temporary-gguf.ts';

const good = randomLlama();
const encoded = encodeGguf(good);

test('a missing file', async () => {
  expect(await sentence('/nowhere/model.gguf')).toMatch(
    /^There is no file `\/nowhere\/model.gguf`\.$/,
  );
});

test('a folder', async () => {
  expect(await sentence(tmpdir())).toBe(
    `Expected a GGUF file, got something that is no file: \`${tmpdir()}\`.`,
  );
});

describe('a compressed file', () => {
  const packed = (content: Uint8Array, name = 'model.gguf.gz') => {
    const path = join(dirname(temporaryGguf(content)), name);
    writeFileSync(path, content);
    return path;
  };

  test('holds what the file held', async () => {
    const plain = await readLlamaFile(temporaryGguf(encoded));
    const { tensors, ...rest } = await readLlamaFile(packed(gzipSync(encoded)));
    expect({ ...rest, path: plain.path }).toEqual({ ...plain, tensors: undefined });
    expect([...tensors]).toEqual([...plain.tensors]);
  });

  test.each([
    [
      'that is not one',
      encoded,
      'a GGUF file compressed by gzip, of at most 400 MB, got something',
    ],
    ['that is cut', gzipSync(encoded).subarray(0, 900), 'compressed by gzip, of at most 400 MB'],
    ['of something else', gzipSync('{}'), 'a GGUF file, got another kind of file'],
    [
      'of a part',
      gzipSync(encoded.subarray(0, encoded.length - 40)),
      'a complete GGUF file, got one that ends within',
    ],
  ])('%s', async (_, content, expected) => {
    expect(await sentence(packed(content))).toContain(expected);
  });
});

test.each([
  [
    'an empty file',
    Buffer.alloc(0),
    /^Expected `.*` to be a GGUF file, got another kind of file\.$/,
  ],
  [
    'a text',
    Buffer.from('{ "model": "llama" }'),
    /^Expected `.*` to be a GGUF file, got another kind of file\.$/,
  ],
  ['the mark alone', encoded.subarray(0, 4), 'a GGUF file of version 1 to 3, got another version'],
  [
    'version 9',
    encodeGguf({ ...good, version: 9 }),
    'a GGUF file of version 1 to 3, got another version',
  ],
  [
    'an early cut',
    encoded.subarray(0, 30),
    'a complete GGUF file, got one that ends within its header',
  ],
  [
    'a cut in the vocabulary',
    encoded.subarray(0, 2000),
    'a complete GGUF file, got one that ends within its header',
  ],
  [
    'a cut in the weights',
    encoded.subarray(0, encoded.length - 200_000),
    /a complete GGUF file, got one that ends within `blk\.\d\.\w+\.weight`/,
  ],
  [
    'a last byte',
    encoded.subarray(0, encoded.length - 1),
    'a complete GGUF file, got one that ends within `output_norm.weight`',
  ],
])('%s', async (_, bytes, expected) => {
  const path = temporaryGguf(bytes);
  const text = await sentence(path);
  if (typeof expected === 'string') expect(text).toBe(`Expected ${expected}: \`${path}\`.`);
  else expect(text).toMatch(expected);
});

test('wherever it is cut, it says so', async () => {
  for (let length = 8; length < encoded.length; length += Math.ceil(encoded.length / 97)) {
    const text = await sentence(temporaryGguf(encoded.subarray(0, length)));
    expect(text).toMatch(/^Expected a complete GGUF file, got /);
  }
});

const u32 = (value: number): MetadataEntry => ({ type: 'u32', value });
const string = (value: string): MetadataEntry => ({ type: 'string', value });

test.each<readonly [fault: string, metadata: Record<string, MetadataEntry>, expected: string]>([
  [
    'another architecture',
    { 'general.architecture': string('gpt2') },
    'a model of the architecture llama, got gpt2',
  ],
  [
    'a number as a text',
    { 'llama.block_count': string('2') },
    '`llama.block_count` to be a number, got a text',
  ],
  [
    'no layers',
    { 'llama.block_count': u32(0) },
    '`llama.block_count` to be a whole number from 1 to 1000000, got 0',
  ],
  [
    'heads that do not divide',
    { 'llama.attention.head_count_kv': u32(3) },
    '`llama.attention.head_count_kv` to be a divisor of 4, got 3',
  ],
  [
    'heads of an odd width',
    { 'llama.attention.head_count': u32(5) },
    '`llama.attention.head_count` to be heads of a width that is a multiple of 4, got a width of 6.4',
  ],
  [
    'an odd hidden layer',
    { 'llama.feed_forward_length': u32(62) },
    '`llama.feed_forward_length` to be a multiple of 4, got 62',
  ],
  [
    'part of a head rotated',
    { 'llama.rope.dimension_count': u32(4) },
    '`llama.rope.dimension_count` to be 8, got 4',
  ],
  [
    'scaled positions',
    { 'llama.rope.scaling.type': string('yarn') },
    '`llama.rope.scaling.type` to be none, got yarn',
  ],
  [
    'scaled positions, the old way',
    { 'llama.rope.scale_linear': { type: 'f32', value: 4 } },
    '`llama.rope.scale_linear` to be 1, got 4',
  ],
  ['experts', { 'llama.expert_count': u32(8) }, '`llama.expert_count` to be 0, got 8'],
  [
    'another number of tokens',
    { 'llama.vocab_size': u32(400) },
    '`llama.vocab_size` to be 369, got 400',
  ],
  [
    'too few scores',
    { 'tokenizer.ggml.scores': { type: 'f32s', value: [1, 2] } },
    '`tokenizer.ggml.scores` to be 369 numbers, one per token, got 2',
  ],
  [
    'too few types',
    { 'tokenizer.ggml.token_type': { type: 'i32s', value: [1] } },
    '`tokenizer.ggml.token_type` to be 369 numbers, one per token, got 1',
  ],
  [
    'a token out of range',
    { 'tokenizer.ggml.eos_token_id': u32(369) },
    '`tokenizer.ggml.eos_token_id` to be a token below 369, got 369',
  ],
  [
    'tokens that are numbers',
    { 'tokenizer.ggml.tokens': { type: 'i32s', value: [1] } },
    '`tokenizer.ggml.tokens` to be an array of texts, got an array of 1',
  ],
  [
    'more rows than tokens',
    {
      'tokenizer.ggml.tokens': { type: 'strings', value: ['a', 'b'] },
      'tokenizer.ggml.scores': { type: 'f32s', value: [] },
      'tokenizer.ggml.token_type': { type: 'i32s', value: [] },
      'tokenizer.ggml.eos_token_id': u32(0),
    },
    '`token_embd.weight` to be 32 × 2, got 32 × 369',
  ],
  [
    'a template that is none',
    { 'tokenizer.chat_template': u32(1) },
    '`tokenizer.chat_template` to be a text, got 1',
  ],
  [
    'a flag that is none',
    { 'tokenizer.ggml.add_bos_token': u32(1) },
    '`tokenizer.ggml.add_bos_token` to be true or false, got 1',
  ],
  [
    'a base that is none',
    { 'llama.rope.freq_base': { type: 'f32', value: 0 } },
    '`llama.rope.freq_base` to be positive, got 0',
  ],
])('%s', async (_, metadata, expected) => {
  expect(await fault({ ...good, metadata: { ...good.metadata, ...metadata } })).toBe(expected);
});

test.each([
  ['general.architecture', 'a model of the architecture llama, got none'],
  ['llama.block_count', '`llama.block_count` to be a whole number, got none'],
  [
    'llama.attention.layer_norm_rms_epsilon',
    '`llama.attention.layer_norm_rms_epsilon` to be a number, got none',
  ],
  ['tokenizer.ggml.model', '`tokenizer.ggml.model` to be a text, got none'],
  ['tokenizer.ggml.tokens', '`tokenizer.ggml.tokens` to be an array of texts, got none'],
])('%s is missing', async (key, expected) => {
  const { [key]: _, ...metadata } = good.metadata;
  expect(await fault({ ...good, metadata })).toBe(expected);
});

test('a tensor is missing', async () => {
  const { 'blk.1.ffn_up.weight': _, ...tensors } = good.tensors;
  expect(await fault({ ...good, tensors })).toBe('the tensor `blk.1.ffn_up.weight`, got none');
});

const zeros = (...shape: number[]): GgufTensor => ({
  shape,
  encoding: 'f32',
  data: new Float32Array(shape.reduce((product, length) => product * length, 1)),
});

test.each<readonly [fault: string, tensors: Record<string, GgufTensor>, expected: string]>([
  [
    'a bias',
    { 'blk.0.attn_q.bias': zeros(32) },
    'only the tensors of a plain Llama, got `blk.0.attn_q.bias`',
  ],
  [
    'frequencies of its own',
    { 'rope_freqs.weight': zeros(4) },
    'only the tensors of a plain Llama, got `rope_freqs.weight`',
  ],
  [
    'another width',
    { 'blk.0.attn_k.weight': zeros(32, 32) },
    '`blk.0.attn_k.weight` to be 32 × 16, got 32 × 32',
  ],
  [
    'an unknown type',
    { 'output_norm.weight': { ...zeros(32), typeNumber: 12 } },
    'tensors of the types F32, F16, Q4_0, Q4_1, Q8_0, BF16, got type 12 in `output_norm.weight`',
  ],
])('%s', async (_, tensors, expected) => {
  expect(await fault({ ...good, tensors: { ...good.tensors, ...tensors } })).toBe(expected);
});

test('half a block in a row', async () => {
  const contents = randomLlama({ embeddingLength: 48 });
  const tensor: GgufTensor = { ...zeros(48, 24), encoding: 'q8_0' };
  const tensors = { ...contents.tensors, 'blk.0.attn_k.weight': tensor };
  expect(await fault({ ...contents, tensors })).toBe(
    'rows of whole blocks of 32 in `blk.0.attn_k.weight`, got rows of 48',
  );
});

test('more parameters than it is made for', async () => {
  // Too large is said before too short, which this file is as well.
  const metadata = { ...good.metadata, 'llama.feed_forward_length': u32(1_000_000) };
  const tensors = Object.fromEntries(
    Object.entries(good.tensors).map(([name, tensor]): [string, GgufTensor] => [
      name,
      { ...tensor, shape: tensor.shape.map((length) => (length === 64 ? 1_000_000 : length)) },
    ]),
  );
  expect(await fault({ metadata, tensors })).toBe(
    'a model of at most 100 million parameters, got 193 million',
  );
});

/** What follows “Expected”, without the path. */
async function fault(contents: GgufContents): Promise<string> {
  const path = temporaryGguf(contents);
  const text = await sentence(path);
  expect(text.startsWith('Expected ') && text.endsWith(`: \`${path}\`.`)).toBe(true);
  return text.slice('Expected '.length, -`: \`${path}\`.`.length);
}

async function sentence(path: string): Promise<string> {
  try {
    await readLlamaFile(path);
  } catch (error) {
    expect(EspalierError.isInstance(error) && error.code).toBe('usage');
    return error instanceof Error ? error.message : '';
  }
  throw new Error('The file was read.');
}
