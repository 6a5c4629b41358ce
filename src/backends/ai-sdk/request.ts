import { expectation } from '../../base/expect.ts';
import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest, Message } from '../../contracts/language-model.ts';
import type { Downgrades } from '../wire/downgrades.ts';
import { beginningInWords, schemaInWords, toolChoiceInWords } from '../wire/in-words.ts';
import { sampleHeader } from '../wire/sampling.ts';
import { seedOf } from '../wire/seeds.ts';

/** Options of a provider, by its name, as the AI SDK takes them. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;

interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

interface ToolCallPart {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
}

interface ToolResultPart {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: { readonly type: 'text'; readonly value: string };
}

/** A message, as the AI SDK's models take it. */
export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: readonly TextPart[] }
  | { readonly role: 'assistant'; readonly content: readonly (TextPart | ToolCallPart)[] }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] };

/** What `doGenerate` is called with: what the versions 2, 3 and 4 of the specification have in common. */
export interface CallOptions {
  readonly prompt: readonly PromptMessage[];
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly responseFormat?: {
    readonly type: 'json';
    readonly schema: JsonValue;
    readonly name: string;
  };
  readonly tools?: readonly {
    readonly type: 'function';
    readonly name: string;
    readonly description?: string;
    readonly inputSchema: JsonValue;
  }[];
  readonly toolChoice?:
    | { readonly type: 'required' }
    | { readonly type: 'tool'; readonly toolName: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly providerOptions?: ProviderOptions;
}

/** A request for one sample, as `doGenerate` takes it, without what the model is known not to honour. */
export function callOptionsOf(
  request: GenerateRequest,
  downgrades: Pick<Downgrades, 'has'>,
  providerOptions: ProviderOptions | undefined,
): CallOptions {
  const { maxTokens = defaultMaxTokens, offset = 0, seed, tools = [], schema } = request;
  const isBound = schema !== undefined && !downgrades.has('schema');
  const options = optionsOf(providerOptions, request, downgrades);
  return {
    prompt: promptOf(worded(request, downgrades)),
    maxOutputTokens: maxTokens,
    ...samplingOf(request, downgrades),
    ...(seed !== undefined && !downgrades.has('seed') && { seed: seedOf(seed, offset) }),
    ...(isBound && { responseFormat: { type: 'json', schema, name: 'answer' } as const }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }) => ({
        type: 'function' as const,
        name,
        ...(description !== undefined && { description }),
        inputSchema: input,
      })),
    }),
    ...toolChoiceOf(request, downgrades),
    headers: { [sampleHeader]: String(offset) },
    ...(options !== undefined && { providerOptions: options }),
  };
}

function samplingOf(
  { temperature, topP, topK, stop = [] }: GenerateRequest,
  downgrades: Pick<Downgrades, 'has'>,
): Partial<CallOptions> {
  return {
    ...(temperature !== undefined && !downgrades.has('temperature') && { temperature }),
    ...(topP !== undefined && !downgrades.has('topP') && { topP }),
    ...(topK !== undefined && !downgrades.has('topK') && { topK }),
    ...(stop.length > 0 && !downgrades.has('stop') && { stopSequences: [...stop] }),
  };
}

function toolChoiceOf(
  { toolChoice = 'auto' }: GenerateRequest,
  downgrades: Pick<Downgrades, 'has'>,
): Pick<CallOptions, 'toolChoice'> {
  if (toolChoice === 'auto' || downgrades.has('toolChoice')) return {};
  if (toolChoice === 'required') return { toolChoice: { type: 'required' } };
  return { toolChoice: { type: 'tool', toolName: toolChoice.name } };
}

/** OpenAI alone is asked for log-probabilities, as an option of its own. */
function optionsOf(
  given: ProviderOptions | undefined,
  { logprobs = false, topLogprobs = 0 }: GenerateRequest,
  downgrades: Pick<Downgrades, 'has'>,
): ProviderOptions | undefined {
  if (downgrades.has('logprobs') || !(logprobs || topLogprobs > 0)) return given;
  const wanted = topLogprobs > 0 ? topLogprobs : true;
  return { ...given, openai: { ...given?.['openai'], logprobs: wanted } };
}

/** Whether a request asks for log-probabilities, in the one way there is. */
export function asksForLogprobs({ providerOptions }: CallOptions): boolean {
  return providerOptions?.['openai']?.['logprobs'] !== undefined;
}

/** The messages, with what the model is known to take in words only at the end of the question. */
function worded(request: GenerateRequest, downgrades: Pick<Downgrades, 'has'>): readonly Message[] {
  const { messages, schema, toolChoice } = request;
  const beginning = downgrades.has('continuation') ? beginningOf(messages) : '';
  const isBegun = messages.at(-1)?.role === 'assistant';
  const words = [
    downgrades.has('schema') && schema !== undefined ? schemaInWords(schema) : undefined,
    downgrades.has('toolChoice') ? toolChoiceInWords(toolChoice) : undefined,
    beginning === '' ? undefined : `${beginningInWords}\n\n${beginning}`,
  ].filter((text) => text !== undefined);
  if (words.length === 0) return messages;
  const question = { role: 'user', content: words.join('\n\n') } as const;
  if (!isBegun) return [...messages, question];
  return beginning === ''
    ? [...messages.slice(0, -1), question, ...messages.slice(-1)]
    : [...messages.slice(0, -1), question];
}

/** The beginning of the answer that a conversation ends with: empty where it does not. */
export function beginningOf(messages: readonly Message[]): string {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.toolCalls === undefined ? last.content : '';
}

/** A conversation as the AI SDK's models take it. Turns of the user in a row are one, and so are results. */
function promptOf(messages: readonly Message[]): readonly PromptMessage[] {
  const prompt: PromptMessage[] = [];
  for (const message of messages) {
    const next = promptMessageOf(message, messages);
    const last = prompt.at(-1);
    if (last?.role === 'user' && next.role === 'user') {
      prompt.splice(-1, 1, { role: 'user', content: [...last.content, ...next.content] });
    } else if (last?.role === 'tool' && next.role === 'tool') {
      prompt.splice(-1, 1, { role: 'tool', content: [...last.content, ...next.content] });
    } else prompt.push(next);
  }
  return prompt;
}

function promptMessageOf(message: Message, messages: readonly Message[]): PromptMessage {
  const { role, content } = message;
  switch (role) {
    case 'system':
      return { role, content };
    case 'user':
      return { role, content: [{ type: 'text', text: content }] };
    case 'assistant': {
      const text = content === '' ? [] : [{ type: 'text' as const, text: content }];
      const calls = (message.toolCalls ?? []).map(({ id, name, input }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: name,
        input,
      }));
      return { role, content: [...text, ...calls] };
    }
    case 'tool':
      return { role, content: [toolResultOf(message, messages)] };
  }
}

function toolResultOf(
  { content, toolCallId }: Message,
  messages: readonly Message[],
): ToolResultPart {
  const called = messages
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .find(({ id }) => id === toolCallId);
  if (called === undefined) {
    throw expectation('toolCallId', 'the id of a tool call in an earlier message', toolCallId);
  }
  const { id, name } = called;
  return {
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: { type: 'text', value: content },
  };
}
