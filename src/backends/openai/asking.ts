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
}

/** Sends one request, and reads its answer. */
export async function ask(
  request: GenerateRequest,
  call: ModelCall,
  service: Service,
): Promise<Generation> {
  const { line } = service;
  const { chat, responses } = await service.sdk.client();
  const recipient = { ...service, call };
  const isChat = responses === undefined || (service.api ?? apiFor(request, service)) === 'chat';
  const body = isChat ? chatBody(request, recipient) : responsesBody(request, recipient);
  const headers = { ...service.headers, [sampleHeader]: String(request.offset ?? 0) };
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
