import type { ConnectionOptions } from '../transport/connection.ts';
import { keyMissing, type WireContext } from '../transport/errors.ts';
import { isEventStream, parsedReply } from '../transport/reply-text.ts';
import { loadPeer } from '../transport/sdk.ts';

/** A client of the package `openai`, any version, as far as it is used here. */
export interface OpenAiClient {
  /** Chat Completions. */
  readonly chat: {
    /** The part that is used. */
    readonly completions: {
      /** Sends a request. */
      create(body: object, options?: object): PromiseLike<unknown>;
    };
  };
  /** The Responses API; without it, only Chat Completions are used. */
  readonly responses?: {
    /** Sends a request. */
    create(body: object, options?: object): PromiseLike<unknown>;
  };
  /** Files; without them, batches are not used. */
  readonly files?: {
    /** Uploads one. */
    create(body: object, options?: object): PromiseLike<unknown>;
    /** The content of one, as a `Response`. */
    content(id: string, options?: object): PromiseLike<unknown>;
  };
  /** The Batch API; without it, batches are not used. */
  readonly batches?: {
    /** Submits one. */
    create(body: object, options?: object): PromiseLike<unknown>;
    /** Retrieves one. */
    retrieve(id: string, options?: object): PromiseLike<unknown>;
    /** Lists them, newest first. */
    list(query: object, options?: object): PromiseLike<unknown>;
    /** Cancels one. */
    cancel(id: string, options?: object): PromiseLike<unknown>;
  };
}

/** Whether a client can send batches. */
export function hasBatches({ batches, files }: OpenAiClient): boolean {
  return batches !== undefined && files !== undefined;
}

/** Loads the SDK and creates a client without its own retries. */
export async function openClient(
  {
    apiKey,
    baseUrl,
    organization,
    project,
  }: ConnectionOptions & { readonly organization?: string; readonly project?: string },
  fetch: typeof globalThis.fetch,
  context: WireContext,
): Promise<OpenAiClient> {
  const { OpenAI } = await loadPeer('openai', () => import('openai'));
  try {
    return new OpenAI({
      maxRetries: 0,
      // The SDK would log unreadable replies with all their content.
      logLevel: 'off',
      ...(apiKey !== undefined && { apiKey }),
      ...(baseUrl !== undefined && { baseURL: withVersion(baseUrl) }),
      ...(organization !== undefined && { organization }),
      ...(project !== undefined && { project }),
      fetch: jsonFetch(fetch, context),
    });
  } catch (error) {
    throw isKeyMissing(error) ? keyMissing(context) : error;
  }
}

function withVersion(baseUrl: string): string {
  const address = baseUrl.replace(/\/+$/, '');
  return new URL(address).pathname === '/' ? `${address}/v1` : address;
}

/** Replaces replies that are not JSON by clear errors, because the SDK's own are not always helpful. */
function jsonFetch(fetch: typeof globalThis.fetch, context: WireContext): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request);
    // Files may contain anything.
    const isFile = /\/files\/[^/]+\/content$/.test(String(request[0]));
    const isRead = response.ok && !isFile && !isEventStream(response);
    if (isRead) parsedReply(await response.clone().text(), context);
    return response;
  };
}

function isKeyMissing(error: unknown): boolean {
  return error instanceof Error && /credentials|api_?key/i.test(error.message);
}
