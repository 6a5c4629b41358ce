import { describe, expect, test } from 'vitest';
import {
  type TelemetryOptions,
  withRetry,
  withTelemetry,
  wrapModel,
} from '../../../src/calls/index.ts';
import type { Attributes } from '../../../src/calls/operations/model-operation.ts';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.ts';
import type { GenerateRequest, Generation } from '../../../src/contracts/language-model.ts';
import { failure, playing, rejectionOf, request, testCall } from './harness.ts';

interface SeenSpan {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Attributes;
  readonly exceptions: Error[];
  status?: { code: number; message?: string };
  ends: number;
}

/** A tracer that keeps its spans. */
function tracing(): { readonly tracer: TelemetryOptions['tracer']; readonly spans: SeenSpan[] } {
  const spans: SeenSpan[] = [];
  const tracer: TelemetryOptions['tracer'] = {
    startSpan(name, { kind, attributes }) {
      const span: SeenSpan = { name, kind, attributes: { ...attributes }, exceptions: [], ends: 0 };
      spans.push(span);
      return {
        setAttributes: (more) => Object.assign(span.attributes, more),
        recordException: (error) => void span.exceptions.push(error),
        setStatus: (status) => {
          span.status = status;
        },
        end: () => void span.ends++,
      };
    },
  };
  return { tracer, spans };
}

const answering = (generation: Generation) => playing([async () => generation]);

/** The one span of a call. */
async function spanOf(
  asked: GenerateRequest,
  generation: Generation,
  content = false,
): Promise<SeenSpan | undefined> {
  const { tracer, spans } = tracing();
  const model = withTelemetry({ tracer, content })(answering(generation));
  await model.generate(asked, testCall().call);
  expect(spans).toHaveLength(1);
  return spans[0];
}

const full: GenerateRequest = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'secret question' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'look', input: { at: 1 } }] },
    { role: 'tool', content: 'seen', toolCallId: 'c' },
  ],
  samples: 2,
  maxTokens: 50,
  temperature: 0,
  topP: 0.9,
  topK: 40,
  seed: 7,
  stop: ['\n'],
  tools: [{ name: 'look', description: 'Looks.', input: { type: 'object' } }],
};

const answer: Generation = {
  completions: [
    { text: 'secret answer', finishReason: 'stop', reasoning: 'secret thought' },
    { text: '', finishReason: 'tool', toolCalls: [{ id: 'd', name: 'look', input: { at: 2 } }] },
  ],
  usage: {
    inputTokens: 11,
    outputTokens: 22,
    cachedTokens: 3,
    cacheWriteTokens: 4,
    reasoningTokens: 5,
  },
  answeredBy: 'playing-2026',
  requestId: 'r-1',
};

const known: Attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'test',
  'gen_ai.request.model': 'playing',
  'gen_ai.request.choice.count': 2,
  'gen_ai.request.max_tokens': 50,
  'gen_ai.request.temperature': 0,
  'gen_ai.request.top_p': 0.9,
  'gen_ai.request.top_k': 40,
  'gen_ai.request.seed': 7,
  'gen_ai.request.stop_sequences': ['\n'],
  'gen_ai.response.model': 'playing-2026',
  'gen_ai.response.id': 'r-1',
  'gen_ai.response.finish_reasons': ['stop', 'tool_call'],
  'gen_ai.usage.input_tokens': 11,
  'gen_ai.usage.output_tokens': 22,
  'gen_ai.usage.cache_read.input_tokens': 3,
  'gen_ai.usage.cache_creation.input_tokens': 4,
  'gen_ai.usage.reasoning.output_tokens': 5,
};

test('images are told as blobs, before what is said', async () => {
  const images = [{ mediaType: 'image/png', base64: 'Y2F0' }];
  const asked: GenerateRequest = { messages: [{ role: 'user', content: 'What is it?', images }] };
  const span = await spanOf(asked, { completions: [{ text: 'A cat.' }], usage: {} }, true);
  expect(JSON.parse(String(span?.attributes['gen_ai.input.messages']))).toEqual([
    {
      role: 'user',
      parts: [
        { type: 'blob', modality: 'image', mime_type: 'image/png', content: 'Y2F0' },
        { type: 'text', content: 'What is it?' },
      ],
    },
  ]);
});

