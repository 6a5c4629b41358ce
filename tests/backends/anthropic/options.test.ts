import { describe, expect, test, vi } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import { EspalierError } from '../../../src/base/errors.ts';
import { ask, message, modelOn, stub } from './messages-server.ts';

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

describe('a tier of service', () => {
  test.each([
    [{ service_tier: 'priority' }, 'priority'],
    [{ service_tier: 'standard', speed: 'standard' }, 'standard'],
    // What is fast is billed so whatever the tier.
    [{ service_tier: 'standard', speed: 'fast' }, 'fast'],
    [{}, undefined],
  ])('is told as it was served: %j', async (told, serviceTier) => {
    const usage = { input_tokens: 12, output_tokens: 3, ...told };
    const { generation } = await ask(modelOn(stub(message('fine', { usage }))));
    expect(generation.usage.serviceTier).toBe(serviceTier);
  });

  test('is asked for', async () => {
    const server = stub();
    const model = modelOn(server, { serviceTier: 'standard_only' });
    await ask(model);
    expect(server.seen[0]?.body['service_tier']).toBe('standard_only');
    expect(model.settings).toEqual({ serviceTier: 'standard_only' });
    expect(() => modelOn(server, { serviceTier: 'flex' as never })).toThrow(
      "Expected `serviceTier` to be 'auto' or 'standard_only', got `\"flex\"`.",
    );
  });
});

test('the variable of the key may be another one', async () => {
  vi.stubEnv('MY_API_KEY', 'a-key-of-mine');
  const { fetch, seen } = stub();
  const keyVariable = 'MY_API_KEY';
  await ask(anthropic({ model: 'claude-sonnet-5-5', keyVariable, fetch, retry: false }));
  const { headers } = seen[0] ?? { headers: new Headers() };
  expect([headers.get('authorization'), headers.get('x-api-key')].join()).toContain(
    'a-key-of-mine',
  );
  vi.unstubAllEnvs();
});
