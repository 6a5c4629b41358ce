import type { GenerateRequest, Generation, ModelCall } from '../../contracts/language-model.ts';
import { withoutLogprobs } from '../transport/chat-logprobs.ts';
import { type Asked, readChatReply } from '../transport/chat-reply.ts';
import { conversationOf } from '../transport/chat-request.ts';
import type { Downgrades, Droppable } from '../transport/downgrades.ts';
import { malformed, modelCallErrorFrom, type WireContext } from '../transport/errors.ts';
import { headerLookup, rateLimitsOf } from '../transport/headers.ts';
import { withoutBeginning } from '../transport/in-words.ts';
import { defined } from '../transport/json.ts';
import { cutAtStop, sampleHeader } from '../transport/sampling.ts';
import type { WarnOnce } from '../transport/warn-once.ts';
import { type OpenAiClient, type Sent, send } from './client.ts';
import type { ModelTraits, ReasoningEffort } from './models.ts';
import { apiFor, chatBody, type OpenAiApi, type Recipient, responsesBody } from './request.ts';
import { readResponse } from './response.ts';

/** A model as its service is asked for it. */
export interface ServiceOptions {
  readonly modelId: string;
  readonly traits: ModelTraits;
  readonly effort: ReasoningEffort | undefined;
  /** The API to use; `undefined` where each request has the one that it needs. */
  readonly api: OpenAiApi | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly downgrades: Downgrades;
  readonly warn: WarnOnce;
  /** For whom errors speak. */
  readonly context: Omit<WireContext, 'signal'>;
  /** Opens the client. */
  readonly open: () => Promise<OpenAiClient>;
}

/** OpenAI's two APIs, for one model. */
export class Service {
  readonly #options: ServiceOptions;
  #client: Promise<OpenAiClient> | undefined;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** Sends one request, and reads its answer. */
  async ask(request: GenerateRequest, call: ModelCall): Promise<Generation> {
    const client = await this.#open();
    call.signal.throwIfAborted();
    const recipient = this.#recipient(call);
    const hasResponses = client.responses !== undefined;
    const api = hasResponses ? (this.#options.api ?? apiFor(request, recipient)) : 'chat';
    const { reply, headers } = await this.#send(client, { request, recipient, api, call });
    this.#tellLimits(headers, call);
    const generation = this.#read(reply, { request, api, call });
    const requestId = headerLookup(headers)('x-request-id') ?? generation.requestId;
    const { beginning } = conversationOf(request.messages);
    return {
      ...generation,
      completions: generation.completions.map((completion) =>
        cutAtStop(
          beginning === undefined ? completion : withoutRepetition(completion, beginning),
          request.stop,
        ),
      ),
      ...defined({ requestId }),
    };
  }

  /** Loads the SDK; at a later request again, where it was not there. */
  async #open(): Promise<OpenAiClient> {
    this.#client ??= this.#options.open();
    try {
      return await this.#client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }

  async #send(client: OpenAiClient, prepared: Prepared): Promise<Sent> {
    const { request, recipient, api, call } = prepared;
    const body = api === 'chat' ? chatBody(request, recipient) : responsesBody(request, recipient);
    const headers = { ...this.#options.headers, [sampleHeader]: String(request.offset ?? 0) };
    const { timeoutMs } = this.#options;
    try {
      return await send(client, { api, body, headers, timeoutMs, signal: call.signal });
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof Error && 'headers' in error) this.#tellLimits(error.headers, call);
      throw modelCallErrorFrom(error, this.#context(call));
    }
  }

  #read(reply: unknown, { request, api, call }: Omit<Prepared, 'recipient'>): Generation {
    const context = this.#context(call);
    if (typeof reply === 'string' || reply === undefined || reply === null) {
      throw malformed(context, describedText(reply));
    }
    const { warn } = this.#options;
    const asked: Asked = {
      request: this.#isRefused('logprobs') ? withoutLogprobs(request) : request,
      context,
      warn: (about, what) => warn(call, about, what),
    };
    return api === 'chat' ? readChatReply(reply, asked) : readResponse(reply, asked);
  }

  #recipient(call: ModelCall): Recipient {
    const { modelId, traits, effort, downgrades, warn } = this.#options;
    return {
      warn: (about, what) => warn(call, about, what),
      model: modelId,
      traits,
      effort,
      run: call.run,
      refuses: (what) => {
        if (!this.#isRefused(what)) return false;
        downgrades.drop(what, call);
        return true;
      },
    };
  }

  #isRefused(what: Droppable): boolean {
    const { traits, downgrades } = this.#options;
    const known: Readonly<Record<string, boolean | undefined>> = {
      topP: traits.samples,
      ...downgrades.capabilities,
    };
    return downgrades.has(what) || known[what] === false;
  }

  #tellLimits(headers: unknown, call: ModelCall): void {
    const limits = rateLimitsOf(headerLookup(headers));
    if (limits !== undefined) call.limits?.(limits);
  }

  #context({ signal }: ModelCall): WireContext {
    return { ...this.#options.context, signal };
  }
}

interface Prepared {
  readonly request: GenerateRequest;
  readonly recipient: Recipient;
  readonly api: OpenAiApi;
  readonly call: ModelCall;
}

/** What an SDK hands out where a reply is no JSON. */
function describedText(reply: string | undefined | null): string {
  if (typeof reply !== 'string' || reply.trim() === '') return 'an empty reply';
  return /^\s*</.test(reply) ? 'a web page instead of JSON' : 'text instead of JSON';
}

/** An answer without the beginning that it was told. Its tokens then no longer fit it. */
function withoutRepetition(
  completion: Generation['completions'][number],
  beginning: string,
): Generation['completions'][number] {
  const text = withoutBeginning(completion.text, beginning);
  if (text === completion.text) return completion;
  const { logprobs: _, ...rest } = completion;
  return { ...rest, text };
}
