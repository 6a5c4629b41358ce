import { letManyListen } from '#platform';

/** What is under way of a search: it can be aborted by itself, and is aborted with all that surrounds it. */
export class Scope {
  readonly #outer: AbortSignal;
  readonly #onAbort = (): void => this.#controller.abort(this.#outer.reason);
  #controller: AbortController;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    this.#controller = controllerWithin(outer);
    outer.addEventListener('abort', this.#onAbort);
  }

  /** Aborts what starts now. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts what is under way; what starts after it may go on. */
  renew(reason: Error): void {
    const given = this.#controller;
    this.#controller = controllerWithin(this.#outer);
    given.abort(reason);
  }

  /** Leaves nothing behind on what surrounds it. */
  [Symbol.dispose](): void {
    this.#outer.removeEventListener('abort', this.#onAbort);
  }
}

function controllerWithin(outer: AbortSignal): AbortController {
  const controller = new AbortController();
  // Every call in flight may listen.
  letManyListen(controller.signal);
  if (outer.aborted) controller.abort(outer.reason);
  return controller;
}
