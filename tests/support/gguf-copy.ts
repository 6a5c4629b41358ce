import { type GGUFTypedMetadata, GGUFValueType, gguf } from '@huggingface/gguf';
import { type LlamaFile, readLlamaFile } from '../../src/backends/tiny/gguf.ts';
import type { TensorEncoding } from './gguf-encodings.ts';
import { type GgufTensor, type MetadataEntry, writeGguf } from './gguf-writer.ts';

/** Writes a copy of a model whose matrices are stored in another way; the vectors become single precision. */
export async function copyGguf(
  source: string,
  target: string,
  encoding: TensorEncoding,
): Promise<LlamaFile> {
  const { typedMetadata } = await gguf(source, { allowLocalFile: true, typedMetadata: true });
  const { tensors } = await readLlamaFile(source);
  const entries = [...tensors].map(([name, { shape, data }]): [string, GgufTensor] => [
    name,
    { shape, data, encoding: shape.length === 1 ? 'f32' : encoding },
  ]);
  writeGguf(target, { metadata: metadataOf(typedMetadata), tensors: Object.fromEntries(entries) });
  return readLlamaFile(target);
}

/** What the writer writes itself; and what says how the matrices were stored. */
const leftOut = new Set(['version', 'tensor_count', 'kv_count', 'general.file_type']);

function metadataOf(metadata: GGUFTypedMetadata): Record<string, MetadataEntry> {
  return Object.fromEntries(
    Object.entries(metadata)
      .filter(([key]) => !leftOut.has(key))
      .map(([key, entry]) => [key, entryOf(key, entry)]),
  );
}

const types: Readonly<Partial<Record<GGUFValueType, MetadataEntry['type']>>> = {
  [GGUFValueType.UINT32]: 'u32',
  [GGUFValueType.INT32]: 'i32',
  [GGUFValueType.UINT64]: 'u64',
  [GGUFValueType.FLOAT32]: 'f32',
  [GGUFValueType.BOOL]: 'bool',
  [GGUFValueType.STRING]: 'string',
};

const arrayTypes: Readonly<Partial<Record<GGUFValueType, MetadataEntry['type']>>> = {
  [GGUFValueType.STRING]: 'strings',
  [GGUFValueType.INT32]: 'i32s',
  [GGUFValueType.FLOAT32]: 'f32s',
};

interface TypedValue {
  readonly type: GGUFValueType;
  readonly subType?: GGUFValueType;
  readonly value?: unknown;
}

function entryOf(key: string, { type: number, subType, value }: TypedValue): MetadataEntry {
  const type =
    number === GGUFValueType.ARRAY ? subType !== undefined && arrayTypes[subType] : types[number];
  if (!type) throw new Error(`\`${key}\` has a type that the writer does not know.`);
  return { type, value: typeof value === 'bigint' ? Number(value) : value } as MetadataEntry;
}
