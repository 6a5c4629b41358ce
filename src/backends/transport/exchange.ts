import type { ModelCall } from '../../contracts/language-model.ts';
import type { JsonBody } from './chat-request.ts';
import type { Gathering } from './chat-stream.ts';
import { parsedJson } from './json.ts';
import { Line, type LineOptions, type Received } from './line.ts';
import { isEventStream, parsedReply, replyParts, replyText } from './reply-text.ts';
import { eventsIn, gathered } from './streaming.ts';

/** The part of OpenAI's SDK client that is used: it sends requests and returns the raw response. */
export interface CompatibleClient {
  /** The address of the server. */
  readonly baseURL: string;
  /** Sends a GET request. */
  get(path: string, options?: object): Readonly<Record<'asResponse', () => Promise<Response>>>;
  /** Sends a POST request. */
  post(path: string, options?: object): Readonly<Record<'asResponse', () => Promise<Response>>>;
}

/** One request. */
export interface Sent {
  readonly url: string;
  /** The body; a GET request where there is none. */
  readonly body?: JsonBody;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long it may take, where that is not as long as all others. */
  readonly timeoutMs?: number;
  /** What puts the reply together where it comes as a stream of events. */
  readonly gathering?: Gathering | undefined;
}

/** How requests are sent without an SDK, or by a client of the user's own. */
export interface ExchangeOptions extends LineOptions {
  readonly client?: CompatibleClient | undefined;
}

/** A line on which requests are sent without an SDK, and replies are read within limits of size. */
export class Exchange extends Line {
  readonly #given: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    super(options);
    this.#given = options;
  }

  /** Sends a request. Rejects with a `ModelCallError`, or with the reason of the caller's signal. */
  send(sent: Sent, call: Pick<ModelCall, 'limits' | 'signal'>): Promise<Received> {
    const context = this.context(call.signal);
    const send = async (signal: AbortSignal, onPart: () => void): Promise<Received> => {
      const response = await this.#respond(sent, signal);
      const { gathering } = sent;
      if (gathering !== undefined && isEventStream(response)) {
        const parts = replyParts(response, { ...this.limits, context });
        const events = eventsIn(parts, { context, onPart });
        const body = await gathered(events, gathering, { context, onPart });
        return { headers: response.headers, body };
      }
      const text = await replyText(response, { ...this.limits, context });
      if (!response.ok) throw new HttpError(response, text);
      return { headers: response.headers, body: parsedReply(text, context) };
    };
    return this.request(call, send, sent.timeoutMs);
  }

  #respond({ url, body, headers: told, timeoutMs }: Sent, signal: AbortSignal): Promise<Response> {
    const { client, apiKey: own, headers: given } = this.#given;
    const headers = { ...given, ...told };
    if (client !== undefined) {
      const timeout = timeoutMs ?? this.timeoutMs;
      const options = { headers, signal, maxRetries: 0, timeout };
      return body === undefined
        ? client.get(url, options).asResponse()
        : client.post(url, { ...options, body }).asResponse();
    }
    const apiKey = Object.keys(headers).some(isOfKey) ? own : this.key();
    return this.fetch(url, {
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

/** Whether a header holds a key. */
function isOfKey(name: string): boolean {
  return /^(authorization|(x-)?api-key)$/i.test(name);
}

/** A reply with a status that is no success, in the shape that `modelCallErrorFrom` reads. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; `undefined` if it is none. */
  readonly error: unknown;

  /** @param response - What was answered. @param text - Its body. */
  constructor(response: Response, text: string) {
    super(messageOf(response, text));
    this.status = response.status;
    this.headers = response.headers;
    this.error = parsedJson(text);
  }
}

function messageOf({ status, statusText, headers }: Response, text: string): string {
  const location = headers.get('location');
  if (status >= 300 && status < 400 && location !== null) return `it has moved to ${location}`;
  return text.trim() === '' ? statusText || 'no explanation' : text;
}
