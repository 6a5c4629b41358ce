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

/** A model behind a connection. */
export interface LineOptions extends ConnectionOptions {
  /** Who serves it, as in `provider:modelId`. */
  readonly provider: string;
  /** Its name there. */
  readonly model: string;
  /** The environment variable where an SDK looks for the key. */
  readonly usualKeyVariable?: string;
  /** Its address unless a user says otherwise. */
  readonly usualBaseUrl?: string | undefined;
  /** The environment variable where an SDK looks for another address. */
  readonly baseUrlVariable?: string;
  /** How long a request may take unless a user says otherwise. @defaultValue 300 000 */
  readonly usualTimeoutMs?: number;
  /** An SDK client of the user's own. */
  readonly client?: object | undefined;
  /** What it may hold of credentials. @defaultValue {@link secretsOfClient} */
  readonly secretsOfClient?: typeof secretsOfClient;
  /** The error for whatever was thrown. @defaultValue {@link modelCallErrorFrom} */
  readonly errorFrom?: typeof modelCallErrorFrom;
}

/** A reply that says success. */
export interface Received {
  /** The body as JSON. */
  readonly body: unknown;
  /** The headers, in whatever form a client hands them out; `undefined` if it does not. */
  readonly headers: unknown;
}

/** A signal for what nobody abandons. */
const { signal: noSignal } = new AbortController();

/**
 * The line to one model: whatever sends a request, here it is held to its time, what its reply tells of limits is
 * passed on, and what fails becomes an error of ours, in which no credential stands.
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

  /** Where it is, without credentials: another server under the same name may answer otherwise. `undefined` if usual. */
  get address(): string | undefined {
    const { baseUrl, client, usualBaseUrl, baseUrlVariable } = this.#options;
    const ofClient = (client as { readonly baseURL?: unknown } | undefined)?.baseURL;
    const set = baseUrlVariable === undefined ? undefined : environment()[baseUrlVariable]?.trim();
    const found = baseUrl ?? (client === undefined ? set : ofClient);
    if (typeof found !== 'string' || found === '') return undefined;
    const address = withoutCredentials(found);
    return address === usualBaseUrl ? undefined : address;
  }

  /** How long one request may take, in whole milliseconds: the limits of SDKs, which end with the headers, are alike. */
  get timeoutMs(): number {
    const { timeoutMs, usualTimeoutMs = 300_000 } = this.#options;
    return Math.ceil(timeoutMs ?? usualTimeoutMs);
  }

  /** How replies are read, and what is learnt of the credentials that are sent. */
  get limits(): ReplyLimits {
    const { maxReplyBytes = defaultMaxReplyBytes } = this.#options;
    const learn = (found: readonly string[]) => {
      for (const secret of found) this.#secrets.add(secret);
    };
    return { context: this.context(), maxReplyBytes, learn };
  }

  /**
   * The key: what was given, else what the variable that was named holds by now; `undefined` if none was.
   *
   * @throws EspalierError `usage`, for the whole run, where that one holds nothing.
   */
  key(): string | undefined {
    const { apiKey, keyVariable } = this.#options;
    if (apiKey !== undefined || keyVariable === undefined) return apiKey;
    const found = environment()[keyVariable]?.trim() ?? '';
    if (found === '') throw keyMissing(this.context());
    this.limits.learn([found]);
    return found;
  }

  /** For whom errors speak. */
  context(signal: AbortSignal = noSignal): WireContext {
    const { provider, modelId } = this;
    const { baseUrl, usualKeyVariable, keyVariable = usualKeyVariable } = this.#options;
    return { provider, modelId, baseUrl, keyVariable, secrets: this.#secrets, signal };
  }

  /** The error for a reply that makes no sense. @param what - What the model answered with. */
  malformed(what: string, { signal }: Pick<ModelCall, 'signal'>): ModelCallError {
    return malformed(this.context(signal), what);
  }

  /**
   * Runs one request. Rejects with an error of ours, or with the reason of the caller's signal.
   *
   * @param send - Sends it, on a signal that also aborts when its time is over. Its second parameter says that more of a
   * streamed reply has come: the time begins anew.
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

  /** The credentials that are known by now. A client may look for a new key at any time. */
  get secrets(): readonly string[] {
    const { client, secretsOfClient: look = secretsOfClient } = this.#options;
    return [...this.#secrets, ...look(client)];
  }

  /** A model of this line: what it says is guarded, and its failed calls are repeated as its options say. */
  kept<Model extends Payee>(model: Model): Model {
    const { retry = {} } = this.#options;
    const kept = guarded(model, () => this.secrets);
    if (retry === false) return kept;
    return withRetry(retry)(kept);
  }
}
