import { writeFileSync } from 'node:fs';
import { encodeTensor, type TensorEncoding, typeNumbers } from './gguf-encodings.ts';

/** A value of the metadata with its GGUF type. */
export type MetadataEntry =
  | { readonly type: 'u32' | 'i32' | 'u64' | 'f32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | { readonly type: 'i32s' | 'f32s'; readonly value: readonly number[] };

/** A tensor as it is to be written. */
export interface GgufTensor {
  /** The lengths, fastest first. */
  readonly shape: readonly number[];
  readonly encoding: TensorEncoding;
  readonly data: Float32Array<ArrayBuffer>;
  /** Written in place of the number of the encoding. */
  readonly typeNumber?: number;
}

/** A file as it is to be written. Plain objects: spread them to make a wrong one. */
export interface GgufContents {
  readonly metadata: Readonly<Record<string, MetadataEntry>>;
  readonly tensors: Readonly<Record<string, GgufTensor>>;
  readonly version?: number;
}

const alignment = 32;
const valueTypes = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9, u64: 10 } as const;

/** Encodes a GGUF file. */
export function encodeGguf({ metadata, tensors, version = 3 }: GgufContents): Buffer {
  const header = new Bytes();
  header.raw(Buffer.from('GGUF'));
  header.u32(version);
  header.u64(Object.keys(tensors).length);
  header.u64(Object.keys(metadata).length);
  for (const [key, entry] of Object.entries(metadata)) {
    header.string(key);
    writeEntry(header, entry);
  }

  const data = new Bytes();
  for (const [name, tensor] of Object.entries(tensors)) {
    header.string(name);
    header.u32(tensor.shape.length);
    for (const length of tensor.shape) header.u64(length);
    header.u32(tensor.typeNumber ?? typeNumbers[tensor.encoding]);
    header.u64(data.length);
    data.raw(encodeTensor(tensor.data, tensor.encoding));
    data.pad(alignment);
  }
  header.pad(alignment);
  header.raw(data.join());
  return header.join();
}

/** Writes a GGUF file. */
export function writeGguf(path: string, contents: GgufContents): void {
  writeFileSync(path, encodeGguf(contents));
}

function writeEntry(bytes: Bytes, entry: MetadataEntry): void {
  switch (entry.type) {
    case 'strings':
    case 'i32s':
    case 'f32s':
      writeArray(bytes, entry);
      break;
    case 'u32':
    case 'i32':
      bytes.u32(valueTypes[entry.type]);
      bytes.u32(entry.value >>> 0);
      break;
    case 'u64':
      bytes.u32(valueTypes.u64);
      bytes.u64(entry.value);
      break;
    case 'f32':
      bytes.u32(valueTypes.f32);
      bytes.f32(entry.value);
      break;
    case 'bool':
      bytes.u32(valueTypes.bool);
      bytes.raw(Uint8Array.of(entry.value ? 1 : 0));
      break;
    case 'string':
      bytes.u32(valueTypes.string);
      bytes.string(entry.value);
      break;
  }
}

function writeArray(
  bytes: Bytes,
  entry: Extract<MetadataEntry, { readonly value: readonly unknown[] }>,
): void {
  bytes.u32(valueTypes.array);
  bytes.u32({ strings: valueTypes.string, i32s: valueTypes.i32, f32s: valueTypes.f32 }[entry.type]);
  bytes.u64(entry.value.length);
  if (entry.type === 'strings') for (const text of entry.value) bytes.string(text);
  else if (entry.type === 'i32s') for (const value of entry.value) bytes.u32(value >>> 0);
  else for (const value of entry.value) bytes.f32(value);
}

/** Bytes that grow. */
class Bytes {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  raw(part: Uint8Array): void {
    this.#parts.push(part);
    this.length += part.length;
  }

  u32(value: number): void {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    this.raw(part);
  }

  u64(value: number): void {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(value));
    this.raw(part);
  }

  f32(value: number): void {
    const part = Buffer.alloc(4);
    part.writeFloatLE(value);
    this.raw(part);
  }

  string(text: string): void {
    const part = Buffer.from(text);
    this.u64(part.length);
    this.raw(part);
  }

  pad(multiple: number): void {
    this.raw(new Uint8Array((multiple - (this.length % multiple)) % multiple));
  }

  join(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
