import { ModelCallError } from '../../base/errors.ts';
import type { GenerateRequest, Generation, ModelCall } from '../../contracts/language-model.ts';
import { withoutLogprobs } from '../transport/chat-logprobs.ts';
import { readChatReply } from '../transport/chat-reply.ts';
import { conversationOf, type JsonBody } from '../transport/chat-request.ts';
import type { Downgrades, Droppable } from '../transport/downgrades.ts';
import { modelCallErrorFrom, type WireContext } from '../transport/errors.ts';
import type { Exchange, Received } from '../transport/exchange.ts';
import { headerLookup, rateLimitsOf } from '../transport/headers.ts';
import { withoutBeginning } from '../transport/in-words.ts';
import { defined } from '../transport/json.ts';
import { cutAtStop, sampleHeader } from '../transport/sampling.ts';
import type { WarnOnce } from '../transport/warn-once.ts';
import type { Habits } from './presets.ts';
import { renderedPrompt } from './rendering.ts';
import { chatBody, completionBody, type Recipient } from './request.ts';
import type { Connected, Server } from './server.ts';

/** How an answer is asked for: by chat, or by a prompt that was rendered before. */
export type Way = 'chat' | 'prompt';

/** What a model remembers of its server between calls. */
export interface Memory {
  readonly habits: Habits;
  readonly downgrades: Downgrades;
  /** In which ways it turned out not to go on from a partial answer. */
  readonly closed: Set<Way>;
  /** Says what is not as it was asked for. */
  readonly warn: WarnOnce;
}

/** What a request needs besides itself. */
export interface Answering {
  readonly exchange: Exchange;
  readonly server: Server;
  readonly connected: Connected;
  readonly memory: Memory;
  readonly timeoutMs: number;
  readonly context: WireContext;
  readonly call: ModelCall;
}

/** Sends one request, and reads its answer. */
export async function answer(request: GenerateRequest, asking: Answering): Promise<Generation> {
  const { closed } = asking.memory;
  const way = wayFor(request, asking.memory);
  try {
    return await (way === 'prompt' ? answerOverPrompt : answerOverChat)(request, asking);
  } catch (error) {
    const failure = failureOf(error, asking);
    if (!isClosed(way, failure)) throw await withModels(failure, asking);
    closed.add(way);
    if (!closed.has(wayFor(request, asking.memory))) return answer(request, asking);
    throw new ModelCallError({ ...failure, ...notContinued, message: failure.message });
  }
}

const notContinued = { kind: 'capability', parameter: 'continuation', retryable: false } as const;

/** How an answer is asked for. Only one that has begun may have to be asked for in another way than by chat. */
function wayFor({ messages, tools = [] }: GenerateRequest, memory: Memory): Way {
  const { renders, rendersWhen } = memory.habits;
  const { beginning } = conversationOf(messages);
  const isPlain = beginning === undefined || isRefusedBy(memory, 'continuation');
  // Calls of tools are read from chats only.
  if (isPlain || renders === undefined || tools.length > 0) return 'chat';
  const ways: readonly [Way, Way] =
    rendersWhen === 'always' ? ['prompt', 'chat'] : ['chat', 'prompt'];
  return ways.find((way) => !memory.closed.has(way)) ?? 'chat';
}

/** Whether a failure says that there is no going on in this way, whatever the request. */
function isClosed(way: Way, { kind, parameter, status }: ModelCallError): boolean {
  if (kind === 'capability' && parameter === 'continuation') return true;
  return way === 'prompt' && status !== undefined && [404, 405, 501].includes(status);
}

async function answerOverChat(request: GenerateRequest, asking: Answering): Promise<Generation> {
  const { memory, connected } = asking;
  const { beginning } = conversationOf(request.messages);
  const body = chatBody(request, recipientOf(asking));
  const options = { ...asking, offset: request.offset ?? 0 };
  const received = await send(`${connected.baseUrl}/chat/completions`, body, options);
  const generation = generationOf(received, request, asking);
  const mayRepeat = isRefusedBy(memory, 'continuation') || memory.habits.rendersWhen === 'always';
  return beginning !== undefined && mayRepeat
    ? withoutRepetition(generation, beginning)
    : generation;
}

