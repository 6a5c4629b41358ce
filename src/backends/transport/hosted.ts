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

/** What is a model's own of those behind HTTP. */
export interface HostedModel {
  /** What it supports, as far as is known by now. */
  readonly downgrades: Downgrades;
  /** What of its options changes answers. */
  readonly settings: NonNullable<LanguageModel['settings']>;
  /** What it costs, where that is known. */
  readonly price?: ModelPrice | undefined;
  /** How many tokens it may think in, beside the limit of a request. @defaultValue 0 */
  readonly thoughtTokens?: number;
  /** The shortest prompt that its provider's cache keeps, in tokens. @defaultValue 0 */
  readonly leastPrefixTokens?: number;
  /** Finds out what has to be known before a request. */
  readonly prepare?: (call: ModelCall) => Promise<unknown>;
  /** Whether each sample is asked for alone, although the server gives several. */
  readonly asksOneByOne?: (request: GenerateRequest) => boolean;
  /** Whether something that a request asks for is what the model does anyway. */
  readonly isUsual?: (what: Droppable, request: GenerateRequest) => boolean;
  /** How many tokens a prompt is, where the server can be asked. */
  readonly count?: ((request: GenerateRequest) => Promise<number>) | undefined;
  /** Sends one request, and reads its answer. It may bring fewer samples than asked for. */
  readonly ask: (request: GenerateRequest, call: ModelCall) => Promise<Generation>;
}

/** A language model at the end of a line. */
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

/** What a request asks for of what not every model supports. */
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
    // Who cannot be made to call a tool can be told not to.
    toolChoice: tools.length > 0 && toolChoice !== 'auto' && toolChoice !== 'none',
    continuation: beginning.trim() !== '',
  };
  return (Object.keys(wishes) as Droppable[]).filter((what) => wishes[what] === true);
}

/** Whose reply is read: an {@link Asked} without what the model is known not to tell. */
export function askedOf(request: GenerateRequest, { line, downgrades, call }: Asking): Asked {
  return {
    request: downgrades.refuses('logprobs') ? withoutLogprobs(request) : request,
    context: line.context(call.signal),
    warn: (about, what) => downgrades.warn(call, about, what),
  };
}

/** Who asks, and whom. */
export interface Asking {
  readonly line: Line;
  readonly downgrades: Downgrades;
  readonly call: ModelCall;
}

/** What was read of a reply, and what it has in common with others. */
export interface Reading {
  readonly request: GenerateRequest;
  readonly received: Received;
  /** The beginning of the answer, where the model was told it and may repeat it. */
  readonly told?: string | undefined;
}

/** A generation as callers get it: its answers end before stop texts, and begin behind what the model was told. */
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

/** An answer without the beginning that it repeats. Its tokens then no longer fit it. */
function withoutBeginning(completion: Completion, beginning: string): Completion {
  if (beginning === '' || !completion.text.startsWith(beginning)) return completion;
  const { logprobs: _, ...rest } = completion;
  return { ...rest, text: completion.text.slice(beginning.length) };
}
