import { expectation } from '../../base/expect.ts';
import { defaultMaxTokens } from '../../calls/operations/generate.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { GenerateRequest, Image, Message } from '../../contracts/language-model.ts';
import type { JsonBody } from '../transport/chat-request.ts';
import type { Downgrades } from '../transport/downgrades.ts';
import { inWords } from '../transport/in-words.ts';
import { fieldsOf } from '../transport/json.ts';
import { sampleHeader } from '../transport/sampling.ts';
import { seedOf } from '../transport/seeds.ts';

/** Provider options by provider name, as in the AI SDK. */
type ProviderOptions = Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;

/** The model, and the options sent with every request. */
export interface Addressee {
  readonly model: { readonly provider: string; readonly specificationVersion: string };
  readonly providerOptions?: ProviderOptions | undefined;
}

/** A message in the form of the AI SDK's models. */
interface PromptMessage extends JsonBody {
  readonly role: Message['role'];
  readonly content: string | readonly JsonValue[];
}

/**
 * A request for one sample in the form of `doGenerate`, for versions 2, 3 and 4 of the specification, without features
 * that the model is known not to support.
 */
export function callOptionsOf(
  request: GenerateRequest,
  downgrades: Pick<Downgrades, 'refuses'>,
  { model, providerOptions }: Addressee,
): JsonBody {
  const { maxTokens = defaultMaxTokens, offset = 0, seed, tools = [], schema } = request;
  const isBound = schema !== undefined && !downgrades.refuses('schema');
  const options = optionsOf(providerOptions, request, downgrades);
  return {
    prompt: promptOf(worded(request, downgrades), model),
    maxOutputTokens: maxTokens,
    ...samplingOf(request, downgrades),
    ...(seed !== undefined && !downgrades.refuses('seed') && { seed: seedOf(seed, offset) }),
    ...(isBound && { responseFormat: { type: 'json', schema, name: 'answer' } }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }) => ({
        type: 'function',
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
  downgrades: Pick<Downgrades, 'refuses'>,
): JsonBody {
  return {
    ...(temperature !== undefined && !downgrades.refuses('temperature') && { temperature }),
    ...(topP !== undefined && !downgrades.refuses('topP') && { topP }),
    ...(topK !== undefined && !downgrades.refuses('topK') && { topK }),
    ...(stop.length > 0 && !downgrades.refuses('stop') && { stopSequences: [...stop] }),
  };
}

function toolChoiceOf(
  { toolChoice = 'auto' }: GenerateRequest,
  downgrades: Pick<Downgrades, 'refuses'>,
): JsonBody {
  if (toolChoice === 'auto' || downgrades.refuses('toolChoice')) return {};
  if (typeof toolChoice === 'string') return { toolChoice: { type: toolChoice } };
  return { toolChoice: { type: 'tool', toolName: toolChoice.name } };
}

/** Only OpenAI is asked for log-probabilities, by a provider option. */
function optionsOf(
  given: ProviderOptions | undefined,
  { logprobs = false, topLogprobs = 0 }: GenerateRequest,
  downgrades: Pick<Downgrades, 'refuses'>,
): ProviderOptions | undefined {
  if (downgrades.refuses('logprobs') || !(logprobs || topLogprobs > 0)) return given;
  const wanted = topLogprobs > 0 ? topLogprobs : true;
  return { ...given, openai: { ...given?.['openai'], logprobs: wanted } };
}

/** Whether a request asks for log-probabilities, by the only available option. */
export function asksForLogprobs({ providerOptions }: JsonBody): boolean {
  return fieldsOf(fieldsOf(providerOptions)['openai'])['logprobs'] !== undefined;
}

/** The messages, with features that the model only understands in words added at the end of the question. */
function worded(
  request: GenerateRequest,
  downgrades: Pick<Downgrades, 'refuses'>,
): readonly Message[] {
  const { messages } = request;
  const beginning = downgrades.refuses('continuation') ? beginningOf(messages) : '';
  const isBegun = messages.at(-1)?.role === 'assistant';
  const words = inWords(request, (what) => downgrades.refuses(what), beginning);
  if (words.length === 0) return messages;
  const question = { role: 'user', content: words.join('\n\n') } as const;
  if (!isBegun) return [...messages, question];
  return beginning === ''
    ? [...messages.slice(0, -1), question, ...messages.slice(-1)]
    : [...messages.slice(0, -1), question];
}

/** The partial answer at the end of a conversation; empty if there is none. */
export function beginningOf(messages: readonly Message[]): string {
  const last = messages.at(-1);
  return last?.role === 'assistant' && last.toolCalls === undefined ? last.content : '';
}

/**
 * A conversation in the form of the AI SDK's models. Consecutive user turns are joined, and so are consecutive results.
 */
function promptOf(
  messages: readonly Message[],
  model: Addressee['model'],
): readonly PromptMessage[] {
  const prompt: PromptMessage[] = [];
  for (const message of messages) {
    const { role, content } = promptMessageOf(message, { messages, model });
    const last = prompt.at(-1);
    const joins = (role === 'user' || role === 'tool') && last?.role === role;
    if (joins)
      prompt.splice(-1, 1, { role, content: [...last.content, ...content] as JsonValue[] });
    else prompt.push({ role, content });
  }
  return prompt;
}

interface Around {
  /** The conversation that contains the message. */
  readonly messages: readonly Message[];
  readonly model: Addressee['model'];
}

function promptMessageOf(message: Message, around: Around): PromptMessage {
  const { role, content, images = [], original } = message;
  const text = content === '' ? [] : [{ type: 'text', text: content }];
  switch (role) {
    case 'system':
      return { role, content };
    case 'user':
      return {
        role,
        content: [
          ...images.map((image) => filePart(image, around.model)),
          ...(images.length === 0 ? [{ type: 'text', text: content }] : text),
        ],
      };
    case 'assistant': {
      if (original?.provider === around.model.provider && Array.isArray(original.data)) {
        return { role, content: original.data };
      }
      const calls = (message.toolCalls ?? []).map(({ id, name, input }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input,
      }));
      return { role, content: [...text, ...calls] };
    }
    case 'tool':
      return { role, content: [toolResultOf(message, around)] };
  }
}

/** An image as a file part: in version 4 of the specification, the data have a type. */
function filePart(
  { mediaType, base64 }: Image,
  { specificationVersion }: Addressee['model'],
): JsonBody {
  const data = specificationVersion === 'v4' ? { type: 'data', data: base64 } : base64;
  return { type: 'file', mediaType, data };
}

function toolResultOf(
  { content, toolCallId, images = [] }: Message,
  { messages, model }: Around,
): JsonBody {
  const called = messages
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .findLast(({ id }) => id === toolCallId);
  if (called === undefined) {
    throw expectation('toolCallId', 'the id of a tool call in an earlier message', toolCallId);
  }
  const { id, name } = called;
  return {
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output:
      images.length === 0
        ? { type: 'text', value: content }
        : {
            type: 'content',
            value: [
              ...images.map(({ mediaType, base64 }) => ({
                type: model.specificationVersion === 'v2' ? 'media' : 'file-data',
                ...{ mediaType, data: base64 },
              })),
              ...(content === '' ? [] : [{ type: 'text', text: content }]),
            ],
          },
  };
}
