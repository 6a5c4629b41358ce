import { afterEach, describe, expect, test, vi } from 'vitest';
import { openaiCompatible } from '../../../src/backends/index.ts';
import { languageModel } from '../../../src/backends/language-model.ts';
import { chatReply, notedCall, rejectionOf, stubFetch } from '../transport/stub-fetch.ts';

afterEach(() => void vi.unstubAllEnvs());

const key = 'Zx81.nobody.may.see.this';
const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 8 } as const;

describe('an extra body', () => {
  const vllm = { preset: 'vllm', baseUrl: 'http://host/v1', model: 'm-1' } as const;

  test('is sent with each request, and counts among the settings', async () => {
    const extraBody = { service_tier: 'flex', chat_template_kwargs: { enable_thinking: false } };
    const { fetch, requests } = stubFetch(chatReply('a'));
    const own = openaiCompatible({ ...vllm, fetch, extraBody });
    await own.generate(request, notedCall());
    expect(requests[0]?.body).toEqual({
      ...{ model: 'm-1', messages: request.messages, max_tokens: 8 },
      ...extraBody,
    });
    expect(own.settings).toEqual({ extraBody, baseUrl: 'http://host/v1' });
  });

  test('stands in front of what switches off sampling, and behind what a request says', async () => {
    const { fetch, requests } = stubFetch(chatReply('a'));
    const extraBody = { min_p: 0.1, continue_final_message: false };
    const messages = [...request.messages, { role: 'assistant', content: 'Well' }] as const;
    await openaiCompatible({ ...vllm, fetch, extraBody }).generate(
      { ...request, messages, temperature: 1 },
      notedCall(),
    );
    expect(requests[0]?.body).toMatchObject({ min_p: 0.1, top_p: 1, continue_final_message: true });
  });

  test.each([
    [
      { max_tokens: 9 },
      'Expected `extraBody` to be without `max_tokens`, which each request sets: ask for it there.',
    ],
    [{ a: 1n }, 'Expected `extraBody` to be an object of JSON.'],
    [[], 'Expected `extraBody` to be an object of JSON.'],
  ])('%# is refused', (extraBody, sentence) => {
    expect(() => openaiCompatible({ ...vllm, extraBody: extraBody as never })).toThrow(sentence);
  });
});

describe('the variable of a key', () => {
  test('holds the key of a server at an address', async () => {
    vi.stubEnv('MY_API_KEY', key);
    const { fetch, requests } = stubFetch(chatReply('a'));
    const options = { fetch, keyVariable: 'MY_API_KEY', retry: false } as const;
    await using named = await languageModel('vllm:https://host.example/v1#m-1', options);
    await named.generate(request, notedCall());
    expect(requests[0]?.headers['authorization']).toBe(`Bearer ${key}`);
    vi.stubEnv('MY_API_KEY', '');
    expect((await rejectionOf(named.generate(request, notedCall()))).message).toBe(
      'vllm:m-1 has no key. Set MY_API_KEY, or name another variable for the key.',
    );
  });

  test.each(['sk-abcdef123456', 'gsk_abcdef', 'AKIAIOSFODNN7EXAMPLE', '', 'A B', 7])(
    '%j is no name, and not shown',
    (keyVariable) => {
      const make = () => openaiCompatible({ preset: 'vllm', keyVariable: keyVariable as never });
      expect(make).toThrow(
        'Expected `keyVariable` to be the name of an environment variable in capital letters, such as MY_API_KEY, got something else, which may be a key and is not shown.',
      );
    },
  );
});
