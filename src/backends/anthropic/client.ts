import type { ConnectionOptions } from '../transport/connection.ts';
import type { Received } from '../transport/line.ts';
import { loadPeer, receivedFrom } from '../transport/sdk.ts';
import type { MessagesBody } from './request.ts';

/** What is needed of a client of `@anthropic-ai/sdk`, or of one of its sisters for other clouds. */
export interface AnthropicClient {
  /** Its Messages API. */
  readonly messages: {
    /** Sends a request. */
    create(body: object, options?: object): PromiseLike<unknown>;
    /** Says how many tokens a prompt is. */
    countTokens?(body: object, options?: object): PromiseLike<unknown>;
    /** Sends a request and gathers the reply as it comes. */
    stream(
      body: object,
      options?: object,
    ): Readonly<Record<'finalMessage', () => Promise<unknown>>>;
  };
}

/** Loads the SDK and makes a client that repeats nothing by itself and reports no spans of its own. */
export async function openClient(
  { apiKey, baseUrl }: ConnectionOptions,
  fetch: typeof globalThis.fetch,
): Promise<AnthropicClient> {
  const { Anthropic } = await loadPeer('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'));
  return new Anthropic({
    ...{ maxRetries: 0, openTelemetry: false, fetch },
    ...(apiKey !== undefined && { apiKey }),
    // The SDK adds the path with its version itself.
    ...(baseUrl !== undefined && { baseURL: baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '') }),
  });
}

/** The longest answer that is asked for in one piece: connections on which nothing comes for minutes are cut. */
const longestInOnePiece = 16_384;

/** How a request is sent. */
interface Sending {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout: number;
}

/** What of a request is none of its prompt. */
const ofSampling = [
  ...['max_tokens', 'stop_sequences', 'temperature', 'top_p', 'top_k', 'service_tier'],
];

/** Asks once how many tokens the prompt of a request is. The endpoint refuses what is none of the prompt. */
export async function sendToCount(
  { messages }: AnthropicClient,
  body: MessagesBody,
  given: Sending,
): Promise<Received> {
  if (messages.countTokens === undefined) throw new Error('The client has no `countTokens`.');
  const prompt = Object.fromEntries(
    Object.entries(body).filter(([name]) => !ofSampling.includes(name)),
  );
  return receivedFrom(messages.countTokens(prompt, { ...given, maxRetries: 0 }));
}

/** Sends one request, once. */
export async function send(
  { messages }: AnthropicClient,
  body: MessagesBody,
  given: Sending,
): Promise<Received> {
  const options = { ...given, maxRetries: 0 };
  if (body.max_tokens <= longestInOnePiece) return receivedFrom(messages.create(body, options));
  const stream = messages.stream(body, options);
  const message = await stream.finalMessage();
  return { body: message, headers: (stream as { response?: Response | null }).response?.headers };
}
