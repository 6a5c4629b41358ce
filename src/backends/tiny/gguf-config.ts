import type { GgufHeader } from './gguf-header.ts';
import { Metadata } from './gguf-metadata.ts';
import type { LlamaConfig, RawVocabulary } from './llama-config.ts';

/** The shape of the model described by a header, restricted to what the formulas and the kernels support. */
export function configOf(header: GgufHeader): LlamaConfig {
  const metadata = new Metadata(header);
  const embeddingLength = metadata.count('llama.embedding_length');
  const headCount = metadata.count('llama.attention.head_count');
  const config: LlamaConfig = {
    contextLength: metadata.count('llama.context_length'),
    embeddingLength,
    blockCount: metadata.count('llama.block_count'),
    headCount,
    headCountKv: metadata.optionalCount('llama.attention.head_count_kv') ?? headCount,
    headDimension:
      metadata.optionalCount('llama.attention.key_length') ?? embeddingLength / headCount,
    feedForwardLength: metadata.count('llama.feed_forward_length'),
    rmsEpsilon: metadata.number('llama.attention.layer_norm_rms_epsilon'),
    ropeBase: metadata.optionalNumber('llama.rope.freq_base') ?? 10_000,
    vocabularySize: metadata.strings('tokenizer.ggml.tokens').length,
  };
  expectWidths(config, metadata);
  expectNoVariant(config, metadata);
  return config;
}

/** The vocabulary of a header. */
export function vocabularyOf(header: GgufHeader): RawVocabulary {
  const metadata = new Metadata(header);
  const tokens = metadata.strings('tokenizer.ggml.tokens');
  const numbers = (key: string): readonly number[] => {
    const values = metadata.optionalNumbers(key) ?? [];
    if (values.length === 0 || values.length === tokens.length) return values;
    throw metadata.wrong(key, `${tokens.length} numbers, one per token`, String(values.length));
  };
  const token = (name: string): number | undefined => {
    const key = `tokenizer.ggml.${name}_token_id`;
    const value = metadata.optionalNumber(key);
    if (value === undefined || value in tokens) return value;
    throw metadata.wrong(key, `a token below ${tokens.length}`, String(value));
  };
  return {
    model: metadata.string('tokenizer.ggml.model'),
    tokens,
    scores: numbers('tokenizer.ggml.scores'),
    types: numbers('tokenizer.ggml.token_type'),
    addBos: metadata.optionalBoolean('tokenizer.ggml.add_bos_token') ?? true,
    addSpacePrefix: metadata.optionalBoolean('tokenizer.ggml.add_space_prefix') ?? true,
    ...present('bos', token('bos')),
    ...present('eos', token('eos')),
    ...present('unknown', token('unknown')),
    ...present('chatTemplate', metadata.optionalString('tokenizer.chat_template')),
    ...present('preTokenizer', metadata.optionalString('tokenizer.ggml.pre')),
  };
}

/** A property, if it has a value. */
export function present<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value };
}

function expectWidths(config: LlamaConfig, metadata: Metadata): void {
  const { embeddingLength, feedForwardLength, headCount, headCountKv, headDimension } = config;
  const widths = { embedding_length: embeddingLength, feed_forward_length: feedForwardLength };
  for (const [key, width] of Object.entries(widths)) {
    // The kernels read four numbers at a time.
    if (width % 4 !== 0) throw metadata.wrong(`llama.${key}`, 'a multiple of 4', String(width));
  }
  if (headDimension % 4 !== 0) {
    const heads = `heads of a width that is a multiple of 4`;
    throw metadata.wrong('llama.attention.head_count', heads, `a width of ${headDimension}`);
  }
  if (headCount % headCountKv !== 0) {
    const key = 'llama.attention.head_count_kv';
    throw metadata.wrong(key, `a divisor of ${headCount}`, String(headCountKv));
  }
}

/** Refuses variants that would run but give wrong numbers. */
function expectNoVariant(config: LlamaConfig, metadata: Metadata): void {
  const { headDimension, vocabularySize, ropeBase, rmsEpsilon } = config;
  const wanted = {
    'llama.rope.dimension_count': headDimension,
    'llama.attention.value_length': headDimension,
    'llama.vocab_size': vocabularySize,
    'llama.rope.scaling.factor': 1,
    'llama.rope.scale_linear': 1,
    'llama.expert_count': 0,
  };
  for (const [key, value] of Object.entries(wanted)) {
    const found = metadata.optionalNumber(key) ?? value;
    if (found !== value) throw metadata.wrong(key, String(value), String(found));
  }
  const scaling = metadata.optionalString('llama.rope.scaling.type') ?? 'none';
  if (scaling !== 'none') throw metadata.wrong('llama.rope.scaling.type', 'none', scaling);
  if (ropeBase <= 0) throw metadata.wrong('llama.rope.freq_base', 'positive', String(ropeBase));
  if (rmsEpsilon <= 0) {
    const key = 'llama.attention.layer_norm_rms_epsilon';
    throw metadata.wrong(key, 'positive', String(rmsEpsilon));
  }
}
