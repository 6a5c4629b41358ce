import { afterEach, describe, expect, test, vi } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import { ask, errorOf, message, modelOn, refusal, stub } from './messages-server.ts';

const name = 'anthropic:claude-sonnet-5-5';
const checkKey = 'Check the key and what it may use.';
const shorten = 'Shorten it, or lower `maxTokens`.';

interface Case {
  readonly status: number;
  readonly text: string;
  readonly kind: string;
  readonly retryable?: boolean;
  readonly sentence: string;
}

const cases: readonly Case[] = [
  {
    status: 401,
    text: 'invalid x-api-key',
    kind: 'auth',
    sentence: `${name} refuses the key (401: invalid x-api-key). ${checkKey}`,
  },
  {
    status: 403,
    text: 'Not yours',
    kind: 'auth',
    sentence: `${name} refuses the key (403: Not yours). ${checkKey}`,
  },
  {
    status: 402,
    text: 'Pay first',
    kind: 'credit',
    sentence: `${name} has no credit left (402: Pay first). Check the account's billing and its limits, then run again.`,
  },
  {
    status: 400,
    text: 'Your credit balance is too low to access the API.',
    kind: 'credit',
    sentence: `${name} has no credit left (400: Your credit balance is too low to access the API). Check the account's billing and its limits, then run again.`,
  },
  {
    status: 404,
    text: 'model: claude-sonnet-5-5',
    kind: 'bad-request',
    sentence: `${name} does not know this model or path (404: model: claude-sonnet-5-5). Check the model's name, and whether the base URL ends as the server expects, usually with /v1.`,
  },
  {
    status: 400,
    text: 'prompt is too long: 9 tokens > 8 maximum',
    kind: 'context-length',
    sentence: `The request does not fit the context of ${name} (400: prompt is too long: 9 tokens > 8 maximum). ${shorten}`,
  },
  {
    status: 400,
    text: 'input length and `max_tokens` exceed context limit: 9 + 9 > 8',
    kind: 'context-length',
    sentence: `The request does not fit the context of ${name} (400: input length and \`max_tokens\` exceed context limit: 9 + 9 > 8). ${shorten}`,
  },
  {
    status: 413,
    text: 'Request exceeds the maximum size',
    kind: 'context-length',
    sentence: `The request does not fit the context of ${name} (413: Request exceeds the maximum size). ${shorten}`,
  },
  {
    status: 400,
    text: 'messages: nonsense',
    kind: 'bad-request',
    sentence: `${name} does not understand the request (400: messages: nonsense).`,
  },
  {
    status: 429,
    text: 'Too fast',
    kind: 'rate-limit',
    retryable: true,
    sentence: `${name} allows no more requests for now (429: Too fast). Lower the concurrency, or wait.`,
  },
  {
    status: 500,
    text: 'Internal',
    kind: 'overloaded',
    retryable: true,
    sentence: `${name} is busy or not ready (500: Internal). Try again later.`,
  },
  {
    status: 529,
    text: 'Overloaded',
    kind: 'overloaded',
    retryable: true,
    sentence: `${name} is busy or not ready (529: Overloaded). Try again later.`,
  },
];

describe('an error', () => {
  test.each(cases)('of status $status, “$text”, is $kind', async (wanted) => {
    const { status, text, kind, retryable = false, sentence } = wanted;
    const error = await errorOf(ask(modelOn(stub(refusal(status, text)))));
    expect(error).toMatchObject({ kind, retryable, charged: false, requestId: 'req_9' });
    expect(error.message).toBe(sentence);
  });

  test('says how long the server asks to wait, and what it allows', async () => {
    const headers = {
      'retry-after': '7',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': new Date(Date.now() + 60_000).toISOString(),
    };
    const limits: unknown[] = [];
    const model = modelOn(stub(refusal(429, 'Too fast', { headers })));
    const error = await errorOf(ask(model, {}, { limits: (limit) => void limits.push(limit) }));
    expect(error.retryAfterMs).toBe(7000);
    expect(limits).toEqual([{ requests: { remaining: 0, resetMs: expect.any(Number) as number } }]);
  });

  test('of a reply in another shape says so', async () => {
    for (const reply of [
      [],
      {},
      { content: 'text' },
      { content: [{ type: 'text' }] },
      'hello',
      3,
    ]) {
      const error = await errorOf(ask(modelOn(stub(() => Response.json(reply)))));
      expect(error).toMatchObject({ kind: 'malformed', charged: true, retryable: true });
      expect(error.message).toBe(
        `${name} answered with something that is not a message of the Messages API.`,
      );
    }
  });

  test('that may pass is asked again, others are not', async () => {
    const busy = refusal(529, 'Overloaded');
    const passing = stub(busy, message('fine'));
    const { generation } = await ask(modelOn(passing, { retry: {} }));
    expect(generation.completions[0]?.text).toBe('fine');
    expect(passing.seen).toHaveLength(2);
    const lasting = stub(refusal(401, 'No'), message('fine'));
    await errorOf(ask(modelOn(lasting, { retry: {} })));
    expect(lasting.seen).toHaveLength(1);
  });
});

describe('without a key', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('it says where one is to be put', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', undefined);
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', undefined);
    vi.stubEnv('HOME', '/nonexistent');
    vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
    const server = stub();
    const model = anthropic({ model: 'claude-sonnet-5-5', fetch: server.fetch, retry: false });
    await expect(ask(model)).rejects.toMatchObject({
      ...{ code: 'usage', scope: 'run' },
      message: `${name} has no key. Set ANTHROPIC_API_KEY, or name another variable for the key.`,
    });
    expect(server.seen).toEqual([]);
  });

  test('the one of the environment is used', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'from-the-environment');
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://elsewhere:1');
    const server = stub();
    await ask(anthropic({ model: 'claude-sonnet-5-5', fetch: server.fetch, retry: false }));
    expect(server.seen[0]?.headers.get('authorization')).toBe('Bearer from-the-environment');
    expect(server.seen[0]?.url).toBe('http://elsewhere:1/v1/messages');
  });
});
