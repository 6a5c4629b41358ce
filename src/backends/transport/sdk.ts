import { EspalierError, ModelCallError } from '../../base/errors.ts';
import type { Gathering } from './chat-stream.ts';
import { secretsOfClient } from './connection.ts';
import { malformed, modelCallErrorFrom, type WireContext } from './errors.ts';
import { headerLookup } from './headers.ts';
import type { Line, Received } from './line.ts';
import { fetchWithin } from './reply-text.ts';
import { gathered, type Listening } from './streaming.ts';

/** The client of an official SDK, which is loaded at the first request; at a later one again, where it was not there. */
export class Sdk<Client extends object> {
  readonly #line: Line;
  readonly #open: (fetch: typeof globalThis.fetch) => Promise<Client>;
  #client: Promise<Client> | undefined;

  /** @param given - A client of the user's own. @param open - Makes one that sends by a `fetch` of ours. */
  constructor(
    line: Line,
    given: Client | undefined,
    open: (fetch: typeof globalThis.fetch) => Promise<Client>,
  ) {
    this.#line = line;
    this.#open = open;
    if (given !== undefined) this.#client = Promise.resolve(given);
  }

  /** The client. What it has found of credentials is known from then on. */
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

/** What an SDK was asked for, with its headers. Clients that somebody has wrapped may return plain promises. */
export async function receivedFrom(sent: PromiseLike<unknown>): Promise<Received> {
  if (!hasResponse(sent)) return { body: await sent, headers: undefined };
  const { data, response } = await sent.withResponse();
  return { body: data, headers: response.headers };
}

/** What an SDK was asked for as a stream, put together. */
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

/** Some servers take no notice of what they are asked for; the answer has been paid for. */
function notStreamed({ provider, modelId }: WireContext): ModelCallError {
  const message = `${provider}:${modelId} answered in one piece although a stream was asked for.`;
  return new ModelCallError({ kind: 'capability', parameter: 'stream', message, charged: true });
}

/** An error that a server tells within a stream has no status, and would be taken for one of the SDK. */
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
 * Imports an optional peer dependency at its first use.
 *
 * @param name - The package, as it is installed.
 * @param load - Imports it.
 * @throws EspalierError `usage` that names the package, where it is not installed.
 */
export async function loadPeer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const message =
      reason === 'ERR_MODULE_NOT_FOUND' || reason === 'MODULE_NOT_FOUND'
        ? `Expected the package \`${name}\` to be installed, and it is not. Run: npm install ${name}`
        : `The package \`${name}\` cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`;
    // No other search can ask it either.
    throw new EspalierError('usage', message, { cause, scope: 'run' });
  }
}
