import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { endThread } from '../../base/end-thread.ts';
import { EspalierError, type EspalierErrorCode } from '../../base/errors.ts';
import { packageFile } from '../../base/package-file.ts';
import { type Settle, settledOrLeft } from '../../base/unless-aborted.ts';
import type { Generation, Message } from '../../contracts/language-model.ts';
import type { InProcessRequest } from '../in-process/request.ts';
import { type ModelHost, type ModelSettings, nameOfModel, nothingDone } from './model.ts';
import type { TinyStats } from './tiny-model.ts';

/** The messages to the thread of a model. */
export type ThreadOrder =
  | { readonly type: 'generate'; readonly id: number; readonly request: InProcessRequest }
  | { readonly type: 'count'; readonly id: number; readonly messages: readonly Message[] }
  | { readonly type: 'load' | 'stats'; readonly id: number }
  | { readonly type: 'abort'; readonly id: number };

/** The result of an order. */
type Answered = Generation | TinyStats | number;

/** The reply to the order with this number. */
export type ThreadReply =
  | { readonly id: number; readonly value: Answered }
  | { readonly id: number; readonly message: string; readonly code?: EspalierErrorCode };

/** The program of the thread. Threads run only JavaScript, so even sources use the built file. */
export const workerScript: URL = packageFile('dist/backends/tiny/worker.js');

/**
 * A model in a separate thread. The thread starts with the first request, and does not keep the process alive while it
 * is idle. If it dies, the requests in flight fail, and the next one starts a new thread.
 */
export function threadHost(settings: ModelSettings, script: URL = workerScript): ModelHost {
  const host = new ThreadHost(settings, script);
  return {
    async load() {
      await host.ask({ type: 'load' });
    },
    async generate(request, signal) {
      signal.throwIfAborted();
      const order = { type: 'generate', request } as const;
      return (await host.ask(order, signal)) as Generation;
    },
    count: async (messages) => (await host.ask({ type: 'count', messages })) as number,
    async stats() {
      return host.isRunning ? ((await host.ask({ type: 'stats' })) as TinyStats) : nothingDone;
    },
    close: (reason) => host.close(reason),
  };
}

class ThreadHost {
  readonly #settings: ModelSettings;
  readonly #script: URL;
  readonly #waiting = new Map<number, Settle<Answered>>();
  #worker: Worker | undefined;
  #orders = 0;

  constructor(settings: ModelSettings, script: URL) {
    this.#settings = settings;
    this.#script = script;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  async ask(
    question:
      | { readonly type: 'generate'; readonly request: InProcessRequest }
      | { readonly type: 'count'; readonly messages: readonly Message[] }
      | { readonly type: 'load' | 'stats' },
    signal?: AbortSignal,
  ): Promise<Answered> {
    const worker = this.#worker ?? this.#start();
    const id = this.#orders++;
    try {
      return await settledOrLeft<Answered>(signal, (settle) => {
        this.#waiting.set(id, settle);
        worker.ref();
        worker.postMessage({ ...question, id } satisfies ThreadOrder);
        return () => {
          worker.postMessage({ type: 'abort', id } satisfies ThreadOrder);
          settle.reject(signal?.reason);
        };
      });
    } finally {
      this.#waiting.delete(id);
      if (this.#waiting.size === 0 && worker === this.#worker) worker.unref();
    }
  }

  async close(reason: Error): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#worker = undefined;
    for (const id of this.#waiting.keys()) {
      worker.postMessage({ type: 'abort', id } satisfies ThreadOrder);
    }
    this.#fail(reason);
    await endThread(worker);
  }

  #start(): Worker {
    if (!existsSync(this.#script)) {
      throw new EspalierError(
        'usage',
        `The program of the thread is missing at ${fileURLToPath(this.#script)}: build the package, or set \`thread\` to false.`,
      );
    }
    const name = nameOfModel(this.#settings.path);
    const worker = new Worker(this.#script, {
      name,
      workerData: this.#settings,
      // Loaders of the process are not needed there, and slow to start.
      execArgv: [],
    });
    const onEnd = (reason: string, cause?: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#fail(new Error(`The thread of ${name} stopped: ${reason}.`, { cause }));
    };
    worker.on('message', (reply: ThreadReply) => this.#answer(reply));
    worker.on('error', (error) => onEnd(error.message.replace(/\.$/, ''), error));
    worker.on('exit', (code) => onEnd(`it ended with exit code ${code}`));
    this.#worker = worker;
    return worker;
  }

  /** A request that was aborted meanwhile is no longer waiting. */
  #answer(reply: ThreadReply): void {
    const waiting = this.#waiting.get(reply.id);
    if ('value' in reply) waiting?.resolve(reply.value);
    else if (reply.code === undefined) waiting?.reject(new Error(reply.message));
    else waiting?.reject(new EspalierError(reply.code, reply.message));
  }

  #fail(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}
