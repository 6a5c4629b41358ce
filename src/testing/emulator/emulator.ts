import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { turn } from '#platform';
import { systemClock } from '../../base/clock.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { JsonValue } from '../../contracts/json.ts';
import { Account } from './account.ts';
import { checkedOptions } from './checked-options.ts';
import type { Delivery } from './delivery.ts';
import type { Exchange, Service } from './dialect.ts';
import { parsed } from './fields.ts';
import type { EmulatorOptions } from './options.ts';
import { PrefixCache } from './prefix-cache.ts';
import type { EmulatedQuestion } from './question.ts';
import { answerItem, asksModel, respond } from './respond.ts';
import { Vocabulary } from './vocabulary.ts';

/** A local server that emulates a model server. */
export interface Emulator {
  /** Its address, `http://127.0.0.1:…`, without `/v1`. */
  readonly url: string;
  /** The requests, in order of arrival. */
  readonly requests: readonly {
    /** Its index in the order of arrival, from 0. */
    readonly index: number;
    /** The method. */
    readonly method: string;
    /** The path, without the query. */
    readonly path: string;
    /** The headers, in lower case; keys and cookies left out. */
    readonly headers: Readonly<Record<string, string>>;
    /** The body as JSON, or the fields of a form; `undefined` without a body. */
    readonly body: JsonValue | undefined;
    /** The prompts of the model for it, one entry per choice. */
    readonly questions: readonly EmulatedQuestion[];
  }[];
  /** The submitted batches, in order of arrival, whether or not the client got a response. */
  readonly batches: readonly {
    /** Its id. */
    readonly id: string;
    /** When it was submitted, in milliseconds since 1970. */
    readonly createdMs: number;
    /** Its items, in the order in which they were submitted. */
    readonly items: readonly {
      /** The id that the client gave it. */
      readonly customId: string;
      /** The body of the request. */
      readonly body: JsonValue;
    }[];
  }[];
  /** Its own current statistics. */
  readonly account: {
    /** All requests received. */
    readonly requests: number;
    /** Requests refused before generation. */
    readonly rejected: number;
    /** Completions generated, delivered or not. */
    readonly completionsServed: number;
    /** Tokens read for them, cached ones included; the prompt of several choices counts once. */
    readonly inputTokens: number;
    /** Tokens written, reasoning included. */
    readonly outputTokens: number;
    /** Reasoning tokens written. */
    readonly reasoningTokens: number;
    /** Tokens read from a cache. */
    readonly cachedTokens: number;
    /** Tokens written to a cache at a price (Anthropic). */
    readonly cacheWriteTokens: number;
    /** Requests whose client disconnected before the answer was complete. */
    readonly aborted: number;
    /** Requests currently being answered. */
    readonly inFlight: number;
    /** The maximum number of requests answered concurrently. */
    readonly maxConcurrent: number;
    /** Currently open connections. */
    readonly openSockets: number;
    /** The number of generations per sample index. */
    readonly perSample: ReadonlyMap<number, number>;
  };
  /**
   * Stops listening and closes all connections. When it resolves, no connection is open and no request is being
   * answered. Calling it again does nothing.
   */
  close(): Promise<void>;
}

const secret = ['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'cookie'];

/**
 * Starts a loopback server that emulates a model server, for tests of its clients. Answers depend on the conversation
 * and the sample index, so that servers of different kinds give the same answers; it keeps its own statistics, and can
 * reproduce faults of real servers.
 *
 * The index of a sample is the header `x-espalier-sample`, in a batch the number after `_s` at the end of a
 * `custom_id`, 0 if that is missing, plus the index of the choice. A token is up to four letters or digits together
 * with the space before them, or any other single character, or a special token such as `<|end|>`. A prompt is the
 * conversation with two marks around each turn and one at the start of the answer, one token each; tools are shown as
 * JSON.
 *
 * @example
 * ```ts
 * const server = await emulator({ dialect: 'vllm', faults: ['ignores-n'] });
 * const reply = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body });
 * await server.close();
 * ```
 */
export async function emulator(options: EmulatorOptions): Promise<Emulator> {
  expectOptions(
    'emulator',
    options,
    'dialect provider models answer reward embedding decides apiKey faults contextLength latencyMs batchMs parallel modern now',
  );
  const checked = checkedOptions(options);
  const { prefixes } = checked.dialect;
  const account = new Account();
  const requests: Emulator['requests'][number][] = [];
  const service: Service = {
    ...{
      ...checked,
      account,
      vocabulary: new Vocabulary(),
      kept: new Set(),
      thoughtful: new Set(),
      batches: [],
      files: new Map(),
      answerItem: (exchange: Exchange) => answerItem(exchange, service),
    },
    prefixes: prefixes === undefined ? undefined : new PrefixCache(prefixes),
  };
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void serve({ request, response, service, requests });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    account.openSockets = sockets.size;
    socket.once('close', () => {
      sockets.delete(socket);
      account.openSockets = sockets.size;
    });
  });
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    batches: service.batches,
    account,
    close: async () => {
      await closed(server, sockets);
      // The platform releases the port at the end of a turn.
      await turn();
    },
  };
}

