import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest } from '../../contracts/language-model.ts';
import { wantsLogprobs } from '../wire/chat-logprobs.ts';
import {
  chatMessages,
  chatSchema,
  chatTool,
  chatToolChoice,
  conversationOf,
  type JsonBody,
  withWords,
} from '../wire/chat-request.ts';
import type { Droppable } from '../wire/downgrades.ts';
import { seedOf } from '../wire/seeds.ts';
import type { Habits } from './presets.ts';

/** For whom a request is written. */
export interface Recipient {
  /** The model's name there. */
  readonly model: string;
  /** What is known of the server. */
  readonly habits: Habits;
  /** Whether something is asked for in vain there. Says so to the caller, once. */
  readonly refuses: (what: Droppable) => boolean;
}

/** The body of a request to `/chat/completions`. */
export function chatBody(request: GenerateRequest, recipient: Recipient): JsonBody {
  const { schema, tools = [], toolChoice } = request;
  const { habits, refuses, model } = recipient;
  const { messages, beginning } = conversationOf(request.messages);
  const continues = beginning !== undefined && !refuses('continuation');
  const isBound = schema !== undefined && !refuses('schema');
  const isChosen =
    tools.length > 0 && toolChoice !== undefined && toolChoice !== 'auto' && !refuses('toolChoice');
  const told = withWords(messages, {
    beginning: continues ? undefined : beginning,
    schema: isBound ? undefined : schema,
    toolChoice: isChosen || tools.length === 0 ? undefined : toolChoice,
  });
  return {
    model,
    messages: chatMessages(continues ? [...told, { role: 'assistant', content: beginning }] : told),
    ...commonBody(request, recipient),
    ...(wantsLogprobs(request) &&
      !refuses('logprobs') && {
        logprobs: true,
        ...((request.topLogprobs ?? 0) > 0 && { top_logprobs: request.topLogprobs }),
      }),
    ...(isBound && { response_format: chatSchema(schema, true) }),
    ...(tools.length > 0 && { tools: tools.map((tool) => chatTool(tool)) }),
    ...(isChosen && { tool_choice: chatToolChoice(toolChoice) }),
    ...(continues && habits.continuation),
  };
}

/** The body of a request to `/completions`, which goes on from a prompt that was rendered before. */
export function completionBody(
  request: GenerateRequest,
  prompt: string,
  recipient: Recipient,
): JsonBody {
  const { model, refuses, habits } = recipient;
  return {
    model,
    prompt,
    ...commonBody(request, recipient),
    // None at all are told for 0.
    ...(wantsLogprobs(request) &&
      !refuses('logprobs') && { logprobs: Math.max(1, request.topLogprobs ?? 0) }),
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

function commonBody(request: GenerateRequest, { refuses, habits }: Recipient): JsonBody {
  const { samples = 1, offset = 0, maxTokens = defaultMaxTokens, stop = [], seed } = request;
  return {
    ...(samples > 1 && { n: samples }),
    [refuses('maxTokens') ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
    ...sampling(request, { refuses, habits }),
    ...(stop.length > 0 && !refuses('stop') && { stop: [...stop] }),
    ...(seed !== undefined && !refuses('seed') && { seed: seedOf(seed, offset) }),
  };
}

function sampling(
  { temperature, topP, topK }: GenerateRequest,
  { refuses, habits }: Pick<Recipient, 'refuses' | 'habits'>,
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
