import type {
  Completion,
  GenerateRequest,
  Generation,
  Message,
  ToolCall,
} from '../../contracts/language-model.ts';
import type { Attributes } from './model-operation.ts';

/** The request, by the names of OpenTelemetry's conventions for generative AI. */
export function requestAttributes(request: GenerateRequest, content: boolean): Attributes {
  return {
    'gen_ai.request.choice.count': request.samples === 1 ? undefined : request.samples,
    'gen_ai.request.max_tokens': request.maxTokens,
    'gen_ai.request.temperature': request.temperature,
    'gen_ai.request.top_p': request.topP,
    'gen_ai.request.top_k': request.topK,
    'gen_ai.request.seed': request.seed,
    'gen_ai.request.stop_sequences': request.stop && [...request.stop],
    ...(content && contentOfRequest(request)),
  };
}

/** The answer. */
export function answerAttributes(generation: Generation, content: boolean): Attributes {
  const reasons = generation.completions.flatMap(({ finishReason }) =>
    finishReason === undefined ? [] : [finishReasons[finishReason]],
  );
  return {
    'gen_ai.response.model': generation.answeredBy,
    'gen_ai.response.id': generation.requestId,
    'gen_ai.response.finish_reasons': reasons.length === 0 ? undefined : reasons,
    ...(content && { 'gen_ai.output.messages': outputOf(generation) }),
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

function inputOf({ role, content, toolCalls = [], toolCallId, images = [] }: Message): unknown {
  const said =
    role === 'tool'
      ? [{ type: 'tool_call_response', id: toolCallId, response: content }]
      : [...textParts(content), ...toolCalls.map(partOfCall)];
  const shown = images.map(({ mediaType, base64 }) => ({
    ...{ type: 'blob', modality: 'image', mime_type: mediaType, content: base64 },
  }));
  return { role, parts: [...shown, ...said] };
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
