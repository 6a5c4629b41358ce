import { jsonFault } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type {
  Completion,
  GenerateRequest,
  Generation,
  OriginalTurn,
  ToolCall,
  Usage,
} from '../../contracts/language-model.ts';
import { logprobsOf } from './chat-logprobs.ts';
import { conversationOf } from './chat-request.ts';
import { malformed, modelCallErrorFrom, type WireContext } from './errors.ts';
import {
  countOf,
  defined,
  fieldsOf,
  itemsOf,
  type JsonFields,
  numberOf,
  parsedJson,
  textOf,
} from './json.ts';
import { withoutThoughts } from './thoughts.ts';

/** The context of a reply. */
export interface Asked {
  readonly request: GenerateRequest;
  /** The sender of the reply. */
  readonly context: WireContext;
  /** Warns that something is not as requested. */
  readonly warn: (about: 'logprobs' | 'schema' | 'tools', message: string) => void;
  /** The data of a tool-calling message to send back with it. @defaultValue none */
  readonly kept?: ((message: JsonFields) => JsonFields | undefined) | undefined;
  /** Whether thoughts may precede the answer in the text. @defaultValue false */
  readonly mayThink?: boolean;
}

/**
 * A reply of Chat Completions, or of the older Completions, as a generation.
 *
 * @throws ModelCallError `malformed` if it has no readable choices.
 */
export function readChatReply(body: unknown, asked: Asked): Generation {
  const reply = fieldsOf(body);
  const choices = expectChoices(reply, asked.context);
  const completions = choices
    .toSorted((one, other) => (countOf(one['index']) ?? 0) - (countOf(other['index']) ?? 0))
    .map((choice) => completionOf(choice, asked));
  return {
    completions,
    usage: openAiUsage(reply, 'prompt', 'completion'),
    ...defined({ answeredBy: textOf(reply['model']), requestId: textOf(reply['id']) }),
  };
}

function expectChoices(reply: JsonFields, context: WireContext): readonly JsonFields[] {
  const { choices, error } = reply;
  if (!Array.isArray(choices)) {
    // Proxies pass errors on with status 200.
    if (error !== undefined && error !== null) {
      const status = countOf(fieldsOf(error)['code']);
      throw modelCallErrorFrom({ status, error }, context);
    }
    throw malformed(context, 'JSON with another structure: it has no `choices`');
  }
  if (choices.length === 0) throw malformed(context, 'no choice at all');
  for (const [place, choice] of choices.entries()) {
    const { message, text } = fieldsOf(choice);
    if (typeof text === 'string' || (typeof message === 'object' && message !== null)) continue;
    throw malformed(context, `JSON with another structure: choice ${place} has no \`message\``);
  }
  return choices as readonly JsonFields[];
}

function completionOf(choice: JsonFields, asked: Asked): Completion {
  const message = fieldsOf(choice['message']);
  const content = message['content'] ?? choice['text'];
  const thought =
    textOf(message['reasoning']) ?? textOf(message['reasoning_content']) ?? thoughtOf(content);
  const logprobs = logprobsOf(choice['logprobs'], asked);
  const written = { text: contentOf(content), ...defined({ logprobs }) };
  const isMixed = asked.mayThink === true && thought === undefined;
  const said = isMixed ? withoutThoughts(written) : written;
  const refusal = textOf(message['refusal']);
  const { calls, isBroken } = readToolCalls(
    itemsOf(message['tool_calls']).map((call) => {
      const { id, function: called } = fieldsOf(call);
      return { ...fieldsOf(called), id };
    }),
  );
  const told = refusal === undefined ? finishOf(choice['finish_reason']) : 'refusal';
  return finished(
    {
      ...said,
      text: said.text === '' ? (refusal ?? '') : said.text,
      ...defined({
        reasoning: thought,
        original: calls.length === 0 ? undefined : originalOf(message, asked),
      }),
    },
    { told, calls, isBroken },
    asked,
  );
}

/** The part of a turn that its provider requires back. */
function originalOf(message: JsonFields, { kept, context }: Asked): OriginalTurn | undefined {
  const data = kept?.(message);
  if (data === undefined || jsonFault(data) !== undefined) return undefined;
  return { provider: context.provider, data: data as JsonValue };
}

