import { ModelCallError } from '../../base/errors.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import { withDeadline } from '../transport/deadline.ts';
import type { WireContext } from '../transport/errors.ts';
import { loadPeer } from '../transport/load-peer.ts';
import { fetchWithin, parsedReply, type SdkLimits } from '../transport/reply-text.ts';
import type { OpenAiApi } from './request.ts';

/** What is needed of a client of the package `openai`, whatever its version. */
export interface OpenAiClient {
  /** Chat Completions. */
  readonly chat: {
    /** The one of its parts that is used. */
    readonly completions: {
      /** Sends a request. */
      create(body: object, options?: object): PromiseLike<unknown>;
    };
  };
  /** The Responses API; without it only Chat Completions are used. */
  readonly responses?: {
    /** Sends a request. */
    create(body: object, options?: object): PromiseLike<unknown>;
  };
}

/** How a client is made. */
export interface ClientOptions {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly organization: string | undefined;
  readonly project: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** What replies are read for. */
  readonly limits: SdkLimits;
}

/** Loads the SDK and makes a client that repeats nothing by itself. */
export async function openClient(options: ClientOptions): Promise<OpenAiClient> {
  const { apiKey, baseUrl, organization, project, fetch, limits } = options;
  const { OpenAI } = await loadPeer('openai', () => import('openai'));
  try {
    return new OpenAI({
      maxRetries: 0,
      ...(apiKey !== undefined && { apiKey }),
      ...(baseUrl !== undefined && { baseURL: baseUrl }),
      ...(organization !== undefined && { organization }),
      ...(project !== undefined && { project }),
      fetch: jsonFetch(fetch, limits),
    });
  } catch (error) {
    throw isKeyMissing(error) ? keyMissing(limits.context) : error;
  }
}

/** The SDK stumbles over replies that are no JSON, and not always in words that help anybody. */
function jsonFetch(fetch: typeof globalThis.fetch, limits: SdkLimits): typeof globalThis.fetch {
  const within = fetchWithin(fetch, limits);
  return async (...request) => {
    const response = await within(...request);
    if (response.ok) parsedReply(await response.clone().text(), limits.context);
    return response;
  };
}

function isKeyMissing(error: unknown): boolean {
  return error instanceof Error && /credentials|api_?key/i.test(error.message);
}

function keyMissing({ provider, modelId, keyVariable }: WireContext): ModelCallError {
  return new ModelCallError({
    kind: 'auth',
    message: `${provider}:${modelId} has no key. Set ${keyVariable}, or the option \`apiKey\`.`,
    charged: false,
  });
}

/** A request. */
export interface Sending {
  readonly api: OpenAiApi;
  readonly body: JsonBody;
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** A reply and its headers. */
export interface Sent {
  readonly reply: unknown;
  readonly headers: unknown;
}

/** Sends one request, once. The SDK's own limit of time ends with the headers, ours with the reply. */
export function send(client: OpenAiClient, sending: Sending): Promise<Sent> {
  const { api, body, headers } = sending;
  const timeout = Math.ceil(sending.timeoutMs);
  return withDeadline(sending.signal, timeout, async (signal) => {
    const options = { signal, headers, maxRetries: 0, timeout };
    const sent =
      api === 'responses' && client.responses !== undefined
        ? client.responses.create(body, options)
        : client.chat.completions.create(body, options);
    if (!hasResponse(sent)) return { reply: await sent, headers: undefined };
    const { data, response } = await sent.withResponse();
    return { reply: data, headers: response.headers };
  });
}

interface WithResponse {
  withResponse(): Promise<{ readonly data: unknown; readonly response: Response }>;
}

/** Clients that somebody has wrapped may return plain promises. */
function hasResponse(sent: object): sent is WithResponse {
  return 'withResponse' in sent && typeof sent.withResponse === 'function';
}
