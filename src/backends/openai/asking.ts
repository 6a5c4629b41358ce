import { ModelCallError } from '../../base/errors.ts';
import type { BatchService } from '../../contracts/batch.ts';
import type { GenerateRequest, Generation, ModelCall } from '../../contracts/language-model.ts';
import { sentOrBatched } from '../transport/batched.ts';
import { readChatReply } from '../transport/chat-reply.ts';
import { conversationOf, type JsonBody } from '../transport/chat-request.ts';
import { gatheredChat } from '../transport/chat-stream.ts';
import { askedOf, finishedGeneration } from '../transport/hosted.ts';
import type { Line } from '../transport/line.ts';
import { telling } from '../transport/reply-text.ts';
import { sampleHeader } from '../transport/sampling.ts';
import { gatheredFrom, receivedFrom, type Sdk } from '../transport/sdk.ts';
import { listening, longestInOnePiece } from '../transport/streaming.ts';
import type { OpenAiClient } from './client.ts';
import { apiFor, chatBody, type OpenAiApi, type Recipient, responsesBody } from './request.ts';
import { gatheredResponse, readResponse } from './response.ts';

/** OpenAI's two APIs, for one model. */
export interface Service extends Omit<Recipient, 'call'> {
  readonly line: Line;
  readonly sdk: Sdk<OpenAiClient>;
  /** The API to use; `undefined` if it is chosen per request. */
  readonly api: OpenAiApi | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it may be another server, which may lack the Responses API. */
  readonly mayLackResponses: boolean;
  /** The APIs that it turned out not to have. */
  readonly lacks: Set<'responses'>;
  /** Batches for each of them, if the client supports batches. */
  readonly batches: Readonly<Record<OpenAiApi, BatchService>> | undefined;
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
    // If the model is unknown, Chat Completions reports that too.
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
  const { line, call, sdk, headers: given, batches } = recipient;
  const { chat, responses = chat.completions } = await sdk.client();
  const isChat = api === 'chat';
  const body = isChat ? chatBody(request, recipient) : responsesBody(request, recipient);
  const { offset: sample = 0 } = request;
  const headers = { ...given, [sampleHeader]: String(sample) };
  const batched = batches && { service: batches[api], body, sample };
  const received = await sentOrBatched(call, batched, () =>
    line.request(call, (signal, heard) => {
      const { onPart, isStreamed } = listening(call, heard);
      const options = { signal, headers, maxRetries: 0, timeout: line.timeoutMs };
      const api = isChat ? chat.completions : responses;
      if ((!isLong(body) && !isStreamed) || recipient.downgrades.refuses('stream'))
        return receivedFrom(api.create(body, options));
      const gathering = isChat ? gatheredChat() : gatheredResponse();
      const sent = api.create(streamed(body, isChat), { ...options, ...telling(onPart) });
      return gatheredFrom(sent, gathering, { context: line.context(call.signal), onPart });
    }),
  );
  const reply = received.body;
  if (typeof reply === 'string' || reply === undefined || reply === null) {
    throw line.malformed(describedText(reply), call);
  }
  const asked = askedOf(request, recipient);
  const generation = isChat ? readChatReply(reply, asked) : readResponse(reply, asked);
  const { beginning: told } = conversationOf(request.messages);
  return finishedGeneration(generation, { request, received, told });
}

/** Whether an answer may take longer than an idle connection lasts. */
function isLong({ max_completion_tokens: chat, max_output_tokens: responses }: JsonBody): boolean {
  return Number(chat ?? responses) > longestInOnePiece;
}

function streamed(body: JsonBody, isChat: boolean): JsonBody {
  return { ...body, stream: true, ...(isChat && { stream_options: { include_usage: true } }) };
}

/** What an SDK returns if a reply is not JSON. */
function describedText(reply: string | undefined | null): string {
  if (typeof reply !== 'string' || reply.trim() === '') return 'an empty reply';
  return /^\s*</.test(reply) ? 'a web page instead of JSON' : 'text instead of JSON';
}
