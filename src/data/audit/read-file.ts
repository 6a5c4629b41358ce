import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { jsonFault } from '../../base/json.ts';
import { expectRegularFile } from '../../base/regular-file.ts';
import { parquetRows } from './parquet-rows.ts';
import { closingQuote } from './repeated-key.ts';

/** A row of a file, or why there is none. */
export type FileItem = ItemPlace &
  (
    | { readonly value: unknown; readonly source?: string }
    | {
        readonly broken: string;
        /** What is wrong with it, if it is JSON. */
        readonly code?: 'line-too-long' | 'number-too-large';
      }
  );

interface ItemPlace {
  /** The line, or the number of the row, from 1. */
  readonly line: number;
  /** Whether its bytes are no UTF-8. */
  readonly misencoded?: boolean;
}

/** The longest line that is read, in bytes. */
export const longestLine: number = 32 << 20;
/** The longest JSON array that is read, in bytes: more is no text that can be parsed at once. */
const longestArray = 512 << 20;
/** How many bytes of a file are read at a time. */
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
  const lines = new Lines();
  const array = new Pieces();
  let isArray: boolean | undefined;
  for await (const chunk of chunksOf(path)) {
    isArray ??= startsArray(chunk);
    if (isArray === true) array.add(chunk);
    else for (const item of lines.add(chunk)) yield item;
  }
  yield* isArray === true ? arrayElements(array.bytes()) : lines.end();
}

/** Whether a file is a JSON array, by its first byte that is not blank; `undefined` where all are. */
function startsArray(chunk: Buffer): boolean | undefined {
  const start = firstNotBlank(chunk, hasMark(chunk) ? 3 : 0);
  return start === chunk.length ? undefined : chunk[start] === 0x5b;
}

/** White space of JSON. */
function firstNotBlank(bytes: Buffer, start: number): number {
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
  }
  return at;
}

/** Whether bytes begin with the mark that some editors put in front of a file. */
function hasMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The lines of a file, chunk by chunk; nothing of them stays in memory, and of blanks in front of a row nothing at all. */
class Lines {
  #rest: Buffer[] = [];
  #length = 0;
  #line = 0;

  *add(chunk: Buffer): Generator<FileItem, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#hold(chunk.subarray(start, end + 1));
      yield* this.end();
      start = end + 1;
    }
    this.#hold(chunk.subarray(start));
  }

  /** The line that has come to its end. */
  *end(): Generator<FileItem, void, undefined> {
    const [rest, length] = [this.#rest, this.#length];
    this.#rest = [];
    this.#length = 0;
    this.#line += 1;
    const [first] = rest;
    if (first === undefined) return;
    if (length > longestLine) {
      yield { line: this.#line, broken: first.toString('utf8', 0, 1000), code: 'line-too-long' };
      return;
    }
    const bytes = rest.length === 1 ? first : Buffer.concat(rest);
    yield* lineItem(bytes, this.#line);
  }

  #hold(part: Buffer): void {
    const own = this.#rest.length === 0 ? part.subarray(firstNotBlank(part, 0)) : part;
    if (own.length === 0) return;
    this.#length += own.length;
    // Of a line that is too long, its beginning is enough.
    if (this.#length > longestLine) this.#rest.splice(1);
    else this.#rest.push(own);
  }
}

/** The bytes of a JSON array, but for chunks that are blank. */
class Pieces {
  readonly #pieces: Buffer[] = [];
  #length = 0;

  add(chunk: Buffer): void {
    if (firstNotBlank(chunk, 0) === chunk.length) return;
    this.#length += chunk.length;
    if (this.#length > longestArray) {
      throw new Error('A JSON array of more than 512 MiB is not read: write it as JSON lines.');
    }
    this.#pieces.push(chunk);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

function chunksOf(path: string): AsyncIterable<Buffer> {
  const input = createReadStream(path, { highWaterMark: chunkBytes });
  if (!/\.gz$/i.test(path)) return input;
  const unpacked = createGunzip({ chunkSize: chunkBytes });
  // An error that breaks off the file breaks the reading of its rows; it is thrown there.
  pipeline(input, unpacked).catch(() => undefined);
  return unpacked;
}

/** A mark in front of a later line is no white space of JSON, and loaders refuse it. */
function* lineItem(bytes: Buffer, line: number): Generator<FileItem, void, undefined> {
  const source = line === 1 ? asText(bytes) : bytes.toString('utf8');
  if (source.trim() !== '') yield { line, ...encodingOf(bytes), ...parsed(source) };
}

function encodingOf(bytes: Buffer): Pick<ItemPlace, 'misencoded'> {
  return isUtf8(bytes) ? {} : { misencoded: true };
}

/** Bytes as text, without the mark that some editors put in front. */
function asText(bytes: Buffer): string {
  return bytes.toString('utf8', hasMark(bytes) ? 3 : 0);
}

type Parsed =
  | { readonly value: unknown; readonly source: string }
  | { readonly broken: string; readonly code?: 'number-too-large' };

function parsed(source: string): Parsed {
  try {
    return withoutFault(JSON.parse(source), source);
  } catch {
    return { broken: source.replace(/\r?\n$/, '') };
  }
}

/** A value nested too deep could not be walked, and a number that is read as infinite could not be written. */
function withoutFault(value: unknown, source: string): Parsed {
  const fault = jsonFault(value);
  if (fault === undefined) return { value, source };
  if (!fault.what.endsWith('Infinity`')) return { broken: source };
  return { broken: `${fault.path.join('.')}: ${fault.what}`, code: 'number-too-large' };
}

function* arrayElements(bytes: Buffer): Generator<FileItem, void, undefined> {
  const text = asText(bytes);
  const encoding = encodingOf(bytes);
  let all: readonly unknown[];
  try {
    all = JSON.parse(text) as readonly unknown[];
  } catch {
    yield { line: 1, ...encoding, broken: text };
    return;
  }
  const sources = elementSources(text);
  for (const [index, value] of all.entries()) {
    const { value: source = '' } = sources.next();
    // Where in the array it is wrong is not known.
    const place = { line: index + 1, ...(index === 0 && encoding) };
    yield { ...place, ...withoutFault(value, source) };
  }
}

/** The elements of a JSON array as they are written, whose numbers need not be as they are read: `1.0` is no integer. */
function* elementSources(text: string): Generator<string, undefined, undefined> {
  let depth = 0;
  let start = text.indexOf('[') + 1;
  for (let at = start; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === '"') at = closingQuote(text, at);
    else if (sign === '{' || sign === '[') depth += 1;
    else if (depth === 0 && (sign === ',' || sign === ']')) {
      yield text.slice(start, at).trim();
      start = at + 1;
    } else if (sign === '}' || sign === ']') depth -= 1;
  }
  return undefined;
}
