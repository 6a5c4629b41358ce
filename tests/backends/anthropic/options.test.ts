import { describe, expect, test } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import { EspalierError } from '../../../src/base/errors.ts';
import { ask, modelOn, stub } from './messages-server.ts';

describe('an option out of its range', () => {
  const model = 'claude-sonnet-5-5';
  const client = { messages: { create: async () => ({}), stream: () => ({}) as never } };

  test.each<[object, string]>([
    [
      { model: '' },
      'Expected `model` to be the name of a model, as in claude-sonnet-5-5, got `""`.',
    ],
    [{ apiKey: ' ' }, 'Expected `apiKey` to be a string that is not empty, got `"string"`.'],
    [{ timeoutMs: 0 }, 'Expected `timeoutMs` to be a finite number from 1 up, got `0`.'],
    [{ fetch: 1 }, 'Expected `fetch` to be a function, got `1`.'],
    [{ headers: { a: 1 } }, 'Expected `headers.a` to be a string, got `"number"`.'],
    [{ cache: '2h' }, "Expected `cache` to be '5m' or '1h', got `\"2h\"`."],
    [
      { effort: 'none' },
      "Expected `effort` to be 'low' or 'medium' or 'high' or 'xhigh' or 'max', got `\"none\"`.",
    ],
    [
      { thinking: { type: 'on' } },
      "Expected `thinking.type` to be 'adaptive' or 'between_tools' or 'enabled' or 'disabled', got `\"on\"`.",
    ],
    [
      { baseUrl: 'localhost:80' },
      'Expected `baseUrl` to be an address that begins with http:// or https://, got `"localhost:80"`.',
    ],
    [
      { client: {} },
      'Expected `client.messages` to be an object with a method `create`, got `undefined`.',
    ],
    [
      { client, apiKey: 'sk-secret-99' },
      'Expected `apiKey` to be absent beside `client`, which has its own, got both.',
    ],
    [{ retry: { attempts: 0 } }, 'Expected `attempts` to be an integer from 1 up, got `0`.'],
  ])('%j is refused', (options, sentence) => {
    const make = () => anthropic({ model, ...options });
    expect(make).toThrow(EspalierError);
    expect(make).toThrow(sentence);
  });

  test('of a request is refused before anything is sent', async () => {
    const server = stub();
    await expect(ask(modelOn(server), { maxTokens: 0 })).rejects.toThrow(
      'Expected `maxTokens` to be an integer from 1 up, got `0`.',
    );
    await expect(ask(modelOn(server), { messages: [] })).rejects.toMatchObject({ code: 'usage' });
    expect(server.seen).toEqual([]);
  });
});