/** Why a completion ended according to its server, and its tool calls. */
export interface Ending {
  /** The reason. */
  readonly told: NonNullable<Completion['finishReason']>;
  readonly calls: readonly ToolCall[];
  /** Whether there were other calls, which cannot be read. */
  readonly isBroken: boolean;
}

/**
 * A completion with its finish reason. It is `other` if the completion is complete but unusable: a tool call with
 * invalid JSON, or a text that is not JSON although a schema was requested.
 */
export function finished(
  completion: Completion,
  { told, calls, isBroken }: Ending,
  { request, warn }: Asked,
): Completion {
  if (isBroken && told !== 'length') {
    warn('tools', 'called a tool with an input that is not JSON: the call is left out.');
    return { ...completion, finishReason: 'other', ...(calls.length > 0 && { toolCalls: calls }) };
  }
  if (calls.length > 0) {
    return { ...completion, finishReason: told === 'stop' ? 'tool' : told, toolCalls: calls };
  }
  const isJsonDue = request.schema !== undefined && told === 'stop';
  // Some servers apply the schema to the continuation alone, whatever precedes it.
  const { beginning = '' } = conversationOf(request.messages);
  const isJson = (text: string) => parsedJson(text) !== undefined;
  if (isJsonDue && !isJson(completion.text) && !isJson(beginning + completion.text)) {
    warn(
      'schema',
      'wrote no JSON although a schema was requested: such an answer ends as `other`.',
    );
    return { ...completion, finishReason: 'other' };
  }
  return { ...completion, finishReason: told };
}

/** Tool calls whose input is still text. An empty input becomes an empty object. */
export function readToolCalls(
  calls: readonly {
    readonly id?: unknown;
    readonly name?: unknown;
    readonly arguments?: unknown;
  }[],
): Pick<Ending, 'calls' | 'isBroken'> {
  const read = calls.map(({ id, name, arguments: input }, place) => {
    const parsed = inputOf(input);
    if (typeof name !== 'string' || parsed === undefined) return undefined;
    return { id: textOf(id) ?? `call_${place}`, name, input: parsed };
  });
  const whole = read.filter((call) => call !== undefined);
  return { calls: whole, isBroken: whole.length < read.length };
}

function inputOf(text: unknown): ToolCall['input'] | undefined {
  // Some servers send the object itself.
  if (typeof text === 'object' && text !== null) return keepable(text);
  if (typeof text !== 'string') return text === undefined || text === null ? {} : undefined;
  return text.trim() === '' ? {} : keepable(parsedJson(text));
}

/** An input that is nested too deeply cannot be stored. */
function keepable(input: unknown): ToolCall['input'] | undefined {
  return jsonFault(input) === undefined ? (input as ToolCall['input']) : undefined;
}

/** The text of a message: a string, or parts. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return itemsOf(content)
    .map((part) => textOf(fieldsOf(part)['text']) ?? '')
    .join('');
}

/** The thoughts among the parts of a message, which may have parts themselves. */
function thoughtOf(content: unknown): string | undefined {
  const thoughts = itemsOf(content).map((part) => fieldsOf(part)['thinking']);
  return textOf(thoughts.map(contentOf).join(''));
}

const finishes: Readonly<Record<string, NonNullable<Completion['finishReason']>>> = {
  stop: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool',
  function_call: 'tool',
  content_filter: 'refusal',
};

function finishOf(reason: unknown): NonNullable<Completion['finishReason']> {
  return finishes[String(reason)] ?? 'other';
}

/**
 * The usage of one of OpenAI's APIs. Missing or invalid fields are unknown.
 *
 * @param input - The API's prefix for tokens read. @param output - Its prefix for tokens written.
 */
export function openAiUsage(reply: JsonFields, input: string, output: string): Usage {
  const fields = fieldsOf(reply['usage']);
  const read = fieldsOf(fields[`${input}_tokens_details`]);
  const written = fieldsOf(fields[`${output}_tokens_details`]);
  return defined({
    inputTokens: numberOf(fields[`${input}_tokens`]),
    outputTokens: numberOf(fields[`${output}_tokens`]),
    cachedTokens: numberOf(read['cached_tokens']) ?? numberOf(fields['prompt_cache_hit_tokens']),
    cacheWriteTokens: numberOf(read['cache_write_tokens']),
    reasoningTokens: numberOf(written['reasoning_tokens']),
    serviceTier: textOf(reply['service_tier']),
  });
}
