import type { JsonBody } from './chat-request.ts';
import { withDeadline } from './deadline.ts';
import type { WireContext } from './errors.ts';
import { HttpError } from './http-error.ts';
import { parsedReply, replyText } from './reply-text.ts';

/** The part of an SDK client of OpenAI's that is used: it sends requests and hands out the bare response. */
export interface CompatibleClient {
  /** The address of the server. */
  readonly baseURL: string;
  /** Sends a GET request. */
  get(path: string, options?: CompatibleRequestOptions): CompatiblePromise;
  /** Sends a POST request. */
  post(path: string, options?: CompatibleRequestOptions): CompatiblePromise;
}

/** The options of a request that are used. */
export interface CompatibleRequestOptions {
  /** The body, as JSON. */
  readonly body?: unknown;
  /** Headers besides those of the client. */
  readonly headers?: Record<string, string>;
  /** Closes the connection. */
  readonly signal?: AbortSignal;
  /** How often the client repeats a request. */
  readonly maxRetries?: number;
  /** How long it waits for the headers, in milliseconds. */
  readonly timeout?: number;
}

/** What a client returns. */
export interface CompatiblePromise {
  /** The response as it came. */
  asResponse(): Promise<Response>;
}

/** How requests are sent. */
export interface ExchangeOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly client: CompatibleClient | undefined;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxReplyBytes: number;
}

/** One request. */
export interface Sent {
  readonly url: string;
  /** The body; a GET request where there is none. */
  readonly body?: JsonBody;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whose request it is, for errors about replies that cannot be read. */
  readonly context: WireContext;
}

/** A reply that says success. */
export interface Received {
  readonly headers: Headers;
  /** The body as JSON. */
  readonly body: unknown;
}

/** Sends requests and reads their replies, within limits of time and size. */
export class Exchange {
  readonly #options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /**
   * Sends a request. Throws whatever the client throws, an {@link HttpError} for a status that is no
   * success, and a `malformed` error for a reply that is no JSON.
   */
  send(sent: Sent): Promise<Received> {
    const { context, timeoutMs } = sent;
    return withDeadline(sent.signal, timeoutMs, async (signal) => {
      const { maxReplyBytes } = this.#options;
      const response = await this.#respond({ ...sent, signal });
      const text = await replyText(response, { context, maxReplyBytes });
      if (!response.ok) throw new HttpError(response, text);
      return { headers: response.headers, body: parsedReply(text, context) };
    });
  }

  #respond({ url, body, headers: own, signal, timeoutMs }: Sent): Promise<Response> {
    const { fetch, client, apiKey } = this.#options;
    const headers = { ...this.#options.headers, ...own };
    if (client !== undefined) {
      const options = { headers, signal, maxRetries: 0, timeout: timeoutMs };
      return body === undefined
        ? client.get(url, options).asResponse()
        : client.post(url, { ...options, body }).asResponse();
    }
    return fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A POST request that is redirected arrives as a GET, and a key where it was not meant to go.
      redirect: 'manual',
      signal,
    });
  }
}