describe('a span', () => {
  test('tells the request and the answer, and neither prompt nor text', async () => {
    const span = await spanOf(full, answer);

    expect(span).toEqual({
      name: 'chat playing',
      kind: 2,
      attributes: known,
      exceptions: [],
      ends: 1,
    });
    expect(JSON.stringify(span)).not.toContain('secret');
  });

  test('leaves out what was not said', async () => {
    const span = await spanOf(
      { ...request, samples: 1 },
      { completions: [{ text: '' }], usage: {} },
    );

    expect(Object.keys(span?.attributes ?? {})).toEqual([
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'gen_ai.request.model',
    ]);
  });

  test('holds prompt and answer where that is asked for', async () => {
    const { attributes = {} } = (await spanOf(full, answer, true)) ?? {};
    const {
      'gen_ai.input.messages': input,
      'gen_ai.output.messages': output,
      ...rest
    } = attributes;
    const { 'gen_ai.tool.definitions': tools, ...others } = rest;

    expect(others).toEqual(known);
    expect(JSON.parse(String(input))).toEqual([
      { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
      { role: 'user', parts: [{ type: 'text', content: 'secret question' }] },
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'c', name: 'look', arguments: { at: 1 } }],
      },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: 'seen' }] },
    ]);
    expect(JSON.parse(String(output))).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'secret thought' },
          { type: 'text', content: 'secret answer' },
        ],
        finish_reason: 'stop',
      },
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'd', name: 'look', arguments: { at: 2 } }],
        finish_reason: 'tool_call',
      },
    ]);
    expect(JSON.parse(String(tools))).toEqual([
      { type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' } },
    ]);
  });

  test('is one of another operation for embeddings', async () => {
    const { tracer, spans } = tracing();
    const model: EmbeddingModel = {
      provider: 'test',
      modelId: 'embedding',
      embed: async () => ({ embeddings: [[1]], usage: { inputTokens: 4 } }),
    };
    await withTelemetry({ tracer })(model).embed(['a'], testCall().call);

    expect(spans[0]).toMatchObject({
      name: 'embeddings embedding',
      attributes: { 'gen_ai.operation.name': 'embeddings', 'gen_ai.usage.input_tokens': 4 },
    });
  });
});

describe('an error', () => {
  test.each([
    [failure('rate-limit'), 'rate-limit'],
    [new TypeError('No.'), 'TypeError'],
  ])('%s is on its span, which ends', async (error, type) => {
    const { tracer, spans } = tracing();
    const model = withTelemetry({ tracer })(playing([error]));

    expect(await rejectionOf(model.generate(request, testCall().call))).toBe(error);
    expect(spans).toMatchObject([
      {
        attributes: { 'error.type': type },
        exceptions: [error],
        status: { code: 2, message: error.message },
        ends: 1,
      },
    ]);
  });

  test('of an aborted call says so', async () => {
    const { tracer, spans } = tracing();
    const { call, abort, clock } = testCall();
    const model = withTelemetry({ tracer })(playing([], { latencyMs: 100 }));
    const done = rejectionOf(model.generate(request, call));
    await clock.advance(1);
    abort(new Error('Enough.'));
    await done;

    expect(spans).toMatchObject([{ attributes: { 'error.type': 'aborted' }, ends: 1 }]);
  });
});

describe('two around one model', () => {
  test('make one span, the outer one', async () => {
    const [outer, inner] = [tracing(), tracing()];
    const model = wrapModel(
      playing([failure('overloaded')]),
      withTelemetry({ tracer: outer.tracer }),
      withRetry({ baseMs: 0 }),
      withTelemetry({ tracer: inner.tracer }),
    );
    const { call, clock } = testCall();
    const done = model.generate(request, call);
    await clock.advance(0);
    await done;
    await model.generate(request, call);

    expect(outer.spans).toHaveLength(2);
    expect(inner.spans).toHaveLength(0);
  });

  test('behind a retry make one span an attempt', async () => {
    const { tracer, spans } = tracing();
    const model = wrapModel(
      playing([failure('overloaded')]),
      withRetry({ baseMs: 0 }),
      withTelemetry({ tracer }),
      withTelemetry({ tracer }),
    );
    const { call, clock } = testCall();
    const done = model.generate(request, call);
    await clock.advance(0);
    await done;

    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual([
      'overloaded',
      undefined,
    ]);
  });
});

test('a tracer that fails costs a span and not a call', async () => {
  const broken = (): never => {
    throw new Error('No telemetry.');
  };
  const span = { setAttributes: broken, recordException: broken, setStatus: broken, end: broken };
  const { call } = testCall();
  for (const startSpan of [broken, () => span]) {
    const model = withTelemetry({ tracer: { startSpan } })(playing([failure('auth')]));

    expect(await rejectionOf(model.generate(request, call))).toHaveProperty('kind', 'auth');
    expect((await model.generate(request, call)).completions).toEqual([{ text: 's0' }]);
  }
});

test('refuses what is no tracer', () => {
  expect(() => withTelemetry({ tracer: {} as TelemetryOptions['tracer'] })).toThrow(
    'Expected `tracer` to be an object with a method `startSpan`',
  );
});
