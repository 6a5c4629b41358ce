import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

/** How long V8 may go on compiling for a thread that has nothing left to do, in milliseconds. */
const rest = 50;

/**
 * Ends a thread that has nothing left to do. Node 20 aborts the whole process where a thread ends while code of
 * its last work is still being compiled in the background, hence the wait.
 */
export async function endThread(worker: Worker): Promise<void> {
  worker.ref();
  await setTimeout(rest);
  await worker.terminate();
}
