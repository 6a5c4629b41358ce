import { ModelCallError } from '../../base/errors.ts';
import type { GenerateRequest, Generation, ModelCall } from '../../contracts/language-model.ts';
import { readChatReply } from '../transport/chat-reply.ts';
import { conversationOf } from '../transport/chat-request.ts';
import { askedOf, finishedGeneration } from '../transport/hosted.ts';
import type { Line } from '../transport/line.ts';
import { sampleHeader } from '../transport/sampling.ts';
import { receivedFrom, type Sdk } from '../transport/sdk.ts';
import type { OpenAiClient } from './client.ts';
import { apiFor, chatBody, type OpenAiApi, type Recipient, responsesBody } from './request.ts';
import { readResponse } from './response.ts';

/** OpenAI's two APIs, for one model. */
export interface Service extends Omit<Recipient, 'call'> {
  readonly line: Line;
  readonly sdk: Sdk<OpenAiClient>;
  /** The API to use; `undefined` where each request has the one that it needs. */
  readonly api: OpenAiApi | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it may be another server, which need not have the Responses API. */
  readonly mayLackResponses: boolean;
  /** What it turned out not to have. */
  readonly lacks: Set<'responses'>;
}

/** Sends one request, and reads its answer. */
export async function ask(
  request: GenerateRequest,
  call: ModelCall,
  service: Service,
): Promise<Generation> {
  const { responses } = await service.sdk.client();
  const { api, lacks, downgrades } = service;
  const hasNone = responses === undefined || lacks.has('responses');
  if (hasNone || (api ?? apiFor(request, service)) === 'chat') {
    return send('chat', request, { ...service, call });
  }
  try {
    return await send('responses', request, { ...service, call });
  } catch (failure) {
    if (api !== undefined || !service.mayLackResponses || !isMissing(failure)) throw failure;
    // Who does not know the model says so here as well.
    const generation = await send('chat', request, { ...service, call });
    lacks.add('responses');
    const what = 'has no Responses API at its address: Chat Completions is used from now on.';
    downgrades.warn(call, 'responses', what);
    return generation;
  }
}

function isMissing(failure: unknown): boolean {
  return ModelCallError.isInstance(failure) && [404, 405, 501].includes(failure.status ?? 0);
}

async function send(
  api: OpenAiApi,
  request: GenerateRequest,
  recipient: Service & Pick<Recipient, 'call'>,
): Promise<Generation> {
  const { line, call, sdk, headers: given } = recipient;
  const { chat, responses = chat.completions } = await sdk.client();
  const isChat = api === 'chat';
  const body = isChat ? chatBody(request, recipient) : responsesBody(request, recipient);
  const headers = { ...given, [sampleHeader]: String(request.offset ?? 0) };
  const received = await line.request(call, (signal) => {
    const options = { signal, headers, maxRetries: 0, timeout: line.timeoutMs };
    return receivedFrom((isChat ? chat.completions : responses).create(body, options));
  });
  const reply = received.body;
  if (typeof reply === 'string' || reply === undefined || reply === null) {
    throw line.malformed(describedText(reply), call);
  }
  const asked = askedOf(request, recipient);
  const generation = isChat ? readChatReply(reply, asked) : readResponse(reply, asked);
  const { beginning: told } = conversationOf(request.messages);
  return finishedGeneration(generation, { request, received, told });
}

/** What an SDK hands out where a reply is no JSON. */
function describedText(reply: string | undefined | null): string {
  if (typeof reply !== 'string' || reply.trim() === '') return 'an empty reply';
  return /^\s*</.test(reply) ? 'a web page instead of JSON' : 'text instead of JSON';
}