async function answerOverPrompt(request: GenerateRequest, asking: Answering): Promise<Generation> {
  const { connected } = asking;
  const { messages, beginning = '' } = conversationOf(request.messages);
  const options = { ...asking, offset: request.offset ?? 0 };
  const prompt = await renderedPrompt(messages, {
    connected,
    habits: asking.memory.habits,
    post: async (url, body) => (await send(url, body, options)).body,
  });
  const body = completionBody(request, prompt + beginning, recipientOf(asking));
  const received = await send(`${connected.baseUrl}/completions`, body, options);
  return generationOf(received, request, asking);
}

async function send(
  url: string,
  body: JsonBody,
  asking: Answering & { readonly offset: number },
): Promise<Received> {
  const { exchange, timeoutMs, context, call, offset } = asking;
  const headers = { [sampleHeader]: String(offset) };
  try {
    const received = await exchange.send({
      ...{ url, body, headers, timeoutMs, context },
      signal: call.signal,
    });
    tellLimits(received.headers, call);
    return received;
  } catch (error) {
    if (error instanceof Error && 'headers' in error) tellLimits(error.headers, call);
    throw error;
  }
}

function tellLimits(headers: unknown, call: ModelCall): void {
  const limits = rateLimitsOf(headerLookup(headers));
  if (limits !== undefined) call.limits?.(limits);
}

function generationOf(
  { body, headers }: Received,
  request: GenerateRequest,
  { memory, context, call }: Answering,
): Generation {
  const generation = readChatReply(body, {
    request: isRefusedBy(memory, 'logprobs') ? withoutLogprobs(request) : request,
    context,
    warn: (about, what) => memory.warn(call, about, what),
  });
  const { outputTokens, ...counted } = generation.usage;
  const isPartial = memory.habits.countsOneChoice === true && generation.completions.length > 1;
  const requestId = headers.get('x-request-id') ?? generation.requestId;
  return {
    ...generation,
    completions: generation.completions.map((completion) => cutAtStop(completion, request.stop)),
    usage: isPartial ? counted : generation.usage,
    ...defined({ requestId }),
  };
}

function withoutRepetition(generation: Generation, beginning: string): Generation {
  return {
    ...generation,
    completions: generation.completions.map(({ text, logprobs, ...rest }) => {
      const own = withoutBeginning(text, beginning);
      const isWhole = own === text && logprobs !== undefined;
      return { ...rest, text: own, ...(isWhole && { logprobs }) };
    }),
  };
}

function recipientOf({ connected, memory, call }: Answering): Recipient {
  return {
    model: connected.model,
    habits: memory.habits,
    refuses(what) {
      if (!isRefusedBy(memory, what)) return false;
      memory.downgrades.drop(what, call);
      return true;
    },
  };
}

function isRefusedBy({ downgrades }: Memory, what: Droppable): boolean {
  const known: Readonly<Record<string, boolean | undefined>> = { ...downgrades.capabilities };
  return downgrades.has(what) || known[what] === false;
}

function failureOf(error: unknown, { call, context }: Answering): ModelCallError {
  call.signal.throwIfAborted();
  const failure = modelCallErrorFrom(error, context);
  if (!ModelCallError.isInstance(failure)) throw failure;
  return failure;
}

/** Names the models that there are, where the one that was asked for is not among them. */
async function withModels(failure: ModelCallError, asking: Answering): Promise<ModelCallError> {
  if (failure.kind !== 'bad-request' || failure.status !== 404) return failure;
  const { server, connected, call, context } = asking;
  const models = await server.models(connected.baseUrl, call.signal).catch(() => undefined);
  call.signal.throwIfAborted();
  const names = (models ?? []).map(({ id }) => id);
  if (names.length === 0 || names.includes(connected.model)) return failure;
  const some = names.slice(0, 10).join(', ');
  const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
  return new ModelCallError({
    kind: 'bad-request',
    message: `${context.provider}:${context.modelId} is not served at ${connected.baseUrl}. It serves ${some}${more}.`,
    status: failure.status,
    requestId: failure.requestId,
    charged: false,
  });
}
