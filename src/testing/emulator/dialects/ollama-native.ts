import { defined } from '../../../backends/transport/json.ts';
import type { JsonValue } from '../../../contracts/json.ts';
import { readMessages, readTools } from '../chat-request.ts';
import { readPrompt, renderPrompt } from '../chat-template.ts';
import type { Call, Reply } from '../dialect.ts';
import { isObject, type JsonObject, numberAt, objectOf, textAt, textsAt } from '../fields.ts';
import { type Asked, type Choice, isCut } from '../generate.ts';
import { tokenOf } from '../logprobs.ts';
import { jsonReply, lineReply } from '../reply.ts';
import { type Generation, generate } from '../serve-model.ts';
import { countTokens, tokensOf } from '../tokens.ts';

/** `POST /api/chat`. */
export function chat(call: Call): Reply {
  const tools = readTools(call.body['tools']);
  const asked = {
    ...settingsOf(call),
    messages: readMessages(call.body['messages']),
    continues: false,
    ...(tools !== undefined && { tools }),
  };
  return answered(call, asked, (choice, content, isLast) => ({
    message: {
      role: 'assistant',
      content,
      ...(isLast && { ...thinkingOf(choice), ...callsOf(choice) }),
    },
  }));
}

/** `POST /api/generate`: a prompt, unchanged with `raw: true`, otherwise as a user turn. */
export function generateText(call: Call): Reply {
  const { body } = call;
  const prompt = textAt(body, 'prompt') ?? '';
  const system = textAt(body, 'system');
  const asked =
    body['raw'] === true
      ? { ...settingsOf(call), prompt, ...readPrompt(prompt) }
      : {
          ...settingsOf(call),
          messages: [
            ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
            { role: 'user' as const, content: prompt },
          ],
          continues: false,
        };
  return answered(call, asked, (choice, response, isLast) => ({
    response,
    ...(isLast && thinkingOf(choice)),
  }));
}

/** Silently drops the oldest turns, except the system's, until the prompt fits. */
export function truncated(asked: Asked, limit: number): Asked {
  let { messages } = asked;
  const isTooLong = () => countTokens(renderPrompt({ ...asked, messages })) > limit;
  while (messages.length > 1 && isTooLong()) {
    const oldest = messages.findIndex(({ role }) => role !== 'system');
    const isAllThereIs = oldest === -1 || oldest === messages.length - 1;
    if (isAllThereIs) break;
    messages = messages.toSpliced(oldest, 1);
  }
  return { ...asked, messages };
}

function settingsOf({ body }: Call): Omit<Asked, 'messages' | 'continues'> {
  const options = objectOf(body['options']);
  const limit = numberAt(options, 'num_predict') ?? -1;
  const { format } = body as Partial<JsonObject>;
  return {
    model: textAt(body, 'model') ?? '',
    choices: 1,
    stop: textsAt(options, 'stop'),
    ...defined({
      maxTokens: limit < 0 ? undefined : limit,
      temperature: numberAt(options, 'temperature'),
      seed: numberAt(options, 'seed'),
      topLogprobs: body['logprobs'] === true ? (numberAt(body, 'top_logprobs') ?? 0) : undefined,
      schema: isObject(format) ? format : undefined,
      ...(format === 'json' && { schema: { type: 'object' } }),
    }),
  };
}

type Piece = (choice: Choice | undefined, text: string, isLast: boolean) => JsonObject;

function answered(call: Call, asked: Asked, piece: Piece): Reply {
  const { body, service } = call;
  const limit = numberAt(objectOf(body['options']), 'num_ctx') ?? service.settings.contextLength;
  const fitting = body['truncate'] === false ? asked : truncated(asked, limit);
  const generation = generate(call, fitting);
  const [choice] = generation.choices;
  const text = choice?.text ?? '';
  const head = {
    model: body['model'] ?? '',
    created_at: new Date(service.settings.now()).toISOString(),
  };
  const end = { ...endOf(choice, generation), ...logprobsOf(choice) };
  if (body['stream'] === false) return jsonReply({ ...head, ...piece(choice, text, true), ...end });
  return lineReply([
    ...tokensOf(text).map((token) => ({ ...head, ...piece(choice, token, false), done: false })),
    { ...head, ...piece(choice, '', true), ...end },
  ]);
}

function endOf(choice: Choice | undefined, { tokens }: Generation): JsonObject {
  return {
    done: true,
    done_reason: isCut(choice) ? 'length' : 'stop',
    total_duration: 2_000_000,
    load_duration: 1000,
    prompt_eval_count: tokens.input,
    prompt_eval_duration: 1_000_000,
    eval_count: tokens.output,
    eval_duration: 1_000_000,
  };
}

function logprobsOf(choice: Choice | undefined): JsonObject {
  return choice?.logprobs === undefined ? {} : { logprobs: choice.logprobs.map(tokenOf) };
}

function thinkingOf(choice: Choice | undefined): JsonObject {
  const { reasoning = '' } = choice ?? {};
  return reasoning === '' ? {} : { thinking: reasoning };
}

function callsOf(choice: Choice | undefined): JsonObject {
  const { toolCalls = [] } = choice ?? {};
  const calls: readonly JsonValue[] = toolCalls.map(({ name, input }) => ({
    function: { name, arguments: input },
  }));
  return calls.length === 0 ? {} : { tool_calls: calls };
}
