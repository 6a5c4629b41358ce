import { describe, expect, test, vi } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import { EspalierError } from '../../../src/base/errors.ts';
import { askedTierOf, mostCost } from '../../../src/calls/pricing.ts';
import { openGate } from '../../calls/harness.ts';
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
      "Expected `serviceTier` to be 'auto' or 'fast' or 'standard_only', got `\"flex\"`.",
    );
  });

  // `speed` of `MessageCreateParamsBase` and of `Usage` in `@anthropic-ai/sdk/resources/messages/messages.d.ts`.
  test('may be the fast mode, which the API calls a speed', async () => {
    const server = stub();
    const headers = { 'Anthropic-Beta': 'another-2026-01-01' };
    await ask(modelOn(server, { serviceTier: 'fast', headers }));
    const [{ body, headers: sent } = { body: {}, headers: new Headers() }] = server.seen;
    expect(body).toMatchObject({ speed: 'fast' });
    expect(body).not.toHaveProperty('service_tier');
    expect(sent.get('anthropic-beta')).toBe('another-2026-01-01,fast-mode-2026-02-01');
    const plain = stub();
    await ask(modelOn(plain));
    expect(plain.seen[0]?.body).not.toHaveProperty('speed');
    expect(plain.seen[0]?.headers.has('anthropic-beta')).toBe(false);
  });

  test.each([
    // 1,000 tokens read at $4 and 100 written at $20 for a million: $0.006.
    ['fast', 0.012],
    ['standard', 0.006],
  ])('asked for as fast and served as %s costs $%d', async (speed, usd) => {
    const usage = { input_tokens: 1000, output_tokens: 100, service_tier: 'standard', speed };
    const options = { model: 'claude-opus-5-5', serviceTier: 'fast' } as const;
    const { calls, ledger } = openGate();
    const model = modelOn(stub(message('fine', { usage })), options);
    await calls.generate(model, { messages: [{ role: 'user', content: 'hello' }] });
    expect(ledger.spend.usd).toBeCloseTo(usd, 12);
    const reserved = mostCost({ inputTokens: 1000, outputTokens: 100 }, model.price, 'fast').usd;
    // What is read may be put into the cache, which costs $5 for a million: 1,000 · 5 + 100 · 20, and that twice.
    expect(reserved).toBeCloseTo(0.014, 12);
    expect(askedTierOf(model)).toBe('fast');
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
