import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { endThread } from '../../base/end-thread.ts';
import { packageFile } from '../../base/package-file.ts';

/** How long the next rows of a Parquet file may take, in milliseconds; whole files take less. */
const longestBatch = 10_000;

/** The rows of a Parquet file. Read in a separate thread: a corrupt file can keep the reader busy forever. */
export async function* parquetRows(path: string): AsyncGenerator<unknown, void, undefined> {
  const script = packageFile('dist/data/audit/parquet-worker.js');
  const worker = new Worker(script, { workerData: path, execArgv: [] });
  // Columns are read side by side: after the first broken one was reported, another one ends the thread.
  worker.on('error', () => {});
  try {
    for (;;) {
      worker.postMessage('next');
      const [batch] = (await once(worker, 'message', {
        signal: AbortSignal.timeout(longestBatch),
      }).catch(refuseSlow)) as [{ readonly rows: readonly unknown[] } | { readonly fault: string }];
      if ('fault' in batch) throw new Error(batch.fault);
      if (batch.rows.length === 0) return;
      yield* batch.rows;
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
