import { parentPort, workerData } from 'node:worker_threads';
import * as zlib from 'node:zlib';
import {
  asyncBufferFromFile,
  type Compressors,
  parquetMetadataAsync,
  parquetReadObjects,
} from 'hyparquet';

/** The maximum number of rows of a Parquet file in memory at a time. */
const rowsAtOnce = 10_000;

type Unpack = (input: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

/** Zstandard is there from Node 22.15 on. */
const { zstdDecompressSync: unzstd } = zlib as { readonly zstdDecompressSync?: Unpack };

/** What Node.js unpacks, beside Snappy, which the reader does itself. */
const compressors: Compressors = {
  GZIP: unpackedBy(zlib.gunzipSync),
  BROTLI: unpackedBy(zlib.brotliDecompressSync),
  ...(unzstd !== undefined && { ZSTD: unpackedBy(unzstd) }),
};

/** A column of nothing but `null` has an empty page, and zlib refuses a maximum of 0. */
function unpackedBy(unpack: Unpack): NonNullable<Compressors['GZIP']> {
  return (input, maxOutputLength) =>
    maxOutputLength === 0 ? new Uint8Array() : unpack(input, { maxOutputLength });
}

const read = ['UNCOMPRESSED', 'SNAPPY', ...Object.keys(compressors)].join(', ');

/** The reader's message about a codec that it does not support, with what to do. */
function faultOf(message: string): string {
  const [, codec] = /unsupported compression codec: (\w+)/.exec(message) ?? [];
  return codec === undefined
    ? message
    : `Its compression ${codec} cannot be read: write it with one of ${read}.`;
}

async function* batches(path: string): AsyncGenerator<readonly unknown[], void, undefined> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const end = rowStart + Number(group.num_rows);
    while (rowStart < end) {
      const rowEnd = Math.min(end, rowStart + rowsAtOnce);
      const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors });
      if (rows.length === 0) return;
      yield rows.map(plain);
      rowStart += rows.length;
    }
  }
}

/**
 * A value as JSON has it. Whole numbers are read as `bigint`, and a list or a struct that is `null` as `undefined`:
 * Parquet itself does not tell `null` from what is missing.
 */
function plain(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return '(binary)';
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

// A batch for each message; nothing behind the last one.
const rows = batches(workerData as string);
parentPort?.on('message', () => {
  rows.next().then(
    ({ value }) => parentPort?.postMessage({ rows: value ?? [] }),
    (error: unknown) =>
      parentPort?.postMessage({
        fault: faultOf(error instanceof Error ? error.message : String(error)),
      }),
  );
});
