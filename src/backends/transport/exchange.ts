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
  /** The body; without one it is a GET request. */
  readonly body?: JsonBody;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its timeout, if it differs from that of other requests. */
  readonly timeoutMs?: number;
  /** Assembles the reply if it is a stream of events. */
  readonly gathering?: Gathering | undefined;
}

/** How requests are sent without an SDK, or by the user's own client. */
export interface ExchangeOptions extends LineOptions {
  readonly client?: CompatibleClient | undefined;
}

/** A connection that sends requests without an SDK, and limits the size of replies. */
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
      // A redirected POST request arrives as a GET, and would send the key to another place.
      redirect: 'manual',
      signal,
    });
  }
}

/** Whether a header contains a key. */
function isOfKey(name: string): boolean {
  return /^(authorization|(x-)?api-key)$/i.test(name);
}

/** A reply with an error status, in the form that `modelCallErrorFrom` reads. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly error: unknown;

  /** @param response - The reply. @param text - Its body. */
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
