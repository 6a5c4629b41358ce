import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ask, errorOf, modelOn, refusal, stub } from './messages-server.ts';

describe('a key', () => {
  const key = `sk-ant-${randomBytes(16).toString('hex')}`;
  // With a slash or a port at its beginning it would be the path of an address that can be read.
  const odd = `k${randomBytes(12).toString('base64')}`;

  /** Whatever a person or a log may get to see of an error. */
  function everything(error: unknown): string {
    const { stack, cause } = error as Error;
    return [
      inspect(error, { depth: 9, showHidden: true }),
      stack,
      inspect(cause),
      JSON.stringify(error),
    ].join('\n');
  }

  test.each([key, odd])('is in no error and no warning: %#', async (apiKey) => {
    const echo = (status: number) => refusal(status, `I know your key ${apiKey}!`);
    const replies = [401, 400, 404, 429, 500, 529].map(echo);
    const faults = [
      () => Promise.reject(new TypeError(`fetch failed for ${apiKey}`)),
      () => new Response(`{"key": "${apiKey}`, { headers: { 'content-type': 'application/json' } }),
      () => Response.json({ content: [{ type: 'text', key: apiKey }] }),
    ];
    for (const reply of [...replies, ...faults]) {
      const error = await errorOf(ask(modelOn(stub(reply), { apiKey })));
      expect(everything(error)).not.toContain(apiKey);
    }
  });

  test('is not in the error about a key that cannot be sent', async () => {
    const apiKey = `${odd}\nmore`;
    const error = await errorOf(ask(modelOn(stub(), { apiKey })));
    expect(everything(error)).not.toContain(odd);
  });

  test('in a header is in no error either', async () => {
    const headers = { 'proxy-authorization': `Basic ${odd}` };
    const reply = refusal(407, `Basic ${odd} is wrong, yes, ${odd}`);
    const error = await errorOf(ask(modelOn(stub(reply), { headers })));
    expect(everything(error)).not.toContain(odd);
  });

  test('is not in the model, nor in an error about an option', () => {
    const model = modelOn(stub(), { apiKey: key });
    expect(JSON.parse(JSON.stringify(model))).toEqual({
      provider: 'anthropic',
      modelId: 'claude-sonnet-5-5',
      capabilities: model.capabilities,
      price: model.price,
      settings: {},
      leastPrefixTokens: 512,
    });
    expect(inspect(model, { depth: 9, showHidden: true, getters: true })).not.toContain(key);
    for (const baseUrl of [`http://me:${odd}@host/v1`, `ftp://${odd}@host`, `${odd}@host`]) {
      const make = () => modelOn(stub(), { baseUrl });
      expect(make).toThrow('Expected `baseUrl` to be an address');
      expect(make).not.toThrow(odd);
    }
  });
});
