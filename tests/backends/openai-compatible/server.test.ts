import { describe, expect, test } from 'vitest';
import {
  type OpenAiCompatibleOptions,
  openaiCompatible,
  type ServerPreset,
} from '../../../src/backends/index.ts';
import { emulator } from '../../../src/testing/emulator/emulator.ts';
import {
  chatReply,
  notedCall,
  rejectionOf,
  type StubReply,
  type StubRequest,
  stubFetch,
} from '../transport/stub-fetch.ts';

/** What a look at a server finds. */
function probeServer({ signal, ...options }: OpenAiCompatibleOptions & { signal?: AbortSignal }) {
  return openaiCompatible(options).server(signal);
}

const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 8 } as const;

/** A server that answers these paths, and 404 for all others. */
function serving(paths: Readonly<Record<string, StubReply>>) {
  return stubFetch(({ url }: StubRequest) => {
    const { pathname } = new URL(url);
    return paths[pathname] ?? { status: 404, json: { error: { message: 'Not here.' } } };
  });
}

const list = (...models: readonly object[]): StubReply => ({ json: { data: models } });
const pathsOf = (requests: readonly StubRequest[]) =>
  requests.map(({ url }) => new URL(url).pathname);

test.each([502, 504, 408])(
  'a look that a server answers with %i charges nobody',
  async (status) => {
    const { fetch } = serving({ '/v1/models': { status, json: { error: { message: 'No.' } } } });
    const model = openaiCompatible({ baseUrl: 'http://host', fetch, retry: false });
    const error = await rejectionOf(model.generate(request, notedCall()));
    expect(error).toMatchObject({ code: 'model-call', status, charged: false });
  },
);

describe('a server that is looked at', () => {
  test.each<[ServerPreset, Readonly<Record<string, StubReply>>, number | undefined]>([
    [
      'vllm',
      {
        '/v1/models': list({ id: 'm-1', owned_by: 'vllm', max_model_len: 4096 }),
        '/version': { json: { version: '0.12.0' } },
      },
      4096,
    ],
    [
      'sglang',
      {
        '/v1/models': list({ id: 'm-1', owned_by: 'sglang', max_model_len: 2048 }),
        '/get_model_info': { json: { model_path: 'm-1' } },
        '/version': { json: { version: '1' } },
      },
      2048,
    ],
    [
      'llama-server',
      {
        '/v1/models': list({ id: 'm-1', owned_by: 'llamacpp', meta: { n_ctx_train: 8192 } }),
        '/props': { json: { total_slots: 4, default_generation_settings: { n_ctx: 512 } } },
      },
      512,
    ],
    [
      'ollama',
      {
        '/v1/models': list({ id: 'm-1', owned_by: 'library' }),
        '/api/version': { json: { version: '0.35.0' } },
      },
      undefined,
    ],
    ['lm-studio', { '/v1/models': list({ id: 'm-1', owned_by: 'organization_owner' }) }, undefined],
    ['generic', { '/v1/models': list({ id: 'm-1', owned_by: 'somebody' }) }, undefined],
  ])('is known for %s', async (preset, paths, contextLength) => {
    const { fetch } = serving(paths);
    const models = [{ id: 'm-1', ...(preset !== 'llama-server' && { contextLength }) }];
    expect(await probeServer({ baseUrl: 'http://host/', fetch })).toEqual({
      preset,
      baseUrl: 'http://host/v1',
      models: JSON.parse(JSON.stringify(models)) as unknown,
      ...(contextLength !== undefined && { contextLength }),
    });
  });

  test.each<[ServerPreset]>([['vllm'], ['sglang'], ['llama-server'], ['ollama']])(
    'is known for %s, as it is emulated',
    async (dialect) => {
      const server = await emulator({ dialect: dialect as 'vllm', contextLength: 777 });
      const found = await probeServer({ baseUrl: server.url });
      await server.close();
      expect(found).toMatchObject({ preset: dialect, baseUrl: `${server.url}/v1` });
      if (dialect !== 'ollama') expect(found.contextLength).toBe(777);
    },
  );
});

