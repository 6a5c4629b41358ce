import { withDeadline } from '../transport/deadline.ts';
import { loadPeer } from '../transport/load-peer.ts';
import { patientFetch } from '../transport/patient-fetch.ts';
import { fetchWithin, type SdkLimits } from '../transport/reply-text.ts';
import type { MessagesBody } from './request.ts';

/** What is needed of a client of `@anthropic-ai/sdk`, or of one of its sisters for other clouds. */
export interface AnthropicClient {
  /** Its Messages API. */
  readonly messages: {
    /** Sends a request. */
    create(body: object, options?: object): PromiseLike<unknown>;
    /** Sends a request and gathers the reply as it comes. */
    stream(body: object, options?: object): AnthropicStream;
  };
}

/** A reply on its way. */
export interface AnthropicStream {
  /** The whole reply, once it is there. */
  finalMessage(): Promise<unknown>;
}

/** How a client is made. */
export interface ClientOptions {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly fetch: typeof globalThis.fetch | undefined;
  /** What replies are read for. */
  readonly limits: SdkLimits;
}

/** Loads the SDK and makes a client that repeats nothing by itself and reports no spans of its own. */
export async function openClient(options: ClientOptions): Promise<AnthropicClient> {
  const { apiKey, baseUrl, fetch = patientFetch, limits } = options;
  const { Anthropic } = await loadPeer('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'));
  return new Anthropic({
    maxRetries: 0,
    openTelemetry: false,
    ...(apiKey !== undefined && { apiKey }),
    // The SDK adds the path with its version itself.
    ...(baseUrl !== undefined && { baseURL: baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '') }),
    fetch: fetchWithin(fetch, limits),
  });
}

/** What goes along with a request. */
export interface SendOptions {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** A reply and its headers. */
export interface Sent {
  readonly message: unknown;
  readonly headers: unknown;
}

/**
 * The longest answer that is asked for in one piece: the SDK refuses longer ones of some models, and
 * connections on which nothing comes for minutes are cut.
 */
const longestInOnePiece = 8192;

/** Sends one request, once. The SDK's own limit of time ends with the headers, ours with the reply. */
export function send(
  { messages }: AnthropicClient,
  body: MessagesBody,
  { signal, headers, timeoutMs }: SendOptions,
): Promise<Sent> {
  const timeout = Math.ceil(timeoutMs);
  return withDeadline(signal, timeout, async (inTime) => {
    const options = { signal: inTime, headers, maxRetries: 0, timeout };
    if (body.max_tokens > longestInOnePiece) {
      const stream = messages.stream(body, options);
      return { message: await stream.finalMessage(), headers: headersOf(stream) };
    }
    const sent = messages.create(body, options);
    if (!hasResponse(sent)) return { message: await sent, headers: undefined };
    const { data, response } = await sent.withResponse();
    return { message: data, headers: response.headers };
  });
}

function headersOf(stream: object): unknown {
  return (stream as { response?: Response | null }).response?.headers;
}

interface WithResponse {
  withResponse(): Promise<{ readonly data: unknown; readonly response: Response }>;
}

function hasResponse(sent: object): sent is WithResponse {
  return 'withResponse' in sent && typeof sent.withResponse === 'function';
}
