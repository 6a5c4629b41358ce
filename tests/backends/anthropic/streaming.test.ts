import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Emulator, type EmulatorOptions, emulator } from '../../../src/testing/index.ts';
import { ask, message, messageEvents, modelOn, streamOf, stub, user } from './messages-server.ts';

describe('a long answer', () => {
  const events = messageEvents(['Long ', 'enough.']);

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

describe('an answer that its server writes on behind a stop text', () => {
  const open: Emulator[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });

  async function trickling(answer: EmulatorOptions['answer'], everyMs = 5) {
    const dialect = 'anthropic';
    const faults = [{ kind: 'trickles', everyMs } as const];
    const models = ['claude-sonnet-5-5'];
    const server = await emulator({ dialect, models, faults, ...(answer && { answer }) });
    open.push(server);
    const { fetch } = globalThis;
    return { server, model: modelOn({ fetch, seen: [] }, { baseUrl: server.url }) };
  }

  test('is left as soon as one has come', async () => {
    const { server, model } = await trickling(() => `One.\n${'more '.repeat(2000)}`);
    const { generation } = await ask(model, { stop: ['\n'], maxTokens: 4000 });
    expect(generation.completions).toEqual([{ text: 'One.', finishReason: 'stop' }]);
    // "One." and the line end have five bytes: so many tokens at most.
    expect(generation.usage.outputTokens).toBe(5);
    expect(generation.usage.inputTokens).toBe(server.account.inputTokens);
    // Ten seconds are left of it.
    await vi.waitFor(() => expect(server.account.aborted).toBe(1));
    expect(server.account.inFlight).toBe(0);
  });

  test('is cut where the first of several begins, in whatever pieces they come', async () => {
    const pieces = ['One.', '\n', '\t', ' \nTwo', '\t\t'];
    const stop = ['\t \n', '\n\n'];
    const server = stub(streamOf(messageEvents(pieces)));
    const { generation } = await ask(modelOn(server), { stop });
    expect(generation.completions).toEqual([{ text: 'One.\n', finishReason: 'stop' }]);
    // As far as the piece with the end of the stop text: 4 + 1 + 1 + 5 bytes.
    expect(generation.usage).toMatchObject({ inputTokens: 5, outputTokens: 11 });
  });

  test('counts no more tokens than it was allowed', async () => {
    const server = stub(streamOf(messageEvents(['Many words in one piece.\n', 'More.'])));
    const { generation } = await ask(modelOn(server), { stop: ['\n'], maxTokens: 6 });
    expect(generation.usage.outputTokens).toBe(6);
  });

  test('goes on behind the beginning that the model was told, and repeats', async () => {
    const messages = [user('Why?'), { role: 'assistant', content: 'A.\nSo' } as const];
    const server = stub(streamOf(messageEvents(['A', '.\nSo', ' B.', '\n', 'C.'])));
    const { generation } = await ask(modelOn(server), { messages, stop: ['\n'] });
    expect(generation.completions).toEqual([{ text: ' B.', finishReason: 'stop' }]);
    expect(generation.usage.outputTokens).toBe(9);
  });

  test('is read to its end where the model has thought, which is charged as it is told', async () => {
    const { server, model } = await trickling(() => ({ reasoning: 'Hm.', text: 'One.\nTwo.' }), 1);
    const { generation } = await ask(model, { stop: ['\n'] });
    expect(generation.completions).toMatchObject([{ text: 'One.', reasoning: 'Hm.' }]);
    expect(generation.usage.outputTokens).toBe(server.account.outputTokens);
    expect(server.account.aborted).toBe(0);
  });

  test('is not streamed where it may call tools behind what it says', async () => {
    const server = stub(message('One.\nTwo.'));
    const tools = [{ name: 'add', input: { type: 'object' } }];
    const { generation } = await ask(modelOn(server), { stop: ['\n'], tools });
    expect(server.seen[0]?.body['stream']).toBeUndefined();
    expect(generation.completions[0]?.text).toBe('One.');
  });

  test('may take longer than its time, as long as more of it comes', async () => {
    // Some 130 pieces, each 10 ms after the one before.
    const { server } = await trickling(() => 'word '.repeat(60), 10);
    const { fetch } = globalThis;
    const model = modelOn({ fetch, seen: [] }, { baseUrl: server.url, timeoutMs: 400 });
    const start = performance.now();
    const { generation } = await ask(model, { maxTokens: 20_000 });
    expect(performance.now() - start).toBeGreaterThan(400);
    expect(generation.completions[0]?.text).toBe('word '.repeat(60));
  });
});
