import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest, Message } from '../../contracts/language-model.ts';
import { wantsLogprobs } from '../transport/chat-logprobs.ts';
import {
  chatMessage,
  chatMessages,
  chatSchema,
  drawnFields,
  type JsonBody,
  type Refuses,
  wishedFields,
  worded,
} from '../transport/chat-request.ts';
import type { Downgrades, Droppable } from '../transport/downgrades.ts';
import { withExtra } from './extra-body.ts';
import type { Habits } from './habits.ts';

/** The recipient of a request. */
export interface Recipient {
  readonly connected: {
    /** The model's name there. */
    readonly model: string;
  };
  /** The provider, which gets its own turns back. */
  readonly provider: string;
  /** Additional fields. */
  readonly extraBody: JsonBody;
  readonly habits: Habits;
  /** The reasoning effort. */
  readonly effort?: string | undefined;
  /** The features that it does not support. */
  readonly downgrades: Downgrades;
}

/** The body of a request to `/chat/completions`. */
export function chatBody(request: GenerateRequest, recipient: Recipient): JsonBody {
  const { habits, downgrades, extraBody } = recipient;
  const refuses = (what: Droppable) =>
    downgrades.refuses(what) || (what === 'schema' && isBoundTwice(request, habits));
  const told = worded(request, refuses);
  const { messages, beginning } = told;
  const begun = beginning === undefined ? [] : [{ role: 'assistant' as const, content: beginning }];
  const isJsonDue = request.schema !== undefined && habits.writesJson === true;
  const body = {
    messages: chatMessages([...messages, ...begun], 'system', (turn) => keptOf(turn, recipient)),
    ...commonBody(request, recipient),
    ...(isJsonDue && { response_format: { type: 'json_object' } }),
    ...wishedFields(request, { ...told, refuses }),
    ...(beginning !== undefined && habits.continuation),
  };
  return withExtra(habits.spelled?.(body, refuses) ?? body, extraBody);
}

/** Whether both a schema and tools are requested, although only one is supported. */
export function isBoundTwice({ schema, tools = [] }: GenerateRequest, habits: Habits): boolean {
  return habits.bindsAlone === true && schema !== undefined && tools.length > 0;
}

/** The fields to send back with a turn that calls tools. */
function keptOf(message: Message, { habits, provider }: Recipient): JsonBody {
  const { role, toolCalls = [], original } = message;
  if (role !== 'assistant' || toolCalls.length === 0 || habits.turns === undefined) return {};
  const isOwn = original?.provider === provider && isPlainObject(original.data);
  return isOwn ? original.data : (habits.turns.usual?.(chatMessage(message)) ?? {});
}

/** The body of a request to `/completions`, which continues a rendered prompt. */
export function completionBody(
  request: GenerateRequest,
  prompt: string,
  recipient: Recipient,
): JsonBody {
  const { downgrades, habits } = recipient;
  const body = {
    prompt,
    ...commonBody(request, recipient),
    // With 0, no log-probabilities are returned at all.
    ...(wantsLogprobs(request) &&
      !downgrades.refuses('logprobs') && { logprobs: Math.max(1, request.topLogprobs ?? 0) }),
    ...(request.schema !== undefined && boundBy(request.schema, habits)),
    // The prompt already contains the start tokens.
    ...(habits.renders === 'tokenize' && { add_special_tokens: false }),
  };
  return withExtra(body, recipient.extraBody);
}

/** llama-server ignores `response_format` here. */
function boundBy(schema: JsonValue, { renders }: Habits): JsonBody {
  return renders === 'apply-template'
    ? { json_schema: schema }
    : { response_format: chatSchema(schema, true) };
}

function commonBody(
  request: GenerateRequest,
  { connected, downgrades, habits, effort, extraBody }: Recipient,
): JsonBody {
  const refuses = (what: Droppable) => downgrades.refuses(what);
  const limit = refuses('maxTokens') ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: connected.model,
    ...drawnFields(request, { refuses, limit }),
    ...sampling(request, { habits, refuses, extraBody }),
    ...(effort !== undefined && { reasoning_effort: effort }),
  };
}

function sampling(
  { temperature, topP, topK }: GenerateRequest,
  {
    habits,
    refuses,
    extraBody,
  }: Pick<Recipient, 'extraBody' | 'habits'> & { readonly refuses: Refuses },
): JsonBody {
  const asked = {
    ...(temperature !== undefined && !refuses('temperature') && { temperature }),
    ...(topP !== undefined && !refuses('topP') && { top_p: topP }),
    ...(topK !== undefined && !refuses('topK') && { top_k: topK }),
  };
  const isNeutral = habits.neutralises === 'always' || Object.keys(asked).length > 0;
  const neutral = Object.entries(isNeutral ? (habits.neutral ?? {}) : {}).filter(([name]) => {
    if (name in extraBody) return false;
    const what = neutralised[name];
    return what === undefined || !refuses(what);
  });
  return { ...Object.fromEntries(neutral), ...asked };
}

const neutralised: Readonly<Record<string, Droppable>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
};
