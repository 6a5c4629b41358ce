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
  { context, maxReplyBytes }: Pick<ReplyLimits, 'context' | 'maxReplyBytes'>,
): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parts: string[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const chunk: { readonly done: boolean; readonly value?: Uint8Array | undefined } =
        await reader.read();
      const { done, value } = chunk;
      if (value !== undefined) {
        bytes += value.byteLength;
        if (bytes > maxReplyBytes) {
          throw malformed(context, `more than ${maxReplyBytes} bytes, the limit of a reply`);
        }
      }
      parts.push(decoded(decoder, value, context));
      if (done) return parts.join('');
    }
  } catch (error) {
    // What is left of it is of no interest, and neither is why it cannot be let go.
    reader.cancel().catch(() => {});
    throw error;
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

/**
 * A `fetch` whose replies are read to their end, within limits, before anybody sees them: an SDK reads
 * whatever comes.
 */
export function fetchWithin(fetch: typeof globalThis.fetch, limits: ReplyLimits): typeof fetch {
  return async (...request) => {
    const headers = Object.fromEntries(new Headers(request[1]?.headers));
    limits.learn(secretsOf({ headers, baseUrl: String(request[0]) }));
    const response = await fetch(...request).catch((error: unknown) => {
      throw isAbort(error) ? error : new FetchFailure(error);
    });
    const text = await replyText(response, limits);
    const { status, statusText, headers: told } = response;
    return new Response(text === '' ? null : text, { status, statusText, headers: told });
  };
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
