import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { endThread } from '../../base/end-thread.ts';
import { jsonFault } from '../../base/json.ts';
import { expectRegularFile } from '../../base/regular-file.ts';

/** A row as it stands in a file, or why there is none. */
export type FileItem =
  | { readonly line: number; readonly value: unknown; readonly source?: string }
  | { readonly line: number; readonly broken: string };

/** How long the next rows of a Parquet file may take, in milliseconds; whole files take less. */
const longestBatch = 10_000;

/**
 * The rows of a file, one after another: of JSON lines each line, of a JSON array each element, of Parquet each
 * row, with its line or number from 1.
 */
export async function* itemsOf(path: string): AsyncGenerator<FileItem, void, undefined> {
  expectRegularFile(path);
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

/** In a thread of its own: a broken file can keep the reader busy for ever. */
async function* parquetRows(path: string): AsyncGenerator<FileItem, void, undefined> {
  // Under a loader of TypeScript, that of the build.
  const script = import.meta.url.endsWith('.ts')
    ? '../../../dist/data/audit/parquet-worker.js'
    : './parquet-worker.js';
  const worker = new Worker(new URL(script, import.meta.url), { workerData: path, execArgv: [] });
  let line = 0;
  try {
    for (;;) {
      worker.postMessage('next');
      const [batch] = (await once(worker, 'message', {
        signal: AbortSignal.timeout(longestBatch),
      }).catch(refuseSlow)) as [{ readonly rows: readonly unknown[] } | { readonly fault: string }];
      if ('fault' in batch) throw new Error(batch.fault);
      if (batch.rows.length === 0) return;
      for (const value of batch.rows) yield { line: ++line, value };
    }
  } finally {
    await endThread(worker);
  }
}

function refuseSlow(cause: Error): never {
  if (cause.name !== 'AbortError') throw cause;
  const message = `Its rows were not read within ${longestBatch / 1000} s: it is broken.`;
  throw new Error(message, { cause });
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
