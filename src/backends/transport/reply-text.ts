import { EspalierError } from '../../base/errors.ts';
import { secretsOf } from './connection.ts';
import { FetchFailure, malformed, type WireContext } from './errors.ts';

/** How large a reply may be unless a user says otherwise, in bytes. */
export const defaultMaxReplyBytes: number = 64 * 1024 * 1024;

/** How replies are read. */
export interface ReplyLimits {
  readonly context: WireContext;
  /** The most bytes that one may have. */
  readonly maxReplyBytes: number;
  /** Learns the credentials that are sent, wherever the SDK has found them. */
  readonly learn: (secrets: readonly string[]) => void;
}

/**
 * The whole text of a reply. The connection is closed as soon as it turns out to be too large.
 *
 * @throws ModelCallError `malformed` where it is too large, or no UTF-8.
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
 * The text of a reply as it comes. The connection is closed as soon as nobody wants more of it, or it turns out to be too
 * large.
 *
 * @throws ModelCallError `malformed` where it is too large, or no UTF-8.
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
    // What is left of it is of no interest, and neither is why it cannot be let go.
    if (!isWhole) reader.cancel().catch(() => {});
  }
}

/** A part of the text, or the end of it. A broken end of a character waits for its other half. */
function decoded(
  decoder: InstanceType<typeof TextDecoder>,
  value: Uint8Array | undefined,
  context: WireContext,
): string {
  try {
    return value === undefined ? decoder.decode() : decoder.decode(value, { stream: true });
  } catch {
    throw malformed(context, 'bytes that are no UTF-8');
  }
}

/**
 * A reply as JSON.
 *
 * @throws ModelCallError `malformed` where it is none.
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

/** Under what a request to `fetchWithin` holds the function that is told of each part of a streamed reply. */
const onPart: unique symbol = Symbol('onPart');

/** Options of one request of an SDK by which `fetchWithin` tells of the parts of its streamed reply. */
export function telling(listener: () => void): { readonly fetchOptions: object } {
  return { fetchOptions: { [onPart]: listener } };
}

/**
 * A `fetch` whose replies are read within limits: an SDK reads whatever comes. What is no stream of events is read to its
 * end before anybody sees it.
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

/** The bytes of a streamed reply, with word to who waits for them. */
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

/** What a `fetch` threw, as an SDK is to see it. What says what is wrong with a reply stands as it is. */
function asFailure(error: unknown): unknown {
  const isTelling = EspalierError.isInstance(error) || isAbort(error);
  return isTelling ? error : new FetchFailure(error);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
