import { ModelCallError } from '../../base/errors.ts';
import type { ConnectionOptions } from '../transport/connection.ts';
import type { Received } from '../transport/line.ts';
import { telling } from '../transport/reply-text.ts';
import { loadPeer, receivedFrom } from '../transport/sdk.ts';
import { longestInOnePiece, type Streaming } from '../transport/streaming.ts';
import type { MessagesBody } from './request.ts';
import { streamedMessage } from './streamed-message.ts';

/** A client of `@anthropic-ai/sdk`, or of its variants for other clouds, as far as it is used here. */
export interface AnthropicClient {
  /** Its Messages API. */
  readonly messages: {
    /** Sends a request. */
    create(body: object, options?: object): PromiseLike<unknown>;
    /** Counts the tokens of a prompt. */
    countTokens?(body: object, options?: object): PromiseLike<unknown>;
    /** Sends a request and collects the streamed reply. */
    stream(
      body: object,
      options?: object,
    ): Readonly<Record<'finalMessage', () => Promise<unknown>>>;
    /** Message Batches; without them, batches are not used. */
    readonly batches?: {
      /** Submits one. */
      create(body: object, options?: object): PromiseLike<unknown>;
      /** Retrieves one. */
      retrieve(id: string, query: object, options?: object): PromiseLike<unknown>;
      /** Lists them, newest first. */
      list(query: object, options?: object): PromiseLike<unknown>;
      /** Cancels one. */
      cancel(id: string, query: object, options?: object): PromiseLike<unknown>;
      /** The results of its requests. */
      results(id: string, query: object, options?: object): PromiseLike<AsyncIterable<unknown>>;
    };
  };
}

type AnthropicMessages = AnthropicClient['messages'];

/** The part of a client's Message Batches that is used. */
export type AnthropicBatches = NonNullable<AnthropicMessages['batches']>;

/** Loads the SDK and creates a client without its own retries and tracing. */
export async function openClient(
  { apiKey, baseUrl }: ConnectionOptions,
  fetch: typeof globalThis.fetch,
): Promise<AnthropicClient> {
  const { Anthropic } = await loadPeer('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'));
  return new Anthropic({
    // The SDK would log unreadable replies with all their content.
    ...{ maxRetries: 0, openTelemetry: false, logLevel: 'off', fetch },
    ...(apiKey !== undefined && { apiKey }),
    // The SDK appends the path with its version.
    ...(baseUrl !== undefined && { baseURL: baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '') }),
  });
}

/** The context of a request. */
interface Sending {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout: number;
}

/** The fields of a request that do not belong to its prompt. */
const ofSampling = [
  ...['max_tokens', 'stop_sequences', 'temperature', 'top_p', 'top_k', 'service_tier'],
];

/**
 * Counts the tokens of a request's prompt, in one attempt. The endpoint refuses fields that do not belong to the
 * prompt.
 */
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

/**
 * Sends one request, in one attempt. An answer is streamed if it may be long, may end before the server ends it, or if
 * other requests wait for its beginning.
 */
export async function send(
  { messages }: AnthropicClient,
  body: MessagesBody,
  given: Sending & Streaming & { readonly isStreamed: boolean },
): Promise<Received> {
  const { onPart, isOver, isStreamed, ...sending } = given;
  const options = { ...sending, ...telling(onPart), maxRetries: 0 };
  const isShort = body.max_tokens <= longestInOnePiece;
  if (isOver === undefined && isShort && !isStreamed) {
    return receivedFrom(messages.create(body, options));
  }
  const stream = messages.stream(body, options);
  const streaming = streamedMessage(stream, body, { onPart, isOver });
  const message = await (isShort ? streaming.catch(unlessInOnePiece) : streaming);
  return { body: message, headers: (stream as { response?: Response | null }).response?.headers };
}

/** Some servers ignore the request to stream, and the SDK then finds no events in their reply. */
function unlessInOnePiece(error: unknown): never {
  if (!(error instanceof Error) || !/without sending any chunks/.test(error.message)) throw error;
  const message = 'The server answered in one piece although a stream was requested.';
  throw new ModelCallError({ kind: 'capability', parameter: 'stream', message, charged: true });
}