describe('a look at a server', () => {
  test('is not deceived by one that answers every path with success', async () => {
    const { fetch } = stubFetch(({ url }) =>
      url.endsWith('/v1/models')
        ? list({ id: 'm-1', owned_by: 'organization_owner' })
        : { json: { error: 'Unexpected endpoint or method.' } },
    );
    expect(await probeServer({ baseUrl: 'http://host', fetch })).toMatchObject({
      preset: 'lm-studio',
    });
  });

  test('sends the key along', async () => {
    const { fetch, requests } = serving({ '/v1/models': list({ id: 'm-1' }) });
    await probeServer({ baseUrl: 'http://host', apiKey: 'sesame', fetch });
    for (const { headers } of requests) expect(headers['authorization']).toBe('Bearer sesame');
  });

  test('can be abandoned', async () => {
    const reason = new Error('changed my mind');
    const { fetch } = serving({});
    const looking = probeServer({
      baseUrl: 'http://host',
      fetch,
      signal: AbortSignal.abort(reason),
    });
    expect(await rejectionOf(looking)).toBe(reason);
  });
});

describe('an address', () => {
  const chat = { '/v1/chat/completions': chatReply('a'), '/chat/completions': chatReply('a') };

  test.each<[string, ServerPreset | undefined, readonly string[]]>([
    ['http://host/v1', 'vllm', ['/v1/chat/completions']],
    ['http://host/v1/', 'generic', ['/v1/chat/completions']],
    ['http://host', 'vllm', ['/v1/chat/completions']],
    ['http://host/v1/chat/completions', 'generic', ['/v1/chat/completions']],
    ['http://host', 'generic', ['/v1/models', '/v1/chat/completions']],
  ])('%s of %s is asked no more than is needed', async (baseUrl, preset, expected) => {
    const { fetch, requests } = serving({ ...chat, '/v1/models': list({ id: 'm-1' }) });
    const model = openaiCompatible({
      ...{ baseUrl, fetch, model: 'm-1', retry: false },
      ...(preset !== undefined && { preset }),
    });
    for (let calls = 0; calls < 2; calls++) await model.generate(request, notedCall());
    expect(pathsOf(requests)).toEqual([...expected, expected.at(-1)]);
  });

  test('without /v1 is taken where that is where the server is', async () => {
    const { fetch, requests } = serving({ ...chat, '/models': list({ id: 'm-1' }) });
    const model = openaiCompatible({
      preset: 'generic',
      baseUrl: 'http://host',
      model: 'm-1',
      fetch,
      retry: false,
    });
    await model.generate(request, notedCall());
    expect(pathsOf(requests)).toEqual(['/v1/models', '/models', '/chat/completions']);
  });

  test('with a path of its own is taken as it is where no models are listed', async () => {
    const { fetch, requests } = serving({ '/my/way/chat/completions': chatReply('a') });
    const model = openaiCompatible({
      preset: 'generic',
      baseUrl: 'http://host/my/way',
      model: 'm-1',
      fetch,
      retry: false,
    });
    await model.generate(request, notedCall());
    expect(pathsOf(requests)).toEqual([
      '/my/way/v1/models',
      '/my/way/models',
      '/my/way/chat/completions',
    ]);
  });

  test('where nothing is says what is missing', async () => {
    const { fetch } = serving({});
    const model = openaiCompatible({ baseUrl: 'http://host', model: 'm-1', fetch, retry: false });
    expect(await rejectionOf(model.generate(request, notedCall()))).toMatchObject({
      kind: 'bad-request',
      retryable: false,
      message:
        'openai-compatible:m-1 finds no OpenAI-compatible server at http://host: neither /v1/models nor /models is there. Check the base URL: as a rule it ends with /v1.',
    });
  });

  test('where a key is refused is there', async () => {
    const { fetch } = stubFetch({ status: 401, json: { error: { message: 'No key.' } } });
    const model = openaiCompatible({
      preset: 'generic',
      baseUrl: 'http://host',
      fetch,
      retry: false,
    });
    expect((await rejectionOf(model.generate(request, notedCall()))).message).toBe(
      'openai-compatible:default refuses the key (401: No key). Check the key and what it may use.',
    );
  });
});

