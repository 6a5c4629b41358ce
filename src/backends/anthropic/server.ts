import type { GenerateRequest, Generation, ModelCall } from '../../contracts/language-model.ts';
import { type Connection, secretsOfClient } from '../transport/connection.ts';
import type { Downgrades } from '../transport/downgrades.ts';
import { malformed, type WireContext } from '../transport/errors.ts';
import { headerLookup, rateLimitsOf } from '../transport/headers.ts';
import { withoutBeginning } from '../transport/in-words.ts';
import { defaultMaxReplyBytes } from '../transport/reply-text.ts';
import { cutAtStop, sampleHeader } from '../transport/sampling.ts';
import { type WarnOnce, warningsOf } from '../transport/warn-once.ts';
import { type AnthropicClient, openClient, type Sent, send } from './client.ts';
import { anthropicError } from './errors.ts';
import type { ModelTraits } from './models.ts';
import {
  isSendable,
  type MessagesRequest,
  messagesRequest,
  type RequestSettings,
} from './request.ts';
import { completionOf, parsedReply, usageOf } from './response.ts';

/** How the server is reached. */
export interface ServerConnection extends Connection {
  readonly client?: AnthropicClient | undefined;
  readonly maxReplyBytes?: number | undefined;
  /** The credentials that are known by now. */
  readonly secrets: Set<string>;
}

/** What is known of the model that a server is asked for. */
export interface ServedModel extends RequestSettings {
  readonly traits: ModelTraits;
  readonly downgrades: Downgrades;
}

/** The Messages API, for one model. */
export class Server {
  readonly #connection: ServerConnection;
  readonly #model: ServedModel;
  #client: Promise<AnthropicClient> | undefined;
  readonly #warn: WarnOnce;

  constructor(connection: ServerConnection, model: ServedModel) {
    this.#connection = connection;
    this.#model = model;
    this.#warn = warningsOf(`anthropic:${model.modelId}`);
    const { client } = connection;
    if (client !== undefined) this.#client = Promise.resolve(client);
  }

  /** Sends one request, for one sample. */
  async ask(request: GenerateRequest, call: ModelCall): Promise<Generation> {
    const prepared = messagesRequest(request, this.#model, this.#model.downgrades);
    if (!(request.stop ?? []).every(isSendable)) {
      this.#warn(
        call,
        'stop',
        'takes no stop text of white space only: answers are cut off here instead.',
      );
    }
    const client = await this.#open();
    call.signal.throwIfAborted();
    const { message, headers } = await this.#send(client, { request, prepared, call });
    this.#tellLimits(headers, call);
    const reply = parsedReply(message);
    if (reply === undefined) {
      throw malformed(
        this.#context(call.signal),
        'something that is not a message of the Messages API',
      );
    }
    const completion = completionOf(reply);
    const text = withoutBeginning(completion.text, prepared.beginning);
    const requestId = headerLookup(headers)('request-id');
    return {
      completions: [cutAtStop({ ...completion, text }, request.stop)],
      usage: usageOf(reply),
      ...(typeof reply.model === 'string' && { answeredBy: reply.model }),
      ...(requestId !== undefined && { requestId }),
    };
  }

  /** Loads the SDK; at a later request again, where it was not there. */
  async #open(): Promise<AnthropicClient> {
    const { apiKey, baseUrl, fetch, maxReplyBytes = defaultMaxReplyBytes } = this.#connection;
    const learn = (found: readonly string[]) => {
      for (const secret of found) this.#connection.secrets.add(secret);
    };
    const context = this.#context(new AbortController().signal);
    const limits = { context, maxReplyBytes, learn };
    this.#client ??= openClient({ apiKey, baseUrl, fetch, limits });
    try {
      const client = await this.#client;
      learn(secretsOfClient(client));
      return client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  async #send(client: AnthropicClient, { request, prepared, call }: Prepared): Promise<Sent> {
    const { signal } = call;
    const headers = {
      ...(this.#model.traits.sampling && { 'anthropic-version': versionWithSampling }),
      ...this.#connection.headers,
      [sampleHeader]: String(request.offset ?? 0),
    };
    try {
      return await send(client, prepared.body, {
        signal,
        headers,
        timeoutMs: this.#connection.timeoutMs ?? defaultTimeoutMs,
      });
    } catch (error) {
      signal.throwIfAborted();
      this.#tellLimits(headersOfError(error), call);
      throw anthropicError(error, this.#context(call.signal));
    }
  }

  #tellLimits(headers: unknown, call: ModelCall): void {
    const limits = rateLimitsOf(headerLookup(headers));
    if (limits !== undefined) call.limits?.(limits);
  }

  #context(signal: AbortSignal): WireContext {
    return {
      provider: 'anthropic',
      modelId: this.#model.modelId,
      baseUrl: this.#connection.baseUrl,
      keyVariable: 'ANTHROPIC_API_KEY',
      secrets: this.#connection.secrets,
      signal,
    };
  }
}

function headersOfError(error: unknown): unknown {
  return error instanceof Error && 'headers' in error ? error.headers : undefined;
}

interface Prepared {
  readonly request: GenerateRequest;
  readonly prepared: MessagesRequest;
  readonly call: ModelCall;
}

const defaultTimeoutMs = 600_000;

/** The version of the API that takes a temperature, for the models that do; the SDK asks for a later one. */
const versionWithSampling = '2023-06-01';
