import { unlessAborted } from '../../base/unless-aborted.ts';

/** A model that is loaded once, when it is first wanted, and again where that failed. */
export class Loading<Model> {
  readonly #load: () => Promise<Model>;
  readonly #dispose: (model: Model, reason: Error) => Promise<void>;
  #loading: Promise<Model> | undefined;
  #model: Model | undefined;
  #closing: Promise<void> | undefined;
  #closed: Error | undefined;

  /** @param dispose - Gives up everything under way, and lets the model go. */
  constructor(load: () => Promise<Model>, dispose: (model: Model, reason: Error) => Promise<void>) {
    this.#load = load;
    this.#dispose = dispose;
  }

  /** The model, where it is there. */
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

  /** Lets the model go; resolves when nothing is left of it. */
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
      // The file may be there the next time.
      this.#loading = undefined;
      throw error;
    }
  }

  async #end(reason: Error): Promise<void> {
    // What is being loaded cannot be stopped; whether it can be read is no matter any more.
    const model = await this.#loading?.catch(() => undefined);
    this.#model = undefined;
    if (model !== undefined) await this.#dispose(model, reason);
  }
}