describe('a model that is not named', () => {
  test('is the first that the server lists, looked up once', async () => {
    const { fetch, requests } = serving({
      '/v1/models': list({ id: 'one' }, { id: 'two' }),
      '/v1/chat/completions': chatReply('a'),
    });
    const model = openaiCompatible({ preset: 'vllm', baseUrl: 'http://host', fetch, retry: false });
    const answers = await Promise.all([1, 2, 3].map(() => model.generate(request, notedCall())));
    expect(pathsOf(requests).filter((path) => path === '/v1/models')).toHaveLength(1);
    expect(requests.at(-1)?.body).toMatchObject({ model: 'one' });
    expect(answers[0]?.answeredBy).toBe('served-1');
    expect(model.modelId).toBe('default');
  });

  test('has to be there', async () => {
    const { fetch } = serving({ '/v1/models': list() });
    const model = openaiCompatible({ preset: 'vllm', baseUrl: 'http://host', fetch, retry: false });
    expect((await rejectionOf(model.generate(request, notedCall()))).message).toBe(
      'vllm:default at http://host/v1 lists no model. Load one there, or name one with the option `model`.',
    );
  });

  test('is looked up again where that failed', async () => {
    const { fetch } = stubFetch(
      { status: 503, json: { error: { message: 'Loading model' } } },
      list({ id: 'one' }),
      chatReply('a'),
    );
    const model = openaiCompatible({
      preset: 'llama-server',
      baseUrl: 'http://host',
      fetch,
      retry: false,
    });
    expect(await rejectionOf(model.generate(request, notedCall()))).toMatchObject({
      kind: 'overloaded',
      retryable: true,
    });
    expect((await model.generate(request, notedCall())).completions).toHaveLength(1);
  });
});

describe('a look that several calls wait for', () => {
  test('goes on while one of them is left, and ends with the last', async () => {
    const server = await emulator({ dialect: 'vllm', latencyMs: 60_000 });
    let left: (() => void) | undefined;
    const lookedAt = new Promise<void>((resolve) => {
      left = resolve;
    });
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => {
          left?.();
          reject(init.signal?.reason);
        });
      });
    const model = openaiCompatible({ baseUrl: server.url, fetch, retry: false });
    const [one, two] = [new AbortController(), new AbortController()];
    const asking = [one, two].map(({ signal }) =>
      rejectionOf(model.generate(request, notedCall({ signal }))),
    );
    let isOver = false;
    void lookedAt.then(() => {
      isOver = true;
    });
    one.abort(new Error('first'));
    expect((await asking[0])?.message).toBe('first');
    expect(isOver).toBe(false);
    two.abort(new Error('second'));
    expect((await asking[1])?.message).toBe('second');
    await lookedAt;
    await server.close();
  });
});

describe('a kind of server that is not named', () => {
  test('is found out at the first use, and its capabilities with it', async () => {
    const server = await emulator({ dialect: 'llama-server' });
    const model = openaiCompatible({ baseUrl: server.url, retry: false });
    expect(model.capabilities).toEqual({
      stop: true,
      temperature: true,
      continuation: false,
      topK: false,
    });
    expect(model.price).toBeUndefined();
    const { completions } = await model.generate({ ...request, samples: 2 }, notedCall());
    expect(completions).toHaveLength(2);
    expect(model.capabilities).toMatchObject({ n: true, seed: true, continuation: true });
    expect(await model.server()).toMatchObject({ preset: 'llama-server', contextLength: 131_072 });
    await server.close();
  });
});

test('what a server of one`s own costs is nothing, unless somebody says so', () => {
  expect(openaiCompatible({ preset: 'ollama' }).price).toEqual({ input: 0, output: 0 });
  const price = { input: 1, output: 2 };
  expect(openaiCompatible({ preset: 'ollama', price }).price).toEqual(price);
  expect(openaiCompatible({ preset: 'generic', baseUrl: 'http://host' }).price).toBeUndefined();
});
