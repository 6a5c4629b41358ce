import { seededRandom } from '../../src/base/random.ts';
import type { Random } from '../../src/contracts/context.ts';
import type { TensorEncoding } from './gguf-encodings.ts';
import type { GgufContents, GgufTensor, MetadataEntry } from './gguf-writer.ts';

/** The shape of a random model. Everything has a small default. */
export interface RandomLlamaOptions {
  readonly seed?: number;
  readonly embeddingLength?: number;
  readonly blockCount?: number;
  readonly headCount?: number;
  readonly headCountKv?: number;
  readonly feedForwardLength?: number;
  readonly contextLength?: number;
  readonly ropeBase?: number;
  /** How the matrices are stored; norms are always f32. */
  readonly encoding?: TensorEncoding;
  /** Whether the output shares the matrix of the embeddings. */
  readonly tied?: boolean;
  /** Pieces beside the bytes and the printable ASCII characters, most likely first. */
  readonly pieces?: readonly string[];
  /** Unused tokens are added up to this number. */
  readonly vocabularySize?: number;
}

type Shape = Required<Omit<RandomLlamaOptions, 'pieces' | 'vocabularySize'>>;

const defaults: Shape = {
  seed: 0,
  embeddingLength: 32,
  blockCount: 2,
  headCount: 4,
  headCountKv: 2,
  feedForwardLength: 64,
  contextLength: 128,
  ropeBase: 10_000,
  encoding: 'f32',
  tied: true,
};

/** The control tokens that follow `<unk>`, `<s>` and `</s>`. */
export const roleTokens: readonly string[] = ['<|system|>', '<|user|>', '<|assistant|>'];

/** A template that frames each message by the token of its role and `</s>`. */
export const chatTemplate: string =
  "{{ bos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>' }}" +
  "{{ message['content'] }}{{ eos_token }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

const defaultPieces = ['▁the', '▁a', 'th', 'he', 'in', '▁t', 'er', 'an', 'the', '▁is', 'ing'];

/** A Llama with random weights and a SentencePiece-like vocabulary, ready to be written. */
export function randomLlama(options: RandomLlamaOptions = {}): GgufContents {
  const { pieces = defaultPieces, vocabularySize = 0, ...rest } = options;
  const shape: Shape = { ...defaults, ...rest };
  const vocabulary = vocabularyOf(pieces, vocabularySize);
  return {
    metadata: { ...configuration(shape), ...vocabulary },
    tensors: weights(shape, vocabulary['tokenizer.ggml.tokens'].value.length),
  };
}

function configuration(shape: Shape): Readonly<Record<string, MetadataEntry>> {
  return {
    'general.architecture': { type: 'string', value: 'llama' },
    'general.name': { type: 'string', value: 'random' },
    'llama.context_length': { type: 'u32', value: shape.contextLength },
    'llama.embedding_length': { type: 'u32', value: shape.embeddingLength },
    'llama.block_count': { type: 'u32', value: shape.blockCount },
    'llama.feed_forward_length': { type: 'u32', value: shape.feedForwardLength },
    'llama.attention.head_count': { type: 'u32', value: shape.headCount },
    'llama.attention.head_count_kv': { type: 'u32', value: shape.headCountKv },
    'llama.attention.layer_norm_rms_epsilon': { type: 'f32', value: 1e-5 },
    'llama.rope.freq_base': { type: 'f32', value: shape.ropeBase },
    'llama.rope.dimension_count': { type: 'u32', value: shape.embeddingLength / shape.headCount },
  };
}

interface VocabularyMetadata extends Record<string, MetadataEntry> {
  readonly 'tokenizer.ggml.tokens': { readonly type: 'strings'; readonly value: readonly string[] };
}

function vocabularyOf(pieces: readonly string[], size: number): VocabularyMetadata {
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const characters = [
    '▁',
    '\n',
    ...Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)),
  ];
  const entries: [token: string, score: number, type: number][] = [
    ['<unk>', 0, 2],
    ...['<s>', '</s>', ...roleTokens].map((token): [string, number, number] => [token, 0, 3]),
    ...bytes.map((token): [string, number, number] => [token, 0, 6]),
    ...pieces.map((token, rank): [string, number, number] => [token, -rank, 1]),
    ...characters.map((token, rank): [string, number, number] => [token, -pieces.length - rank, 1]),
  ];
  while (entries.length < size) entries.push([`<unused${entries.length}>`, 0, 5]);
  return {
    'tokenizer.ggml.model': { type: 'string', value: 'llama' },
    'tokenizer.ggml.tokens': { type: 'strings', value: entries.map(([token]) => token) },
    'tokenizer.ggml.scores': { type: 'f32s', value: entries.map(([, score]) => score) },
    'tokenizer.ggml.token_type': { type: 'i32s', value: entries.map(([, , type]) => type) },
    'tokenizer.ggml.unknown_token_id': { type: 'u32', value: 0 },
    'tokenizer.ggml.bos_token_id': { type: 'u32', value: 1 },
    'tokenizer.ggml.eos_token_id': { type: 'u32', value: 2 },
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: true },
    'tokenizer.ggml.add_space_prefix': { type: 'bool', value: true },
    'tokenizer.chat_template': { type: 'string', value: chatTemplate },
  };
}

function weights(shape: Shape, vocabularySize: number): Readonly<Record<string, GgufTensor>> {
  const random = seededRandom(shape.seed);
  const { embeddingLength: width, feedForwardLength: hidden, encoding } = shape;
  const keyWidth = (width / shape.headCount) * shape.headCountKv;
  const matrix = (columns: number, rows: number): GgufTensor => ({
    shape: [columns, rows],
    encoding,
    data: randomNumbers(random, columns * rows).map((value) => (value * 1.5) / Math.sqrt(columns)),
  });
  const norm = (): GgufTensor => ({
    shape: [width],
    encoding: 'f32',
    data: randomNumbers(random, width).map((value) => 1 + value / 4),
  });

  const tensors: Record<string, GgufTensor> = {
    'token_embd.weight': matrix(width, vocabularySize),
  };
  for (let block = 0; block < shape.blockCount; block++) {
    Object.assign(tensors, {
      [`blk.${block}.attn_norm.weight`]: norm(),
      [`blk.${block}.attn_q.weight`]: matrix(width, width),
      [`blk.${block}.attn_k.weight`]: matrix(width, keyWidth),
      [`blk.${block}.attn_v.weight`]: matrix(width, keyWidth),
      [`blk.${block}.attn_output.weight`]: matrix(width, width),
      [`blk.${block}.ffn_norm.weight`]: norm(),
      [`blk.${block}.ffn_gate.weight`]: matrix(width, hidden),
      [`blk.${block}.ffn_up.weight`]: matrix(width, hidden),
      [`blk.${block}.ffn_down.weight`]: matrix(hidden, width),
    });
  }
  tensors['output_norm.weight'] = norm();
  if (!shape.tied) tensors['output.weight'] = matrix(width, vocabularySize);
  return tensors;
}

/** Numbers of mean 0 and variance 1, close enough to a normal distribution. */
function randomNumbers(random: Random, count: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: count }, () => {
    let sum = 0;
    for (let draw = 0; draw < 4; draw++) sum += random.next() - 0.5;
    return sum * Math.sqrt(3);
  });
}
