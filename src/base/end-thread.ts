import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

/** How long V8 may continue to compile for a thread that has nothing left to do, in milliseconds. */
const rest = 50;

/**
 * Ends a thread that has nothing left to do. Node 20 aborts the entire process if a thread ends while its code is still
 * being compiled in the background, hence the wait.
 */
export async function endThread(worker: Worker): Promise<void> {
  worker.ref();
  await setTimeout(rest);
  await worker.terminate();
}
