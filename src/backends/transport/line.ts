import { withoutCredentials } from '../../base/address.ts';
import { withDeadline } from '../../base/deadline.ts';
import type { ModelCallError } from '../../base/errors.ts';
import { withRetry } from '../../calls/middleware/with-retry.ts';
import type { ModelCall, Payee } from '../../contracts/language-model.ts';
import { type ConnectionOptions, secretsOf, secretsOfClient } from './connection.ts';
import { environment } from './environment.ts';
import { keyMissing, malformed, modelCallErrorFrom, type WireContext } from './errors.ts';
import { guarded } from './guarded.ts';
import { headerLookup, rateLimitsOf } from './headers.ts';
import { patientFetch } from './patient-fetch.ts';
import { defaultMaxReplyBytes, type ReplyLimits } from './reply-text.ts';

/** Options of a model behind a connection. */
export interface LineOptions extends ConnectionOptions {
  /** The provider, as in `provider:modelId`. */
  readonly provider: string;
  /** Its name there. */
  readonly model: string;
  /** The environment variable where an SDK looks for the key. */
  readonly usualKeyVariable?: string;
  /** Its default address. */
  readonly usualBaseUrl?: string | undefined;
  /** The environment variable where an SDK looks for another address. */
  readonly baseUrlVariable?: string;
  /** The default timeout of a request. @defaultValue 300 000 */
  readonly usualTimeoutMs?: number;
  /** The user's own SDK client. */
  readonly client?: object | undefined;
  /** Its possible credentials. @defaultValue {@link secretsOfClient} */
  readonly secretsOfClient?: typeof secretsOfClient;
  /** Converts an exception to an error. @defaultValue {@link modelCallErrorFrom} */
  readonly errorFrom?: typeof modelCallErrorFrom;
}

/** A successful reply. */
export interface Received {
  /** The body as JSON. */
  readonly body: unknown;
  /** The headers, in the form that a client provides; `undefined` if it does not. */
  readonly headers: unknown;
}

/** A signal that never aborts. */
const { signal: noSignal } = new AbortController();

/**
 * The connection to one model: it applies timeouts to requests however they are sent, passes on reported rate limits,
 * and converts failures to our own errors, without credentials.
 */
export class Line {
  /** The provider, as in `provider:modelId`. */
  readonly provider: string;
  /** The model's name. */
  readonly modelId: string;
  /** Sends requests. */
  readonly fetch: typeof globalThis.fetch;
  readonly #options: LineOptions;
  readonly #secrets: Set<string>;

  constructor(options: LineOptions) {
    this.provider = options.provider;
    this.modelId = options.model;
    this.fetch = options.fetch ?? patientFetch;
    this.#options = options;
    this.#secrets = new Set(secretsOf(options));
    this.limits.learn(this.secrets);
  }

  /** The model, as `provider:modelId`. */
  get name(): string {
    return `${this.provider}:${this.modelId}`;
  }

  /**
   * Its address, without credentials: another server with the same name may answer differently. `undefined` if it is
   * the default.
   */
  get address(): string | undefined {
    const { baseUrl, client, usualBaseUrl, baseUrlVariable } = this.#options;
    const ofClient = (client as { readonly baseURL?: unknown } | undefined)?.baseURL;
    const set = baseUrlVariable === undefined ? undefined : environment()[baseUrlVariable]?.trim();
    const found = baseUrl ?? (client === undefined ? set : ofClient);
    if (typeof found !== 'string' || found === '') return undefined;
    const address = withoutCredentials(found);
    return address === usualBaseUrl ? undefined : address;
  }

  /**
   * The timeout of a request, in whole milliseconds. The limits of SDKs end with the headers, so they are set to the
   * same.
   */
  get timeoutMs(): number {
    const { timeoutMs, usualTimeoutMs = 300_000 } = this.#options;
    return Math.ceil(timeoutMs ?? usualTimeoutMs);
  }

  /** The limits of replies, and the function that learns sent credentials. */
  get limits(): ReplyLimits {
    const { maxReplyBytes = defaultMaxReplyBytes } = this.#options;
    const learn = (found: readonly string[]) => {
      for (const secret of found) this.#secrets.add(secret);
    };
    return { context: this.context(), maxReplyBytes, learn };
  }

  /**
   * The key: the one given, or else the current value of the named variable; `undefined` if neither was given.
   *
   * @throws EspalierError `usage`, for the whole run, if that variable is empty.
   */
  key(): string | undefined {
    const { apiKey, keyVariable } = this.#options;
    if (apiKey !== undefined || keyVariable === undefined) return apiKey;
    const found = environment()[keyVariable]?.trim() ?? '';
    if (found === '') throw keyMissing(this.context());
    this.limits.learn([found]);
    return found;
  }

  /** The context for errors. */
  context(signal: AbortSignal = noSignal): WireContext {
    const { provider, modelId } = this;
    const { apiKey, baseUrl, usualKeyVariable, keyVariable = usualKeyVariable } = this.#options;
    const known = apiKey === undefined ? { keyVariable } : {};
    return { provider, modelId, baseUrl, ...known, secrets: this.#secrets, signal };
  }

  /** The error for an invalid reply. @param what - A description of the answer. */
  malformed(what: string, { signal }: Pick<ModelCall, 'signal'>): ModelCallError {
    return malformed(this.context(signal), what);
  }

  /**
   * Runs one request. Rejects with one of our errors, or with the reason of the caller's signal.
   *
   * @param send - Sends it, with a signal that also aborts at the timeout. Its second parameter reports that more of a
   * streamed reply has arrived, which restarts the timeout.
   */
  async request<Reply extends { readonly headers: unknown }>(
    { signal, limits }: Pick<ModelCall, 'limits' | 'signal'>,
    send: (signal: AbortSignal, renew: () => void) => Promise<Reply>,
    timeoutMs: number = this.timeoutMs,
  ): Promise<Reply> {
    const tell = (headers: unknown) => {
      const told = rateLimitsOf(headerLookup(headers));
      if (told !== undefined) limits?.(told);
    };
    try {
      const reply = await withDeadline(signal, timeoutMs, send);
      tell(reply.headers);
      return reply;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error && 'headers' in error) tell(error.headers);
      const { errorFrom = modelCallErrorFrom } = this.#options;
      throw errorFrom(error, this.context(signal));
    }
  }

  /** The credentials known so far. A client may load a new key at any time. */
  get secrets(): readonly string[] {
    const { client, secretsOfClient: look = secretsOfClient } = this.#options;
    return [...this.#secrets, ...look(client)];
  }

  /** A model of this connection: its output is guarded, and failed calls are retried according to its options. */
  kept<Model extends Payee>(model: Model): Model {
    const { retry = {} } = this.#options;
    const kept = guarded(model, () => this.secrets);
    if (retry === false) return kept;
    return withRetry(retry)(kept);
  }
}
