import { ModelCallError } from '../../base/errors.ts';
import { shortened } from '../../base/failure.ts';
import type { GenerateRequest, Generation } from '../../contracts/language-model.ts';
import { readChatReply } from '../transport/chat-reply.ts';
import { conversationOf, type JsonBody } from '../transport/chat-request.ts';
import { gatheredChat } from '../transport/chat-stream.ts';
import type { Exchange } from '../transport/exchange.ts';
import { type Asking, askedOf, finishedGeneration } from '../transport/hosted.ts';
import { defined, fieldsOf } from '../transport/json.ts';
import type { Received } from '../transport/line.ts';
import { sampleHeader } from '../transport/sampling.ts';
import { longestInOnePiece } from '../transport/streaming.ts';
import type { Habits } from './habits.ts';
import { renderedPrompt } from './rendering.ts';
import { chatBody, completionBody, isBoundTwice, type Recipient } from './request.ts';
import type { Connected, Server } from './server.ts';

/** How an answer is requested: by chat, or by a rendered prompt. */
export type Way = 'chat' | 'prompt';

/** The context of a request. */
export interface Answering extends Asking, Pick<Recipient, 'extraBody' | 'provider'> {
  readonly line: Exchange;
  readonly server: Server;
  readonly connected: Connected;
  readonly habits: Habits;
  readonly effort: string | undefined;
  /** The ways in which the server turned out not to continue a partial answer. */
  readonly closed: Set<Way>;
}

/** Sends one request, and reads its answer. */
export async function answer(request: GenerateRequest, asking: Answering): Promise<Generation> {
  const { closed, call } = asking;
  const way = wayFor(request, asking);
  try {
    return await (way === 'prompt' ? answerOverPrompt : answerOverChat)(request, asking);
  } catch (failure) {
    call.signal.throwIfAborted();
    if (!ModelCallError.isInstance(failure)) throw failure;
    if (!isClosed(way, failure)) throw await withModels(failure, asking);
    closed.add(way);
    if (!closed.has(wayFor(request, asking))) return answer(request, asking);
    throw new ModelCallError({ ...failure, ...notContinued, message: failure.message });
  }
}

const notContinued = { kind: 'capability', parameter: 'continuation', retryable: false } as const;

/** How an answer is requested. Only a partial answer may require another way than chat. */
function wayFor(
  { messages, tools = [] }: GenerateRequest,
  { habits, downgrades, closed }: Answering,
): Way {
  const { beginning } = conversationOf(messages);
  const isPlain = beginning === undefined || downgrades.refuses('continuation');
  // Tool calls and images work only in chats.
  const needsChat = tools.length > 0 || messages.some(({ images = [] }) => images.length > 0);
  if (isPlain || habits.renders === undefined || needsChat) return 'chat';
  const ways: readonly [Way, Way] =
    habits.rendersWhen === 'always' ? ['prompt', 'chat'] : ['chat', 'prompt'];
  return ways.find((way) => !closed.has(way)) ?? 'chat';
}

/** Whether a failure means that continuing does not work in this way, whatever the request. */
function isClosed(way: Way, { kind, parameter, status }: ModelCallError): boolean {
  if (kind === 'capability' && parameter === 'continuation') return true;
  return way === 'prompt' && status !== undefined && [404, 405, 501].includes(status);
}

async function answerOverChat(request: GenerateRequest, asking: Answering): Promise<Generation> {
  const { downgrades, habits, call } = asking;
  if (isBoundTwice(request, habits) && !downgrades.refuses('schema')) {
    const what =
      'does not support a schema together with tools: there it is requested in words, and may not be followed.';
    downgrades.warn(call, 'schema', what);
  }
  const body = chatBody(request, asking);
  const received = await send('/chat/completions', body, { request, asking });
  const { beginning } = conversationOf(request.messages);
  const isTold = downgrades.refuses('continuation');
  const told = isTold || habits.rendersWhen === 'always' ? beginning : undefined;
  // A partial answer is behind its thoughts, or the caller searches over the thoughts.
  const mayThink = isTold || beginning === undefined;
  return generationOf(received, { request, told, mayThink }, asking);
}

