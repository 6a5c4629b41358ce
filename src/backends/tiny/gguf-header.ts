import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type GGUFTensorInfo, gguf, type MetadataValue } from '@huggingface/gguf';
import { EspalierError } from '../../base/errors.ts';

/** The part of a GGUF file before the numbers. */
export interface GgufHeader {
  /** The file, as named by the caller. */
  readonly path: string;
  /** The uncompressed length of the file. */
  readonly fileBytes: number;
  /** The entire file, if it is compressed; others are read from disk in parts. */
  readonly content?: Buffer;
  /** The metadata by key. */
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  /** The tensors, in the order of the file. */
  readonly tensors: readonly TensorEntry[];
}

/** The location of a tensor. */
export interface TensorEntry {
  readonly name: string;
  /** Its lengths, fastest first. */
  readonly shape: readonly number[];
  /** The number of its encoding in GGUF. */
  readonly typeNumber: number;
  /** Its first byte in the file. */
  readonly start: number;
}

/** Reads the header of a GGUF file, which may be gzipped, with a name ending in `.gz`. */
export async function readHeader(path: string): Promise<GgufHeader> {
  const size = await sizeOf(path);
  const content = path.endsWith('.gz') ? unpacked(path, await readFile(path)) : undefined;
  const fileBytes = content?.length ?? size;
  const { metadata, tensorInfos, tensorDataOffset, tensorInfoByteRange, littleEndian } =
    await parse(path, content);
  // The parser pads its input with zeros, so everything after the end looks empty.
  if (tensorInfoByteRange[1] > fileBytes) throw cut(path, 'ends within its header');
  if (!littleEndian) throw fault(path, 'a little-endian GGUF file', 'a big-endian one');
  const tensors = tensorInfos.map((info) => entryOf(info, Number(tensorDataOffset)));
  return {
    ...{ path, fileBytes, metadata: new Map(Object.entries(metadata)), tensors },
    ...(content !== undefined && { content }),
  };
}

/** *Expected …, got …: path* */
export function fault(path: string, expected: string, got: string): EspalierError {
  return new EspalierError('usage', `Expected ${expected}, got ${got}: \`${path}\`.`);
}

/** The error for a file that is shorter than it declares. */
export function cut(path: string, how: string): EspalierError {
  return fault(path, 'a complete GGUF file', `one that ${how}`);
}

async function sizeOf(path: string): Promise<number> {
  try {
    const status = await stat(path);
    if (status.isFile()) return status.size;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const complaint =
      code === 'ENOENT'
        ? `There is no file \`${path}\`.`
        : `The model \`${path}\` could not be read: ${message}.`;
    throw new EspalierError('usage', complaint, { cause });
  }
  throw fault(path, 'a GGUF file', 'something that is no file');
}

/** The largest model that runs here, in bytes. */
const mostUnpacked = 400_000_000;

function unpacked(path: string, packed: Buffer): Buffer {
  try {
    return gunzipSync(packed, { maxOutputLength: mostUnpacked });
  } catch (cause) {
    const { message } = cause as Error;
    throw new EspalierError(
      'usage',
      `Expected a GGUF file compressed by gzip, of at most ${mostUnpacked / 1e6} MB, got something else (${message}): \`${path}\`.`,
      { cause },
    );
  }
}

async function parse(
  path: string,
  content: Buffer | undefined,
): Promise<Awaited<ReturnType<typeof gguf>>> {
  try {
    // An absolute path is never mistaken for a network address.
    if (content === undefined) return await gguf(resolve(path), { allowLocalFile: true });
    return await gguf('http://memory', { fetch: async (_, init) => partOf(content, init) });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (/magic number/.test(reason)) {
      const message = `Expected \`${path}\` to be a GGUF file, got another kind of file.`;
      throw new EspalierError('usage', message, { cause });
    }
    if (/unsupported version/.test(reason)) {
      throw fault(path, 'a GGUF file of version 1 to 3', 'another version');
    }
    throw new EspalierError(
      'usage',
      `Expected a complete GGUF file, got a broken header (${reason}): \`${path}\`.`,
      { cause },
    );
  }
}

/** Answers a range request as a file server would. */
function partOf(content: Buffer, init: RequestInit = {}): Response {
  const { Range: range = '' } = init.headers as Readonly<Record<string, string>>;
  const [first = 0, last = 0] = range.match(/\d+/g)?.map(Number) ?? [];
  return new Response(new Uint8Array(content.subarray(first, last + 1)));
}

function entryOf({ name, shape, dtype, offset }: GGUFTensorInfo, dataStart: number): TensorEntry {
  return {
    name,
    shape: shape.map(Number),
    typeNumber: dtype,
    start: dataStart + Number(offset),
  };
}
