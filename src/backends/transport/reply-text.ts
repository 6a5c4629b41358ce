import { EspalierError } from '../../base/errors.ts';
import { secretsOf } from './connection.ts';
import { FetchFailure, malformed, type WireContext } from './errors.ts';

/** The default maximum size of a reply, in bytes. */
export const defaultMaxReplyBytes: number = 64 * 1024 * 1024;

/** How replies are read. */
export interface ReplyLimits {
  readonly context: WireContext;
  /** The maximum size, in bytes. */
  readonly maxReplyBytes: number;
  /** Learns the credentials that are sent, wherever the SDK has found them. */
  readonly learn: (secrets: readonly string[]) => void;
}

/**
 * The complete text of a reply. The connection is closed as soon as it is too large.
 *
 * @throws ModelCallError `malformed` if it is too large, or not UTF-8.
 */
export async function replyText(
  response: Response,
  limits: Pick<ReplyLimits, 'context' | 'maxReplyBytes'>,
): Promise<string> {
  let text = '';
  for await (const part of replyParts(response, limits)) text += part;
  return text;
}

/**
 * The text of a reply as it arrives. The connection is closed as soon as no more is wanted, or it is too large.
 *
 * @throws ModelCallError `malformed` if it is too large, or not UTF-8.
 */
export async function* replyParts(
  response: Response,
  { context, maxReplyBytes }: Pick<ReplyLimits, 'context' | 'maxReplyBytes'>,
): AsyncGenerator<string, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  let isWhole = false;
  try {
    for (;;) {
      const chunk: { readonly done: boolean; readonly value?: Uint8Array | undefined } =
        await reader.read();
      const { done, value } = chunk;
      bytes += value?.byteLength ?? 0;
      if (bytes > maxReplyBytes) {
        throw malformed(context, `more than ${maxReplyBytes} bytes, the limit of a reply`);
      }
      const part = decoded(decoder, value, context);
      isWhole = done;
      if (part !== '') yield part;
      if (done) return;
    }
  } finally {
    // The rest is not needed, nor is an error in cancelling it.
    if (!isWhole) reader.cancel().catch(() => {});
  }
}

/** Decodes a part of the text, or its end. An incomplete character waits for its remaining bytes. */
function decoded(
  decoder: InstanceType<typeof TextDecoder>,
  value: Uint8Array | undefined,
  context: WireContext,
): string {
  try {
    return value === undefined ? decoder.decode() : decoder.decode(value, { stream: true });
  } catch {
    throw malformed(context, 'bytes that are not UTF-8');
  }
}

/**
 * A reply as JSON.
 *
 * @throws ModelCallError `malformed` if it is not JSON.
 */
export function parsedReply(text: string, context: WireContext): unknown {
  if (text.trim() === '') throw malformed(context, 'an empty reply');
  try {
    return JSON.parse(text);
  } catch {
    const isPage = /^\s*</.test(text);
    throw malformed(
      context,
      isPage ? 'a web page instead of JSON' : 'JSON that is broken or cut off',
    );
  }
}

/** The key under which a request to `fetchWithin` stores the listener for parts of a streamed reply. */
const onPart: unique symbol = Symbol('onPart');

/** Request options for an SDK by which `fetchWithin` reports the parts of its streamed reply. */
export function telling(listener: () => void): { readonly fetchOptions: object } {
  return { fetchOptions: { [onPart]: listener } };
}

/**
 * A `fetch` that limits replies, because an SDK reads them without limit. Replies that are not event streams are read
 * completely first.
 */
export function fetchWithin(fetch: typeof globalThis.fetch, limits: ReplyLimits): typeof fetch {
  return async (...request) => {
    const headers = Object.fromEntries(new Headers(request[1]?.headers));
    limits.learn(secretsOf({ headers, baseUrl: String(request[0]) }));
    const response = await fetch(...request).catch((error: unknown) => {
      throw asFailure(error);
    });
    const { status, statusText, headers: told } = response;
    const body = isEventStream(response)
      ? ReadableStream.from(partsTold(response, listenerIn(request[1]), limits))
      : await replyText(response, limits);
    return new Response(body === '' ? null : body, { status, statusText, headers: told });
  };
}

/** Whether a reply is a stream of events. */
export function isEventStream({ ok, headers }: Pick<Response, 'headers' | 'ok'>): boolean {
  return ok && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

function listenerIn(init: object = {}): () => void {
  return (init as { readonly [onPart]?: () => void })[onPart] ?? (() => {});
}

/** The bytes of a streamed reply, with a notification for each part. */
async function* partsTold(
  response: Response,
  tell: () => void,
  limits: ReplyLimits,
): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  try {
    for await (const part of replyParts(response, limits)) {
      tell();
      yield encoder.encode(part);
    }
  } catch (error) {
    throw asFailure(error);
  }
}

/** An exception from `fetch` in the form that an SDK gets. An error about the reply stays unchanged. */
function asFailure(error: unknown): unknown {
  const isTelling = EspalierError.isInstance(error) || isAbort(error);
  return isTelling ? error : new FetchFailure(error);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
