import { describe, expect, test } from 'vitest';
import { ask, message, modelOn, stub } from './messages-server.ts';

describe('a long answer', () => {
  /** The events of a streamed message, as the API sends them. */
  const events: readonly object[] = [
    {
      type: 'message_start',
      message: message('', {
        content: [],
        stop_reason: null,
        usage: { input_tokens: 5, output_tokens: 1 },
      }),
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Long ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'enough.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ];

  function streamOf(parts: readonly object[]) {
    return () =>
      new Response(
        parts
          .map(
            (data) =>
              `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`,
          )
          .join(''),
        { headers: { 'content-type': 'text/event-stream', 'request-id': 'req_3' } },
      );
  }

  test('comes as a stream', async () => {
    const server = stub(streamOf(events));
    const { generation } = await ask(modelOn(server), { maxTokens: 64_000 });
    expect(server.seen[0]?.body).toMatchObject({ stream: true, max_tokens: 64_000 });
    expect(generation).toEqual({
      completions: [{ text: 'Long enough.', finishReason: 'stop' }],
      usage: { inputTokens: 5, outputTokens: 7, cachedTokens: 0, cacheWriteTokens: 0 },
      answeredBy: 'claude-sonnet-5-5-20261001',
      requestId: 'req_3',
    });
  });

  test('of 16384 tokens does not', async () => {
    const server = stub();
    await ask(modelOn(server), { maxTokens: 16_384 });
    expect(server.seen[0]?.body['stream']).toBeUndefined();
  });

  test('that fails on the way has been paid for', async () => {
    const failure = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const server = stub(streamOf([...events.slice(0, 3), failure]));
    await expect(ask(modelOn(server), { maxTokens: 64_000 })).rejects.toMatchObject({
      kind: 'overloaded',
      charged: true,
      retryable: true,
      message:
        'anthropic:claude-sonnet-5-5 is busy or not ready (529: Overloaded). Try again later.',
    });
  });

  test('that ends in the middle cannot be read', async () => {
    const server = stub(streamOf(events.slice(0, 3)));
    await expect(ask(modelOn(server), { maxTokens: 64_000 })).rejects.toMatchObject({
      kind: 'malformed',
      charged: true,
    });
  });
});