interface Serving {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly service: Service;
  readonly requests: Emulator['requests'][number][];
}

/** Answers one request. Never rejects: a client that disconnects is counted. */
async function serve(serving: Serving): Promise<void> {
  const { response, service } = serving;
  const { account } = service;
  const index = account.arrive();
  const client = new AbortController();
  response.once('close', () => client.abort(new Error('The client left.')));
  let isOver = false;
  try {
    const exchange = await arrived(serving, index);
    const delivery = await respond(exchange, service, client.signal);
    isOver = await sent(response, delivery, client.signal);
    if (isOver) for (const run of exchange.afterwards) run();
  } catch (error) {
    if (!client.signal.aborted) response.destroy(error instanceof Error ? error : undefined);
  } finally {
    if (!isOver) account.aborted++;
    account.inFlight--;
  }
}

async function arrived(serving: Serving, index: number): Promise<Exchange> {
  const { request, service, requests } = serving;
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const { method = 'GET', headers } = request;
  const path = url.pathname;
  const questions: EmulatedQuestion[] = [];
  requests.push({ index, method, path, headers: shown(headers), body: undefined, questions });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = await bodyOf(Buffer.concat(chunks), headers['content-type'] ?? '');
  requests[index] = { index, method, path, headers: shown(headers), body, questions };
  const known = { index, path, body, asksModel: asksModel(service.dialect, { method, path }) };
  return {
    ...{ index, method, path, headers, body, questions },
    query: url.searchParams,
    sample: Number(headers['x-espalier-sample'] ?? 0) || 0,
    faults: service.faultsOf(known),
    afterwards: [],
  };
}

/** JSON, or the fields of a form, where files are objects with a name and a text. */
async function bodyOf(bytes: Buffer, type: string): Promise<JsonValue | undefined> {
  if (!type.startsWith('multipart/form-data')) return parsed(bytes.toString('utf8'));
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
  const fields = [...form].map(async ([name, value]) => [
    name,
    typeof value === 'string' ? value : { name: value.name, text: await value.text() },
  ]);
  return Object.fromEntries(await Promise.all(fields)) as JsonValue;
}

function shown(headers: IncomingMessage['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !secret.includes(name))
      .map(([name, value]) => [name, String(value)]),
  );
}

/** Sends a reply. Resolves to whether everything that was intended has been sent. */
async function sent(
  response: ServerResponse,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<boolean> {
  const { status, headers, chunks, ending, everyMs } = delivery;
  if (ending === 'destroyed-before') {
    response.socket?.resetAndDestroy();
    return true;
  }
  response.writeHead(status, headers);
  for (const chunk of chunks) {
    if (everyMs > 0) await systemClock.sleep(everyMs, signal);
    response.write(chunk);
  }
  if (ending === 'complete') response.end();
  const left = new Promise<boolean>((resolve) => {
    response.once('finish', () => resolve(true));
    response.once('close', () => resolve(response.writableFinished));
  });
  if (ending === 'destroyed-after') {
    await flushed(response);
    response.destroy();
    return true;
  }
  return left;
}

/** Resolves when the written data have been sent to the client. */
function flushed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.write('', () => resolve());
    response.once('close', () => resolve());
  });
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve());
  });
}

/** Resolves when the server has released its port and every connection is closed. */
async function closed(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const stopped = server.listening
    ? new Promise<void>((resolve) => server.close(() => resolve()))
    : Promise.resolve();
  const ends = [...sockets].map(
    (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()).destroy()),
  );
  await Promise.all([stopped, ...ends]);
}
