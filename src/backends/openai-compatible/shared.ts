import { unlessAborted } from '../../base/unless-aborted.ts';

interface Run<Value> {
  readonly promise: Promise<Value>;
  readonly controller: AbortController;
  waiting: number;
  isOver: boolean;
}

/**
 * Work that is shared by all callers that wait for it. It is given up when all have left, and starts again if it
 * failed.
 */
export class Shared<Value> {
  readonly #work: (signal: AbortSignal) => Promise<Value>;
  #run: Run<Value> | undefined;

  constructor(work: (signal: AbortSignal) => Promise<Value>) {
    this.#work = work;
  }

  /** The outcome, or the reason of the caller's signal if that comes first. */
  async get(signal: AbortSignal): Promise<Value> {
    signal.throwIfAborted();
    this.#run ??= this.#begin();
    const run = this.#run;
    run.waiting++;
    try {
      return await unlessAborted(run.promise, signal);
    } finally {
      run.waiting--;
      if (run.waiting === 0 && !run.isOver) this.#end(run, signal.reason);
    }
  }

  #begin(): Run<Value> {
    const controller = new AbortController();
    const promise = this.#work(controller.signal);
    const run: Run<Value> = { promise, controller, waiting: 0, isOver: false };
    promise.then(
      () => {
        run.isOver = true;
      },
      () => this.#end(run, undefined),
    );
    return run;
  }

  #end(run: Run<Value>, reason: unknown): void {
    if (this.#run === run) this.#run = undefined;
    run.isOver = true;
    run.controller.abort(reason);
  }
}
