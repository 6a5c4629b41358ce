import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { jsonFault } from '../../spec/json.ts';

/** A row as it stands in a file, or why there is none. */
export type FileItem =
  | { readonly line: number; readonly value: unknown; readonly source?: string }
  | { readonly line: number; readonly broken: string };

/** At most so many rows of a Parquet file are held at a time. */
const rowsAtOnce = 10_000;

/**
 * The rows of a file, one after another: of JSON lines each line, of a JSON array each element, of Parquet each
 * row, with its line or number from 1.
 */
export async function* itemsOf(path: string): AsyncGenerator<FileItem, void, undefined> {
  if (/\.parquet$/i.test(path)) yield* parquetRows(path);
  else if ((await firstCharacter(path)) === '[') yield* arrayElements(path);
  else yield* lines(path);
}

async function* lines(path: string): AsyncGenerator<FileItem, void, undefined> {
  const input = createReadStream(path, 'utf8');
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    line += 1;
    const source = line === 1 ? text.replace(/^\ufeff/, '') : text;
    if (source.trim() !== '') yield { line, ...parsed(source) };
  }
}

function parsed(source: string): { value: unknown; source: string } | { broken: string } {
  try {
    const value: unknown = JSON.parse(source);
    // What is nested too deep could not be walked.
    return jsonFault(value) === undefined ? { value, source } : { broken: source };
  } catch {
    return { broken: source };
  }
}

async function* arrayElements(path: string): AsyncGenerator<FileItem, void, undefined> {
  const pieces: string[] = [];
  for await (const piece of createReadStream(path, 'utf8')) pieces.push(String(piece));
  const all = parsed(pieces.join('').replace(/^\ufeff/, ''));
  if ('broken' in all) {
    yield { line: 1, broken: all.broken };
    return;
  }
  for (const [index, value] of (all.value as readonly unknown[]).entries()) {
    yield { line: index + 1, value };
  }
}

async function* parquetRows(path: string): AsyncGenerator<FileItem, void, undefined> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  let line = 0;
  for (const group of metadata.row_groups) {
    const end = line + Number(group.num_rows);
    while (line < end) {
      const rowEnd = Math.min(end, line + rowsAtOnce);
      const rows = await parquetReadObjects({ file, metadata, rowStart: line, rowEnd });
      for (const row of rows) yield { line: ++line, value: plain(row) };
      if (rows.length === 0) return;
    }
  }
}

/** Whole numbers of Parquet are `bigint`, and may stand anywhere in a row. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return '(binary)';
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

async function firstCharacter(path: string): Promise<string> {
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0);
  return buffer
    .toString('utf8', 0, bytesRead)
    .replace(/^\ufeff/, '')
    .trimStart()
    .slice(0, 1);
}
