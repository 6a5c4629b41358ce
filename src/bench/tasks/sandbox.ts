import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { loadPeer } from '../../backends/transport/sdk.ts';
import { endThread } from '../../base/end-thread.ts';
import { EspalierError } from '../../base/errors.ts';
import { packageFile } from '../../base/package-file.ts';

/** What came of a call: its result as JSON, or why there is none. */
export type SandboxResult = { readonly value: string } | { readonly error: string };

/** What the thread is asked for. */
export interface SandboxRequest {
  readonly code: string;
  /** Expressions, evaluated one after another once the code has run. They are ours, and no text of a model. */
  readonly calls: readonly string[];
  /**
   * How often QuickJS may ask whether to go on: once in 10,000 turns of a loop or calls. It is a measure of work that is
   * the same on each machine, whatever else runs there.
   */
  readonly interrupts: number;
  /** How much memory it may use. */
  readonly bytes: number;
}

/** A loop with a sum takes five seconds for that many interrupts, and an empty one takes one. */
const limits = { interrupts: 10_000, bytes: 32 * 1024 * 1024 };

/** What does not interrupt itself, such as a product of large numbers, is ended after that many milliseconds. */
const longestRun = 60_000;

/** How long a thread may take to start, in milliseconds. */
const longestStart = 60_000;

/** More threads than processors would only take time from one another. */
const inTurn = pLimit(availableParallelism());

/**
 * Makes sure that there is a sandbox.
 *
 * @throws EspalierError `usage` where `quickjs-emscripten` is not installed.
 */
export async function expectSandbox(): Promise<void> {
  await loadPeer('quickjs-emscripten', () => import('quickjs-emscripten'));
}

/**
 * Runs JavaScript that nobody knows, in QuickJS in a thread: it sees neither files, network nor objects of the
 * host, and has a limit of work, which is the same on each machine, and 32 MiB.
 */
export async function runInSandbox(
  code: string,
  calls: readonly string[],
): Promise<readonly SandboxResult[]> {
  const request: SandboxRequest = { code, calls, ...limits };
  const results = await inThread<readonly SandboxResult[]>('sandbox-worker', request, longestRun);
  return 'error' in results ? calls.map(() => results) : results;
}

/**
 * Runs a program of ours in a thread, and returns the message that it posts. Others wait while each processor has one.
 *
 * @param ms - How long it may take on the clock, in milliseconds: several times what it needs on a busy machine.
 */
export function inThread<Message>(
  program: 'python-worker' | 'sandbox-worker',
  workerData: unknown,
  ms: number,
): Promise<Message | { readonly error: string }> {
  return inTurn(() => inOwnThread<Message>(program, workerData, ms));
}

async function inOwnThread<Message>(
  program: string,
  workerData: unknown,
  ms: number,
): Promise<Message | { readonly error: string }> {
  const worker = new Worker(packageFile(`dist/bench/tasks/${program}.js`), {
    workerData,
    execArgv: [],
    env: {},
    // Whatever is written there is not ours.
    stdout: true,
    stderr: true,
  });
  // What fails after its answer, nobody waits for.
  worker.on('error', () => {});
  try {
    await once(worker, 'online', { signal: AbortSignal.timeout(longestStart) });
    const [message] = await once(worker, 'message', { signal: AbortSignal.timeout(ms) });
    return message as Message;
  } catch (cause) {
    const isLate = cause instanceof Error && cause.name === 'AbortError';
    if (!isLate) expectStarted(cause);
    return { error: isLate ? 'It took too long.' : 'The sandbox failed.' };
  } finally {
    await endThread(worker);
  }
}

/** A thread that could not start says nothing about the code that it should have run. */
function expectStarted(cause: unknown): void {
  const { code, message } = Object(cause) as Readonly<Record<'code' | 'message', unknown>>;
  if (/^(?:ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|E[A-Z]+)$/.test(String(code))) {
    throw new EspalierError('unavailable', `The sandbox could not start: ${message}`, { cause });
  }
}