async function answerOverPrompt(request: GenerateRequest, asking: Answering): Promise<Generation> {
  const { messages, beginning = '' } = conversationOf(request.messages);
  const prompt = await renderedPrompt(messages, {
    ...asking,
    post: async (path, body) => (await send(path, body, { request, asking })).body,
  });
  const body = completionBody(request, prompt + beginning, asking);
  const received = await send('/completions', body, { request, asking });
  return generationOf(received, { request, mayThink: false }, asking);
}

/** The address of a path below `/v1`; a path that begins with `../` is beside it. */
export function urlOf(path: string, { baseUrl }: Pick<Connected, 'baseUrl'>): string {
  return path.startsWith('..') ? baseUrl.replace(/\/v1$/, '') + path.slice(2) : baseUrl + path;
}

function send(
  path: string,
  body: JsonBody,
  { request, asking }: { readonly request: GenerateRequest; readonly asking: Answering },
): Promise<Received> {
  const { line, connected, call } = asking;
  const headers = { [sampleHeader]: String(request.offset ?? 0) };
  const url = urlOf(path, connected);
  const isAnswer = path.endsWith('/completions');
  if (!isAnswer || !isStreamed(request, asking)) return line.send({ url, body, headers }, call);
  const told = { ...body, stream: true, stream_options: { include_usage: true } };
  return line.send({ url, body: told, headers, gathering: gatheredChat() }, call);
}

/**
 * The longest answer, in tokens, that your own server is asked for without streaming: slow ones take minutes for more.
 */
const longestOfOwn = 4096;

function isStreamed(
  { maxTokens = 0, tools = [] }: GenerateRequest,
  { habits, downgrades }: Answering,
): boolean {
  // Data that a provider needs back with tool calls is only complete without streaming.
  const isWhole = habits.turns !== undefined && tools.length > 0;
  const longest = habits.keyVariable === undefined ? longestOfOwn : longestInOnePiece;
  return maxTokens > longest && !isWhole && !downgrades.refuses('stream');
}

function generationOf(
  received: Received,
  reading: {
    readonly request: GenerateRequest;
    readonly told?: string | undefined;
    readonly mayThink: boolean;
  },
  asking: Answering,
): Generation {
  const generation = readChatReply(received.body, {
    ...askedOf(reading.request, asking),
    kept: asking.habits.turns?.kept,
    mayThink: reading.mayThink,
  });
  const { habits } = asking;
  const usd = habits.charged?.(fieldsOf(fieldsOf(received.body)['usage']));
  const usage = { ...generation.usage, ...defined({ usd }) };
  const { outputTokens: _, ...counted } = usage;
  const isPartial = habits.countsOneChoice === true && generation.completions.length > 1;
  const finished = finishedGeneration(generation, { ...reading, received });
  return { ...finished, usage: isPartial ? counted : usage };
}

/** Lists the available models if the requested one is not among them. */
async function withModels(failure: ModelCallError, asking: Answering): Promise<ModelCallError> {
  if (failure.kind !== 'bad-request' || failure.status !== 404) return failure;
  const { server, connected, call, line } = asking;
  const models = await server.models(connected.baseUrl, call.signal).catch(() => undefined);
  call.signal.throwIfAborted();
  const names = (models ?? []).map(({ id }) => id);
  if (names.length === 0 || names.includes(connected.model)) return failure;
  const some = shortened(names.slice(0, 10).join(', '), 500);
  const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
  return new ModelCallError({
    kind: 'bad-request',
    message: `${line.name} is not served at ${connected.baseUrl}. It serves ${some}${more}.`,
    status: failure.status,
    requestId: failure.requestId,
    charged: false,
  });
}
