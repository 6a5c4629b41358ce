import { APICallError, LoadAPIKeyError, UnsupportedFunctionalityError } from 'ai-sdk-provider-3';
import { describe, expect, test } from 'vitest';
import { type AiSdkModel, aiSdk } from '../../../src/backends/index.ts';
import { EspalierError } from '../../../src/base/errors.ts';
import { adapted, answer, ask, fake } from './fake-model.ts';

const name = 'acme.chat:large';

function refused(statusCode: number | undefined, message: string, changes: object = {}) {
  return new APICallError({
    message,
    url: 'https://acme.example/v1',
    requestBodyValues: {},
    ...(statusCode !== undefined && { statusCode }),
    ...changes,
  });
}

describe('an error', () => {
  test('of the server is told as what it is', async () => {
    const error = refused(429, 'Too fast', {
      responseHeaders: { 'retry-after': '3', 'x-request-id': 'req_4' },
      data: { error: { message: 'Slow down.', type: 'rate_limit' } },
    });
    await expect(ask(adapted(fake(error)))).rejects.toMatchObject({
      kind: 'rate-limit',
      status: 429,
      retryAfterMs: 3000,
      requestId: 'req_4',
      charged: false,
      message: `${name} allows no more requests for now (429: Slow down). Lower the concurrency, or wait.`,
    });
  });

  test.each([
    [refused(401, 'Unauthorized'), 'auth', false],
    [refused(404, 'No such model'), 'bad-request', false],
    [refused(503, 'Busy', { responseBody: '<html>Busy</html>' }), 'overloaded', false],
    [
      refused(400, 'Bad', { responseBody: '{"error":{"message":"maximum context length is 8"}}' }),
      'context-length',
      false,
    ],
    [refused(200, 'Invalid JSON response'), 'malformed', true],
    [
      refused(undefined, 'Cannot connect to API', {
        cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }),
      }),
      'network',
      false,
    ],
    [new DOMException('too long', 'TimeoutError'), 'timeout', true],
    [new Error('something odd'), 'malformed', true],
  ])('%s is %s', async (error, kind, charged) => {
    await expect(ask(adapted(fake(error)))).rejects.toMatchObject({ kind, charged });
  });

  test.each([
    [
      new LoadAPIKeyError({ message: 'Acme API key is missing.' }),
      {
        code: 'usage',
        scope: 'run',
        message: `${name} cannot be called: Acme API key is missing.`,
      },
    ],
    [
      new UnsupportedFunctionalityError({ functionality: 'tools' }),
      {
        kind: 'capability',
        charged: false,
        message: `${name} cannot be called: 'tools' functionality not supported.`,
      },
    ],
  ])('before anything was sent is free: %s', async (error, told) => {
    await expect(ask(adapted(fake(error)))).rejects.toMatchObject(told);
  });
});

describe('an error about the reply', () => {
  test.each([
    [undefined],
    ['text'],
    [{}],
    [{ content: 'text' }],
    [{ content: [{ type: 'text' }] }],
  ])('about a result in another shape: %j', async (result) => {
    const model: AiSdkModel = { ...fake(), doGenerate: async () => result };
    await expect(ask(adapted(model))).rejects.toMatchObject({
      kind: 'malformed',
      message: `${name} answered with something that is not a result of the AI SDK.`,
    });
  });

  test('about a tool call that cannot be read', async () => {
    const content = [{ type: 'tool-call', toolCallId: 't', toolName: 'add', input: '{"a":' }];
    await expect(ask(adapted(fake(answer('', { content }))))).rejects.toMatchObject({
      kind: 'malformed',
      message: `${name} answered with a tool call whose input is not JSON.`,
    });
  });
});

describe('a failed call', () => {
  test('that may pass is asked again', async () => {
    const model = fake(refused(503, 'Busy'), answer('fine'));
    const { generation } = await ask(aiSdk(model));
    expect(generation.completions[0]?.text).toBe('fine');
    expect(model.calls).toHaveLength(2);
  });

  test('tells no key', async () => {
    const key = 'sk-0123456789abcdef';
    for (const error of [refused(401, `Wrong key ${key}`), new Error(`Bearer ${key} is odd`)]) {
      await expect(ask(adapted(fake(error)))).rejects.toSatisfy(
        (told: Error) => !`${told.message}${told.stack}${told.cause}`.includes(key),
      );
    }
  });
});

describe('a model that does not answer', () => {
  test('is left in time', async () => {
    const model: AiSdkModel = { ...fake(), doGenerate: () => new Promise(() => {}) };
    await expect(ask(adapted(model, { timeoutMs: 20 }))).rejects.toMatchObject({
      kind: 'timeout',
      charged: true,
    });
  });

  test('is left with the caller, and told', async () => {
    let heard: AbortSignal | undefined;
    const controller = new AbortController();
    const model: AiSdkModel = {
      ...fake(),
      doGenerate: (options) => {
        heard = (options as { abortSignal: AbortSignal }).abortSignal;
        return new Promise(() => {});
      },
    };
    const asking = ask(adapted(model), {}, { signal: controller.signal });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(asking).rejects.toBe(reason);
    expect(heard?.aborted).toBe(true);
  });
});

describe('what is no model of the AI SDK', () => {
  test.each<[unknown, string]>([
    [
      'openai/gpt-6-luna',
      'Expected `model` to be a model of the AI SDK, as in openai(\'gpt-6-luna\'), got `"openai/gpt-6-luna"`.',
    ],
    [null, "Expected `model` to be a model of the AI SDK, as in openai('gpt-6-luna'), got `null`."],
    [
      { specificationVersion: 'v1' },
      "Expected `model.specificationVersion` to be 'v2', 'v3' or 'v4', got `\"v1\"`.",
    ],
    [
      { specificationVersion: 'v3' },
      'Expected `model.doGenerate` to be a function, got `undefined`.',
    ],
  ])('%j is refused', (model, sentence) => {
    const make = () => aiSdk(model as AiSdkModel);
    expect(make).toThrow(EspalierError);
    expect(make).toThrow(sentence);
  });

  test('is refused with options out of range', () => {
    expect(() => aiSdk(fake(), { timeoutMs: 0 })).toThrow(
      'Expected `timeoutMs` to be a finite number from 1 up, got `0`.',
    );
  });
});
