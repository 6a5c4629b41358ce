import type {
  Completion,
  GenerateRequest,
  Generation,
  Message,
  ToolCall,
  Usage,
} from '../../contracts/language-model.ts';
import type { Answer, Asked } from './wrap.ts';

/** What a span says, by name. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

/** What is asked, by the names of OpenTelemetry's conventions for generative AI. */
export function requestAttributes(asked: Asked, content: boolean): Attributes {
  if (asked.kind !== 'generate') return {};
  const { request } = asked;
  return told({
    'gen_ai.request.choice.count': request.samples === 1 ? undefined : request.samples,
    'gen_ai.request.max_tokens': request.maxTokens,
    'gen_ai.request.temperature': request.temperature,
    'gen_ai.request.top_p': request.topP,
    'gen_ai.request.top_k': request.topK,
    'gen_ai.request.seed': request.seed,
    'gen_ai.request.stop_sequences': request.stop && [...request.stop],
    ...(content && contentOfRequest(request)),
  });
}

/** What came back. */
export function answerAttributes(answer: Answer, content: boolean): Attributes {
  const generation = 'completions' in answer ? (answer as Generation) : undefined;
  const reasons = generation?.completions.flatMap(({ finishReason }) =>
    finishReason === undefined ? [] : [finishReasons[finishReason]],
  );
  return told({
    'gen_ai.response.model': generation?.answeredBy,
    'gen_ai.response.id': generation?.requestId,
    'gen_ai.response.finish_reasons': reasons?.length === 0 ? undefined : reasons,
    ...usageAttributes(answer.usage),
    ...(content && generation && { 'gen_ai.output.messages': outputOf(generation) }),
  });
}

function usageAttributes(usage: Usage = {}): Attributes {
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
  };
}

const finishReasons: Readonly<Record<NonNullable<Completion['finishReason']>, string>> = {
  stop: 'stop',
  length: 'length',
  tool: 'tool_call',
  refusal: 'content_filter',
  other: 'other',
};

function contentOfRequest({ messages, tools }: GenerateRequest): Attributes {
  return {
    'gen_ai.input.messages': JSON.stringify(messages.map(inputOf)),
    'gen_ai.tool.definitions':
      tools &&
      JSON.stringify(
        tools.map(({ name, description, input }) => ({
          type: 'function',
          name,
          description,
          parameters: input,
        })),
      ),
  };
}

function inputOf({ role, content, toolCalls = [], toolCallId }: Message): unknown {
  const parts =
    role === 'tool'
      ? [{ type: 'tool_call_response', id: toolCallId, response: content }]
      : [...textParts(content), ...toolCalls.map(partOfCall)];
  return { role, parts };
}

function outputOf({ completions }: Generation): string {
  return JSON.stringify(
    completions.map(({ text, reasoning, toolCalls = [], finishReason }) => ({
      role: 'assistant',
      parts: [
        ...(reasoning === undefined ? [] : [{ type: 'reasoning', content: reasoning }]),
        ...textParts(text),
        ...toolCalls.map(partOfCall),
      ],
      finish_reason: finishReason && finishReasons[finishReason],
    })),
  );
}

function textParts(content: string): readonly unknown[] {
  return content === '' ? [] : [{ type: 'text', content }];
}

function partOfCall({ id, name, input }: ToolCall): unknown {
  return { type: 'tool_call', id, name, arguments: input };
}

/** Leaves out what nobody said. */
function told(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
