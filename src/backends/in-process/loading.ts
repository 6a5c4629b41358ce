import { unlessAborted } from '../../base/unless-aborted.ts';

/** A model that is loaded once, on first use, and again if loading failed. */
export class Loading<Model> {
  readonly #load: () => Promise<Model>;
  readonly #dispose: (model: Model, reason: Error) => Promise<void>;
  #loading: Promise<Model> | undefined;
  #model: Model | undefined;
  #closing: Promise<void> | undefined;
  #closed: Error | undefined;

  /** @param dispose - Gives up all requests in flight, and unloads the model. */
  constructor(load: () => Promise<Model>, dispose: (model: Model, reason: Error) => Promise<void>) {
    this.#load = load;
    this.#dispose = dispose;
  }

  /** The model, if it is loaded. */
  get model(): Model | undefined {
    return this.#model;
  }

  /** The model, loaded. Rejects once it is closed. */
  async open(signal?: AbortSignal): Promise<Model> {
    this.#expectOpen();
    this.#loading ??= this.#begin();
    const model = await (signal === undefined
      ? this.#loading
      : unlessAborted(this.#loading, signal));
    this.#expectOpen();
    return model;
  }

  /** Unloads the model; resolves when that is complete. */
  close(reason: Error): Promise<void> {
    this.#closed ??= reason;
    this.#closing ??= this.#end(this.#closed);
    return this.#closing;
  }

  #expectOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }

  async #begin(): Promise<Model> {
    try {
      this.#model = await this.#load();
      return this.#model;
    } catch (error) {
      // The file may exist by the next attempt.
      this.#loading = undefined;
      throw error;
    }
  }

  async #end(reason: Error): Promise<void> {
    // Loading cannot be stopped; whether it succeeds no longer matters.
    const model = await this.#loading?.catch(() => undefined);
    this.#model = undefined;
    if (model !== undefined) await this.#dispose(model, reason);
  }
}
