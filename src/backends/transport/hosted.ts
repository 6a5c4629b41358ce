import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import { expectPrice } from '../../calls/pricing.ts';
import type {
  Completion,
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
  ModelPrice,
} from '../../contracts/language-model.ts';
import { wantsLogprobs, withoutLogprobs } from './chat-logprobs.ts';
import type { Asked } from './chat-reply.ts';
import { conversationOf } from './chat-request.ts';
import type { Downgrades, Droppable, Known } from './downgrades.ts';
import { expectRequest } from './expect-request.ts';
import { withSecretsKept } from './guarded.ts';
import { headerLookup } from './headers.ts';
import type { Line, Received } from './line.ts';
import { askForSamples, cutAtStop } from './sampling.ts';

/** The parts of a model over HTTP that are specific to it. */
export interface HostedModel {
  /** The features it supports, as known so far. */
  readonly downgrades: Downgrades;
  /** Options that change its answers. */
  readonly settings: NonNullable<LanguageModel['settings']>;
  /** Its price, if known. */
  readonly price?: ModelPrice | undefined;
  /** The number of tokens it may think, in addition to the limit of a request. @defaultValue 0 */
  readonly thoughtTokens?: number;
  /** The shortest prompt that its provider caches, in tokens. @defaultValue 0 */
  readonly leastPrefixTokens?: number;
  /** Finds out what must be known before a request. */
  readonly prepare?: (call: ModelCall) => Promise<unknown>;
  /** Whether samples are requested separately, although the server supports several. */
  readonly asksOneByOne?: (request: GenerateRequest) => boolean;
  /** Whether a requested feature is the model's default anyway. */
  readonly isUsual?: (what: Droppable, request: GenerateRequest) => boolean;
  /** Counts the tokens of a prompt, if the server can. */
  readonly count?: ((request: GenerateRequest) => Promise<number>) | undefined;
  /** Sends one request, and reads its answer. It may return fewer samples than requested. */
  readonly ask: (request: GenerateRequest, call: ModelCall) => Promise<Generation>;
}

/** A language model on a connection. */
export function hostedModel(line: Line, hosted: HostedModel): LanguageModel {
  const { downgrades, settings, price, prepare, asksOneByOne, isUsual, count, ask } = hosted;
  const { thoughtTokens = 0, leastPrefixTokens } = hosted;
  const { address } = line;
  if (price !== undefined) expectPrice(price, (field) => `price${field}`);
  return line.kept({
    provider: line.provider,
    modelId: line.modelId,
    settings: {
      ...settings,
      ...(thoughtTokens > 0 && { thoughtTokens }),
      ...(address !== undefined && { baseUrl: address }),
    },
    ...(thoughtTokens > 0 && { thoughtTokens }),
    ...(leastPrefixTokens !== undefined && { leastPrefixTokens }),
    get capabilities() {
      return downgrades.capabilities;
    },
    ...(price !== undefined && { price }),
    ...(count !== undefined && {
      count: (request: GenerateRequest) =>
        withSecretsKept(
          () => line.secrets,
          () => count(request),
        ),
    }),
    async generate(request, call) {
      call.signal.throwIfAborted();
      expectRequest(request);
      if (prepare !== undefined) await prepare(call);
      for (const what of wishesOf(request)) {
        if (isUsual?.(what, request) === true) continue;
        if (downgrades.refuses(what)) downgrades.drop(what, call);
      }
      const oneByOne = asksOneByOne?.(request) === true;
      const { maxTokens = defaultMaxTokens } = request;
      const limited = { ...request, maxTokens: maxTokens + thoughtTokens };
      return askForSamples(ask, limited, { call, downgrades, oneByOne });
    },
  });
}

/** The features of a request that not every model supports. */
function wishesOf(request: GenerateRequest): readonly Droppable[] {
  const { temperature, topP, topK, seed, schema, stop = [], tools = [] } = request;
  const { toolChoice = 'auto' } = request;
  const { beginning = '' } = conversationOf(request.messages);
  const wishes: Known = {
    temperature: temperature !== undefined,
    topP: topP !== undefined,
    topK: topK !== undefined,
    seed: seed !== undefined,
    stop: stop.length > 0,
    schema: schema !== undefined,
    logprobs: wantsLogprobs(request),
    // A model that cannot be forced to call a tool can still be told not to.
    toolChoice: tools.length > 0 && toolChoice !== 'auto' && toolChoice !== 'none',
    continuation: beginning.trim() !== '',
  };
  return (Object.keys(wishes) as Droppable[]).filter((what) => wishes[what] === true);
}

/** The context of a reply: an {@link Asked} without features that the model is known not to report. */
export function askedOf(request: GenerateRequest, { line, downgrades, call }: Asking): Asked {
  return {
    request: downgrades.refuses('logprobs') ? withoutLogprobs(request) : request,
    context: line.context(call.signal),
    warn: (about, what) => downgrades.warn(call, about, what),
  };
}

/** The caller and the model. */
export interface Asking {
  readonly line: Line;
  readonly downgrades: Downgrades;
  readonly call: ModelCall;
}

/** A parsed reply, and what it shares with others. */
export interface Reading {
  readonly request: GenerateRequest;
  readonly received: Received;
  /** The partial answer, if the model got it in the question and may repeat it. */
  readonly told?: string | undefined;
}

/** A generation as callers get it: answers end before stop texts, and do not repeat the partial answer. */
export function finishedGeneration(
  generation: Generation,
  { request, received, told = '' }: Reading,
): Generation {
  const header = headerLookup(received.headers);
  const requestId = header('x-request-id') ?? header('request-id') ?? generation.requestId;
  return {
    ...generation,
    completions: generation.completions.map((completion) =>
      cutAtStop(withoutBeginning(completion, told), request.stop),
    ),
    ...(requestId !== undefined && { requestId }),
  };
}

/** An answer without the repeated beginning. Its tokens then no longer match. */
function withoutBeginning(completion: Completion, beginning: string): Completion {
  if (beginning === '' || !completion.text.startsWith(beginning)) return completion;
  const { logprobs: _, ...rest } = completion;
  return { ...rest, text: completion.text.slice(beginning.length) };
}
