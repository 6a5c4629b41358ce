import { chatCompletions } from '../chat-completions.ts';
import type { Call, Dialect, Reply, ReplyBody } from '../dialect.ts';
import { isObject, type JsonObject, listOf, numberAt, objectOf, textAt, words } from '../fields.ts';
import type { EmulatorOptions } from '../options.ts';
import { badRequest } from '../rejection.ts';
import { modelList } from '../reply.ts';
import { embeddings } from './embeddings.ts';
import { openAi, openAiManners } from './openai.ts';

/** The deviations of a provider from OpenAI. */
interface Habits {
  /** The only fields that it knows in addition to `usualFields`; absent if it ignores unknown ones. */
  readonly fields?: readonly string[];
  /** Why it refuses a body. */
  readonly refuses?: (body: JsonObject) => string | false | undefined;
  /** Converts its own fields to those of OpenAI, and removes ignored ones. */
  readonly read?: (body: JsonObject) => JsonObject;
  /** A message in its format. */
  readonly told?: (message: JsonObject) => JsonObject;
  /** The field of a message that holds its reasoning. @defaultValue `'reasoning_content'` */
  readonly reasoningField?: 'reasoning';
}

const usualFields = words(`
  model messages max_tokens max_completion_tokens temperature top_p stop stream stream_options
  response_format tools tool_choice parallel_tool_calls reasoning_effort
`);

const signed: Habits = {
  refuses: (body) =>
    callsIn(body).some(([first]) => signatureOf(objectOf(first)) === undefined) &&
    'Function call is missing a thought_signature in functionCall parts',
  told: (message) => {
    const [first, ...others] = listOf(message['tool_calls']);
    if (first === undefined) return message;
    const extra = { extra_content: { google: { thought_signature: 'signed' } } };
    return { ...message, tool_calls: [{ ...objectOf(first), ...extra }, ...others] };
  },
};

const providers: Readonly<Record<NonNullable<EmulatorOptions['provider']>, Habits>> = {
  openrouter: { read: ({ n: _, provider: __, ...body }) => body, reasoningField: 'reasoning' },
  gemini: { ...signed, fields: ['n', 'seed', 'extra_body'] },
  groq: {
    reasoningField: 'reasoning',
    refuses: (body) =>
      ((numberAt(body, 'n') ?? 1) > 1 && "'n' must be at most 1") ||
      ['logprobs', 'top_logprobs', 'logit_bias']
        .filter((name) => name in body)
        .map((name) => `\`${name}\` is not supported with this model`)[0] ||
      (messagesIn(body).some((message) => 'name' in message) && '`name` is not supported') ||
      ('tools' in body && 'response_format' in body && 'json mode cannot be combined with tools'),
  },
  mistral: {
    fields: words('n random_seed presence_penalty frequency_penalty prompt_mode safe_prompt'),
    read: ({ random_seed: seed, tool_choice: choice, ...body }) => ({
      ...body,
      ...(seed !== undefined && { seed }),
      ...(choice !== undefined && { tool_choice: choice === 'any' ? 'required' : choice }),
    }),
  },
  deepseek: {
    fields: words('thinking logprobs top_logprobs frequency_penalty presence_penalty user_id'),
    refuses: (body) =>
      (!['auto', 'none'].includes(String(body['tool_choice'] ?? 'auto')) &&
        'deepseek-v4-pro does not support this tool_choice') ||
      (objectOf(body['response_format'])['type'] === 'json_schema' &&
        'This response_format type is unavailable now') ||
      (messagesIn(body).some(
        (message) =>
          listOf(message['tool_calls']).length > 0 &&
          textAt(message, 'reasoning_content') === undefined,
      ) &&
        'The `reasoning_content` in the thinking mode must be passed back to the API.'),
  },
  together: {
    refuses: ({ logprobs }) => typeof logprobs === 'boolean' && 'logprobs must be an integer',
    read: ({ logprobs: top, ...body }) =>
      top === undefined ? body : { ...body, logprobs: true, top_logprobs: top },
  },
  fireworks: {},
  azure: {
    refuses: (body) =>
      'max_tokens' in body &&
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  },
  bedrock: {},
  vertex: signed,
};

/** Their names. */
export const providerNames: readonly string[] = Object.keys(providers);

/** The API of an OpenAI-compatible provider with its deviations. */
export function providerDialect(name: NonNullable<EmulatorOptions['provider']>): Dialect {
  const habits = providers[name];
  const { fields, reasoningField = 'reasoning_content' } = habits;
  const chat = chatCompletions({
    ...openAiManners,
    read: (asked) => asked,
    reasoningField,
  });
  return {
    ...openAi,
    calls: {
      'POST /v1/chat/completions': (call) => answered(call, habits, chat),
      'POST /v1/embeddings': embeddings,
    },
    information: { 'GET /v1/models': (call) => modelList(call, name) },
    knownFields: ({ exchange }) =>
      fields === undefined || exchange.path !== '/v1/chat/completions'
        ? undefined
        : [...usualFields, ...fields],
    refusesUnknown: fields !== undefined,
    unknownField: (field) => ({
      status: 400,
      message: `Unknown name "${field}": Cannot find field.`,
    }),
  };
}

function answered(call: Call, habits: Habits, chat: (call: Call) => Reply): Reply {
  const { body } = call;
  const { refuses, read, told } = habits;
  const message = refuses?.(body);
  if (message) throw badRequest(message);
  const reply = chat({ ...call, body: read?.(body) ?? body });
  return told === undefined ? reply : { ...reply, body: retold(reply.body, told) };
}

/** A reply whose messages, or pieces of messages, are converted. */
function retold(body: ReplyBody, told: NonNullable<Habits['told']>): ReplyBody {
  const choice = (one: JsonObject) => ({
    ...one,
    ...(isObject(one['message']) && { message: told(one['message']) }),
    ...(isObject(one['delta']) && { delta: told(one['delta']) }),
  });
  const whole = (json: JsonObject) => ({
    ...json,
    choices: listOf(json['choices']).map(objectOf).map(choice),
  });
  if ('json' in body) return { json: whole(objectOf(body.json)) };
  if (!('events' in body)) return body;
  const events = body.events.map((event) =>
    isObject(event.data) && 'choices' in event.data ? { ...event, data: whole(event.data) } : event,
  );
  return { ...body, events };
}

function messagesIn(body: JsonObject): readonly JsonObject[] {
  return listOf(body['messages']).map(objectOf);
}

/** The calls of each turn that has any. */
function callsIn(body: JsonObject) {
  const calls = messagesIn(body).map((message) => listOf(message['tool_calls']));
  return calls.filter(({ length }) => length > 0);
}

function signatureOf(call: JsonObject): string | undefined {
  return textAt(objectOf(objectOf(call['extra_content'])['google']), 'thought_signature');
}
