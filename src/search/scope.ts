import { letManyListen } from '#platform';

/** The work in flight of a search: it can be aborted by itself, and is aborted together with the surrounding scope. */
export class Scope {
  readonly #outer: AbortSignal;
  readonly #onAbort = (): void => this.#controller.abort(this.#outer.reason);
  #controller: AbortController;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    this.#controller = controllerWithin(outer);
    outer.addEventListener('abort', this.#onAbort);
  }

  /** Aborts work that starts from now on. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts work in flight; work that starts later may continue. */
  renew(reason: Error): void {
    const given = this.#controller;
    this.#controller = controllerWithin(this.#outer);
    given.abort(reason);
  }

  /** Removes its listener from the surrounding scope. */
  [Symbol.dispose](): void {
    this.#outer.removeEventListener('abort', this.#onAbort);
  }
}

function controllerWithin(outer: AbortSignal): AbortController {
  const controller = new AbortController();
  // Every call in flight may add a listener.
  letManyListen(controller.signal);
  if (outer.aborted) controller.abort(outer.reason);
  return controller;
}
