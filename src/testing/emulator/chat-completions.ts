import type { JsonValue } from '../../contracts/json.ts';
import type { ToolCall } from '../../contracts/language-model.ts';
import { readChat } from './chat-request.ts';
import type { Call, Reply } from './dialect.ts';
import { isObject, type JsonObject, objectOf, parsed } from './fields.ts';
import type { Asked, Choice } from './generate.ts';
import { chatLogprobs } from './logprobs.ts';
import { eventReply, jsonReply } from './reply.ts';
import { type Generation, generate } from './serve-model.ts';
import { tokensOf } from './tokens.ts';

/** The deviations of a server from plain Chat Completions. */
export interface ChatManners {
  /** Refuses what the server refuses, and reads the server's own fields. */
  readonly read: (asked: Asked, call: Call) => Asked;
  /** The field of a message that holds its reasoning. */
  readonly reasoningField: 'reasoning' | 'reasoning_content' | undefined;
  /** Further fields of a choice. @defaultValue none */
  readonly choiceFields?: (choice: Choice) => JsonObject;
  /** Further fields of a reply. */
  readonly replyFields: (generation: Generation) => JsonObject;
  /** The usage. */
  readonly usage: (generation: Generation) => JsonObject;
  /** The first piece of a stream. */
  readonly firstDelta: JsonObject;
}

/** `POST /v1/chat/completions` of a server with these manners. */
export function chatCompletions(manners: ChatManners): (call: Call) => Reply {
  return (call) => {
    const generation = generate(call, manners.read(readChat(call.body), call));
    const counted = { usage: manners.usage(generation), ...manners.replyFields(generation) };
    if (call.body['stream'] === true) {
      const pieces = generation.choices.flatMap((choice) => deltasOf(choice, manners));
      return choiceEvents(call, headOf(call, 'chat.completion.chunk'), { pieces, counted });
    }
    const choices = generation.choices.map((choice) => ({
      index: choice.index,
      message: messageOf(choice, manners),
      logprobs: chatLogprobs(choice.logprobs),
      finish_reason: finishWord(choice),
      ...manners.choiceFields?.(choice),
    }));
    return jsonReply({ ...headOf(call, 'chat.completion'), choices, ...counted });
  };
}

/** The pieces of choices as a stream, with the usage at its end if requested. */
export function choiceEvents(
  { body }: Call,
  head: JsonObject,
  { pieces, counted }: { readonly pieces: readonly JsonObject[]; readonly counted: JsonObject },
): Reply {
  const wantsUsage = objectOf(body['stream_options'])['include_usage'] === true;
  const events = pieces.map((piece) => ({ ...head, choices: [piece] }));
  const last = wantsUsage ? [{ ...head, choices: [], ...counted }] : [];
  return eventReply([
    ...[...events, ...last].map((data) => ({ data })),
    { data: { word: '[DONE]' } },
  ]);
}

/** The identifying fields of a reply. */
export function headOf({ exchange, service, body }: Call, object: string): JsonObject {
  return {
    id: `${object === 'text_completion' ? 'cmpl' : 'chatcmpl'}-${exchange.index}`,
    object,
    created: Math.floor(service.settings.now() / 1000),
    model: body['model'] ?? service.settings.models[0] ?? '',
  };
}

/** A usage in OpenAI's form; `completion` if it is not the sum. */
export function openAiUsage(
  { tokens }: Generation,
  completion: number = tokens.output,
): JsonObject {
  return {
    prompt_tokens: tokens.input,
    completion_tokens: completion,
    total_tokens: tokens.input + completion,
  };
}

/** The finish reason in OpenAI's terms. */
export function finishWord({ finish }: Choice): string {
  const words = {
    stop: 'stop',
    length: 'length',
    tool: 'tool_calls',
    refusal: 'content_filter',
    pause: 'stop',
    context: 'length',
  };
  return words[finish];
}

function messageOf(choice: Choice, { reasoningField }: ChatManners): JsonObject {
  const { text, reasoning, toolCalls } = choice;
  return {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    ...(reasoningField !== undefined && reasoning !== '' && { [reasoningField]: reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(wireCall) }),
  };
}

function wireCall({ id, name, input }: ToolCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

/** The pieces of one choice: its role, its reasoning, one piece per token, its tool calls, its end. */
function deltasOf(choice: Choice, manners: ChatManners): readonly JsonObject[] {
  const { index, text, reasoning, toolCalls, logprobs } = choice;
  const { reasoningField } = manners;
  const piece = (delta: JsonObject, rest: JsonObject = {}) => ({
    index,
    delta,
    logprobs: null,
    finish_reason: null,
    ...rest,
  });
  const thoughts = reasoningField === undefined ? [] : tokensOf(reasoning);
  return [
    piece(manners.firstDelta),
    ...thoughts.map((token) => piece({ [reasoningField ?? '']: token })),
    ...textPieces(text, logprobs).map(({ token, told }) =>
      piece({ content: token }, { logprobs: chatLogprobs(told) }),
    ),
    ...toolCalls.map((toolCall, place) =>
      piece({ tool_calls: [{ index: place, ...wireCall(toolCall) }] }),
    ),
    piece({}, { finish_reason: finishWord(choice), ...manners.choiceFields?.(choice) }),
  ];
}

/** A text as the pieces of a stream, each with its log-probability if available. */
export function textPieces(
  text: string,
  logprobs: Choice['logprobs'],
): readonly { readonly token: string; readonly told: Choice['logprobs'] }[] {
  return logprobs === undefined
    ? tokensOf(text).map((token) => ({ token, told: undefined }))
    : logprobs.map((told) => ({ token: told.token, told: [told] }));
}

/** The reasoning details of a usage, if there are any. */
export function reasoningDetails({ tokens }: Generation): JsonObject {
  return { completion_tokens_details: { reasoning_tokens: tokens.reasoning } };
}

/** Tokens that came from a cache. */
export function cacheDetails({ tokens }: Generation): JsonObject {
  return { prompt_tokens_details: { cached_tokens: tokens.cached } };
}

/** The schema in a field of its own. */
export function schemaIn(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return parsed(value);
  return isObject(value) ? value : undefined;
}
