import { EspalierError, ModelCallError } from '../../base/errors.ts';
import type { Gathering } from './chat-stream.ts';
import { secretsOfClient } from './connection.ts';
import { malformed, modelCallErrorFrom, type WireContext } from './errors.ts';
import { headerLookup } from './headers.ts';
import type { Line, Received } from './line.ts';
import { fetchWithin } from './reply-text.ts';
import { gathered, type Listening } from './streaming.ts';

/** The client of an official SDK, loaded at the first request, and again later if it was missing. */
export class Sdk<Client extends object> {
  readonly #line: Line;
  readonly #open: (fetch: typeof globalThis.fetch) => Promise<Client>;
  #client: Promise<Client> | undefined;

  /** @param given - The user's own client. @param open - Creates one that uses our `fetch`. */
  constructor(
    line: Line,
    given: Client | undefined,
    open: (fetch: typeof globalThis.fetch) => Promise<Client>,
  ) {
    this.#line = line;
    this.#open = open;
    if (given !== undefined) this.#client = Promise.resolve(given);
  }

  /** The client. Its credentials are known from then on. */
  async client(): Promise<Client> {
    const { fetch, limits } = this.#line;
    this.#client ??= this.#open(fetchWithin(fetch, limits));
    try {
      const client = await this.#client;
      limits.learn(secretsOfClient(client));
      return client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }
}

/** The reply to an SDK request, with its headers. Wrapped clients may return plain promises. */
export async function receivedFrom(sent: PromiseLike<unknown>): Promise<Received> {
  if (!hasResponse(sent)) return { body: await sent, headers: undefined };
  const { data, response } = await sent.withResponse();
  return { body: data, headers: response.headers };
}

/** The streamed reply to an SDK request, assembled. */
export async function gatheredFrom(
  sent: PromiseLike<unknown>,
  gathering: Gathering,
  listening: Listening,
): Promise<Received> {
  const { body, headers } = await receivedFrom(sent);
  const isStream = Symbol.asyncIterator in Object(body);
  if (!isStream) throw malformed(listening.context, 'something that is not a stream');
  if (/json/.test(headerLookup(headers)('content-type') ?? ''))
    throw notStreamed(listening.context);
  try {
    const events = body as AsyncIterable<unknown>;
    return { body: await gathered(events, gathering, listening), headers };
  } catch (failure) {
    throw toldIn(failure, listening.context);
  }
}

/** Some servers ignore the request to stream; the answer has been paid for. */
function notStreamed({ provider, modelId }: WireContext): ModelCallError {
  const message = `${provider}:${modelId} answered in one piece although a stream was requested.`;
  return new ModelCallError({ kind: 'capability', parameter: 'stream', message, charged: true });
}

/** An error that a server reports within a stream has no status, and would be mistaken for one of the SDK. */
function toldIn(failure: unknown, context: WireContext): unknown {
  const { error, status } = Object(failure) as Readonly<Record<'error' | 'status', unknown>>;
  const isTold = status === undefined && typeof error === 'object' && error !== null;
  return isTold ? modelCallErrorFrom({ error }, context) : failure;
}

interface WithResponse {
  withResponse(): Promise<{ readonly data: unknown; readonly response: Response }>;
}

function hasResponse(sent: object): sent is WithResponse {
  return 'withResponse' in sent && typeof sent.withResponse === 'function';
}

/**
 * Imports an optional peer dependency on first use.
 *
 * @param name - The package, as it is installed.
 * @param load - Imports it.
 * @throws EspalierError `usage`, naming the package, if it is not installed.
 */
export async function loadPeer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const message =
      reason === 'ERR_MODULE_NOT_FOUND' || reason === 'MODULE_NOT_FOUND'
        ? `Expected the package \`${name}\` to be installed, but it is not. Run: npm install ${name}`
        : `The package \`${name}\` cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`;
    // No other search can use it either.
    throw new EspalierError('usage', message, { cause, scope: 'run' });
  }
}
