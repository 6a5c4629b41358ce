import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';
import { wantsLogprobs } from '../transport/chat-logprobs.ts';
import {
  chatMessages,
  chatSchema,
  drawnFields,
  type JsonBody,
  type Refuses,
  wishedFields,
  worded,
} from '../transport/chat-request.ts';
import type { Downgrades, Droppable } from '../transport/downgrades.ts';
import type { Habits } from './presets.ts';

/** For whom a request is written. */
export interface Recipient {
  readonly connected: { /** The model's name there. */ readonly model: string };
  readonly habits: Habits;
  /** How hard it is to think. */
  readonly effort?: string | undefined;
  /** What it does not honour. */
  readonly downgrades: Downgrades;
}

/** The body of a request to `/chat/completions`. */
export function chatBody(request: GenerateRequest, recipient: Recipient): JsonBody {
  const { habits, downgrades } = recipient;
  const refuses = (what: Droppable) => downgrades.refuses(what);
  const told = worded(request, refuses);
  const { messages, beginning } = told;
  const begun = beginning === undefined ? [] : [{ role: 'assistant' as const, content: beginning }];
  return {
    messages: chatMessages([...messages, ...begun]),
    ...commonBody(request, recipient),
    ...wishedFields(request, { ...told, refuses }),
    ...(beginning !== undefined && habits.continuation),
  };
}

/** The body of a request to `/completions`, which goes on from a prompt that was rendered before. */
export function completionBody(
  request: GenerateRequest,
  prompt: string,
  recipient: Recipient,
): JsonBody {
  const { downgrades, habits } = recipient;
  return {
    prompt,
    ...commonBody(request, recipient),
    // None at all are told for 0.
    ...(wantsLogprobs(request) &&
      !downgrades.refuses('logprobs') && { logprobs: Math.max(1, request.topLogprobs ?? 0) }),
    ...(request.schema !== undefined && boundBy(request.schema, habits)),
    // The prompt holds the tokens that begin a text already.
    ...(habits.renders === 'tokenize' && { add_special_tokens: false }),
  };
}

/** llama-server takes no notice of `response_format` here. */
function boundBy(schema: JsonValue, { renders }: Habits): JsonBody {
  return renders === 'apply-template'
    ? { json_schema: schema }
    : { response_format: chatSchema(schema, true) };
}

function commonBody(
  request: GenerateRequest,
  { connected, downgrades, habits, effort }: Recipient,
): JsonBody {
  const refuses = (what: Droppable) => downgrades.refuses(what);
  const limit = refuses('maxTokens') ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: connected.model,
    ...drawnFields(request, { refuses, limit }),
    ...sampling(request, habits, refuses),
    ...(effort !== undefined && { reasoning_effort: effort }),
  };
}

function sampling(
  { temperature, topP, topK }: GenerateRequest,
  habits: Habits,
  refuses: Refuses,
): JsonBody {
  const asked = {
    ...(temperature !== undefined && !refuses('temperature') && { temperature }),
    ...(topP !== undefined && !refuses('topP') && { top_p: topP }),
    ...(topK !== undefined && !refuses('topK') && { top_k: topK }),
  };
  const isNeutral = habits.neutralises === 'always' || Object.keys(asked).length > 0;
  const neutral = Object.entries(isNeutral ? (habits.neutral ?? {}) : {}).filter(([name]) => {
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
