import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { jsonFault } from '../../base/json.ts';
import { expectRegularFile } from '../../base/regular-file.ts';
import { parquetRows } from './parquet-rows.ts';

/** A row as it stands in a file, or why there is none. */
export type FileItem = ItemPlace &
  ({ readonly value: unknown; readonly source?: string } | { readonly broken: string });

interface ItemPlace {
  /** The line, or the number of the row, from 1. */
  readonly line: number;
  /** Whether its bytes are no UTF-8. */
  readonly misencoded?: boolean;
}

/** What is read of a file at a time, in bytes. */
const chunkBytes = 1 << 18;
const newline = 0x0a;

/**
 * The rows of a file, one after another: of JSON lines each line, of a JSON array each element, of Parquet each
 * row, with its line or number from 1. What ends in `.gz` is unpacked on the way.
 */
export async function* itemsOf(path: string): AsyncGenerator<FileItem, void, undefined> {
  expectRegularFile(path);
  if (/\.parquet$/i.test(path)) {
    let line = 0;
    for await (const value of parquetRows(path)) yield { line: ++line, value };
    return;
  }
  let isArray: boolean | undefined;
  const pieces: Buffer[] = [];
  let line = 0;
  for await (const bytes of linesOf(path)) {
    line += 1;
    isArray ??= startsArray(bytes);
    if (isArray === true) pieces.push(bytes);
    else if (isArray === false) yield* lineItem(bytes, line);
  }
  if (isArray === true) yield* arrayElements(Buffer.concat(pieces));
}

/** Whether a file is a JSON array, by its first line that is not blank; `undefined` for a blank one. */
function startsArray(bytes: Buffer): boolean | undefined {
  const text = asText(bytes.subarray(0, 1024)).trimStart();
  return text === '' ? undefined : text.startsWith('[');
}

/** The lines of a file with their ends; nothing of them stays in memory. */
async function* linesOf(path: string): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer[] = [];
  for await (const chunk of chunksOf(path)) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const part = chunk.subarray(start, end + 1);
      yield rest.length === 0 ? part : Buffer.concat([...rest, part]);
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

function chunksOf(path: string): AsyncIterable<Buffer> {
  const input = createReadStream(path, { highWaterMark: chunkBytes });
  if (!/\.gz$/i.test(path)) return input;
  const unpacked = createGunzip({ chunkSize: chunkBytes });
  // What breaks the file off breaks the reading of what it holds; it is thrown there.
  pipeline(input, unpacked).catch(() => undefined);
  return unpacked;
}

function* lineItem(bytes: Buffer, line: number): Generator<FileItem, void, undefined> {
  const source = asText(bytes);
  if (source.trim() !== '') yield { line, ...encodingOf(bytes), ...parsed(source) };
}

function encodingOf(bytes: Buffer): Pick<ItemPlace, 'misencoded'> {
  return isUtf8(bytes) ? {} : { misencoded: true };
}

/** Bytes as text, without the mark that some editors put in front. */
function asText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function parsed(source: string): { value: unknown; source: string } | { broken: string } {
  try {
    const value: unknown = JSON.parse(source);
    // What is nested too deep could not be walked.
    return jsonFault(value) === undefined ? { value, source } : { broken: source };
  } catch {
    return { broken: source.replace(/\r?\n$/, '') };
  }
}

function* arrayElements(bytes: Buffer): Generator<FileItem, void, undefined> {
  const all = parsed(asText(bytes));
  const encoding = encodingOf(bytes);
  if ('broken' in all) {
    yield { line: 1, ...encoding, broken: all.broken };
    return;
  }
  for (const [index, value] of (all.value as readonly unknown[]).entries()) {
    // Where in the array it is wrong is not known.
    yield { line: index + 1, value, ...(index === 0 && encoding) };
  }
}
