import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { aiSdk, anthropic, decisions, openai, openaiCompatible } from '../../src/backends/index.ts';
import { memoryJournal, withTelemetry, wrapModel } from '../../src/calls/index.ts';
import { type LanguageModel, mcts, treeToJson } from '../../src/index.ts';
import { plainContext, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf } from '../support/search-of.ts';

type Fetch = typeof globalThis.fetch;

/** No shape that anybody would take for a key. */
const secret = `Zq${randomBytes(12).toString('hex')}`;
const account = `me:${secret}`;

/** What a server may make of a credential. */
const forms: Readonly<Record<string, string>> = {
  plain: secret,
  base64: Buffer.from(secret).toString('base64'),
  'base64 of more': Buffer.from(`x${account}`).toString('base64'),
  'base64 for addresses': Buffer.from(`xy${account}??>`).toString('base64url'),
};

/** Where none of its forms may stand, not even a long part of one. */
function expectUntold(value: unknown): void {
  const shown = typeof value === 'string' ? value : inspect(value, { depth: 12, showHidden: true });
  for (const [, form] of Object.entries(forms)) {
    for (let start = 0; start + 16 <= form.length; start += 4) {
      expect(shown).not.toContain(form.slice(start, start + 16));
    }
  }
}

/** A server of every dialect that puts a text wherever it can, and a usage that it has. */
function echoing(said: string, name = ''): Fetch {
  return async (input) => {
    const { pathname } = new URL(String(input));
    const headers = { 'x-request-id': said, 'request-id': said };
    const number = hashedAnswer({ messages: [{ content: pathname }] });
    const logprobs = [...said].map((token) => ({ token, logprob: -1, top_logprobs: [] }));
    if (pathname.endsWith('/messages') || name === 'anthropic') {
      const content = [
        { type: 'thinking', thinking: `I know ${said}.` },
        { type: 'text', text: `${number} ${said}` },
        { type: 'tool_use', id: said, name: said, input: { [said]: said } },
      ];
      const usage = { input_tokens: 9, output_tokens: 99 };
      return Response.json(
        {
          id: said,
          model: said,
          role: 'assistant',
          type: 'message',
          content,
          stop_reason: 'end_turn',
          usage,
        },
        { headers },
      );
    }
    if (pathname.endsWith('/responses') || name === 'openai (responses)') {
      const content = [{ type: 'output_text', text: `${number} ${said}`, logprobs }];
      return Response.json(
        {
          ...{ id: said, model: said, status: 'completed' },
          output: [
            { type: 'reasoning', summary: [{ type: 'summary_text', text: said }] },
            { type: 'message', content },
          ],
          usage: { input_tokens: 9, output_tokens: 99 },
        },
        { headers },
      );
    }
    if (pathname.endsWith('/models')) {
      return Response.json({ object: 'list', data: [{ id: said, owned_by: said }] }, { headers });
    }
    const tool = {
      id: said,
      type: 'function',
      function: { name: said, arguments: `{"${said}":"${said}"}` },
    };
    const message = { content: `${number} ${said}`, reasoning: said, tool_calls: [tool] };
    return Response.json(
      {
        ...{ id: said, model: said },
        choices: [{ index: 0, message, logprobs: { content: logprobs }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 9, completion_tokens: 99 },
      },
      { headers },
    );
  };
}

interface Given {
  readonly fetch: Fetch;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly baseUrl?: string;
}

const host = 'http://host.example';

const models: Readonly<Record<string, (given: Given) => LanguageModel>> = {
  'openai (chat)': (given) =>
    openai({ model: 'm', api: 'chat', apiKey: 'any-other', ...given, retry: false }),
  'openai (responses)': (given) =>
    openai({ model: 'm', api: 'responses', apiKey: 'any-other', ...given, retry: false }),
  anthropic: (given) => anthropic({ model: 'm', apiKey: 'any-other', ...given, retry: false }),
  'openai-compatible': (given) =>
    openaiCompatible({ model: 'm', preset: 'vllm', baseUrl: host, ...given, retry: false }),
};

/** The ways in which a backend may be given a credential. */
const ways: Readonly<Record<string, Omit<Given, 'fetch'>>> = {
  'a key': { apiKey: secret },
  'a header of any name': { headers: { 'x-tok': secret } },
  'a header with a scheme': { headers: { 'x-gate': `Token ${secret}` } },
  'an account': { headers: { authorization: `Basic ${Buffer.from(account).toString('base64')}` } },
  'a cookie': { headers: { cookie: `a=b; session=${secret}` } },
  'a query': { baseUrl: `${host}/v1?key=${secret}` },
};

const question = {
  messages: [{ role: 'user', content: 'Hi' }],
  ...{ maxTokens: 64, logprobs: true, topLogprobs: 1 },
} as const;

afterEach(() => void vi.unstubAllEnvs());

describe.each(Object.entries(models))('a credential of %s', (name, modelOn) => {
  const cases = Object.keys(ways).flatMap((way) => Object.keys(forms).map((form) => [way, form]));

  test.each(cases)('stays there though a server echoes it: %s, %s', async (way, form) => {
    const told: unknown[] = [];
    const model = wrapModel(
      modelOn({ fetch: echoing(forms[form] as string, name), ...ways[way] }),
      withTelemetry({ content: true, tracer: tracerInto(told) }),
    );
    expectUntold(await plainContext().generate(model, question));
    const journal = memoryJournal();
    const { tree } = await searchOf({
      ...throughModel(syntheticTree(), { model, maxTokens: 99 }),
      algorithm: mcts(),
      journal,
      budget: { simulations: 2 },
    });
    expect(journal.lines.length).toBeGreaterThan(2);
    expectUntold(JSON.stringify(journal.lines));
    expectUntold(JSON.stringify(treeToJson(tree)));
    expect(told.length).toBeGreaterThan(2);
    expectUntold(JSON.stringify(told));
  });

  test.each(cases)('is in no error: %s, %s', async (way, form) => {
    const said = forms[form] as string;
    const refusals: readonly Fetch[] = [
      async () =>
        Response.json({ error: { message: said, code: said, type: said } }, { status: 400 }),
      async () =>
        Response.json(
          { error: { message: said } },
          { status: 401, headers: { 'x-request-id': said } },
        ),
      async () => new Response(said, { status: 500 }),
      async () => new Response(null, { status: 302, headers: { location: `http://x/${said}` } }),
      async () => Response.json({ error: { message: said, code: said } }),
      () => Promise.reject(new TypeError('fetch failed', { cause: new Error(said) })),
    ];
    for (const fetch of refusals) {
      const model = modelOn({ fetch, ...ways[way] });
      const error: unknown = await plainContext()
        .generate(model, question)
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(error).toBeInstanceOf(Error);
      expectUntold(error);
    }
  });

  test('is not confused with words of an answer', async () => {
    const headers = { 'x-title': 'Hello world', accept: 'application/json' };
    const said = 'Hello world, none of this is ollama or application/json';
    for (const apiKey of ['none', 'ollama', 'EMPTY']) {
      const model = modelOn({ fetch: echoing(said), apiKey, headers });
      const { completions } = await plainContext().generate(model, question);
      expect(completions[0]?.text).toContain(said);
    }
  });
});

function tracerInto(told: unknown[]) {
  const span = {
    setAttributes: (attributes: object) => told.push(attributes),
    recordException: (error: Error) => told.push([error.message, error.stack]),
    setStatus: (status: object) => told.push(status),
    end: () => {},
  };
  return { startSpan: () => span };
}

describe('what an SDK finds by itself is a credential too:', () => {
  test.each([
    ['OPENAI_API_KEY', 'openai (chat)'],
    ['ANTHROPIC_API_KEY', 'anthropic'],
    ['ANTHROPIC_AUTH_TOKEN', 'anthropic'],
  ])('%s', async (variable, name) => {
    vi.stubEnv('OPENAI_API_KEY', 'another');
    vi.stubEnv('ANTHROPIC_API_KEY', variable === 'ANTHROPIC_AUTH_TOKEN' ? undefined : 'another');
    vi.stubEnv(variable, secret);
    const fetch = echoing(secret);
    const model =
      name === 'anthropic'
        ? anthropic({ model: 'm', fetch, baseUrl: host, retry: false })
        : openai({ model: 'm', fetch, baseUrl: host, retry: false });
    expectUntold(
      await plainContext().generate(model, { ...question, logprobs: false, topLogprobs: 0 }),
    );
  });

  test('headers in the environment', async () => {
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', `x-tok: ${secret}`);
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', `x-tok: ${secret}`);
    for (const model of [
      models['openai (chat)']?.({ fetch: echoing(secret) }),
      models['anthropic']?.({ fetch: echoing(secret) }),
    ]) {
      expectUntold(await plainContext().generate(model as LanguageModel, question));
    }
  });

  test('what a client of one’s own holds', async () => {
    const reached = { fetch: echoing(secret), baseURL: host };
    const clients: readonly LanguageModel[] = [
      openai({ model: 'm', client: new OpenAI({ ...reached, apiKey: secret }) }),
      openai({
        model: 'm',
        client: new OpenAI({ ...reached, apiKey: 'k', defaultHeaders: { 'x-tok': secret } }),
      }),
      openai({ model: 'm', client: new OpenAI({ ...reached, apiKey: async () => secret }) }),
      openaiCompatible({ model: 'm', client: new OpenAI({ ...reached, apiKey: secret }) }),
      anthropic({ model: 'm', client: new Anthropic({ ...reached, authToken: secret }) }),
    ];
    for (const model of clients) expectUntold(await plainContext().generate(model, question));
  });

  test('what a model of the AI SDK sends', async () => {
    const model = {
      ...{ specificationVersion: 'v4', provider: 'acme.chat', modelId: 'm' },
      config: { headers: () => ({ Authorization: `Bearer ${secret}` }) },
      doGenerate: async () => ({
        content: [{ type: 'text', text: `It is ${secret}` }],
        ...{ finishReason: 'stop', response: { modelId: secret } },
        warnings: [{ type: 'other', message: secret }],
      }),
    };
    const warnings: unknown[] = [];
    const call = { signal: new AbortController().signal, clock: plainContext().clock };
    const warn = (warning: unknown) => void warnings.push(warning);
    expectUntold(await aiSdk(model).generate(question, { ...call, warn }));
    expect(warnings.length).toBeGreaterThan(0);
    expectUntold(warnings);
  });
});

test('a look at a server tells none', async () => {
  const given = { fetch: echoing(secret), headers: { 'x-tok': secret } };
  const looked = openaiCompatible({ baseUrl: `${host}/v1?key=${secret}`, ...given });
  expectUntold(await looked.server());
  const model = openaiCompatible({ model: 'm', baseUrl: host, ...given });
  expectUntold(await model.server());
});

test('a decision tells none', async () => {
  const answers = [{ name: 'q', type: 'refusal', why: secret }];
  const fetch: Fetch = async () => Response.json({ answers, error: { message: secret } });
  const model = decisions({ model: 'm', fetch, apiKey: secret, retry: false });
  const call = { signal: new AbortController().signal, clock: plainContext().clock };
  const questions = { q: { type: 'yes-no', text: 'So?' } } as const;
  const error: unknown = await model
    .decide({ messages: [{ role: 'user', content: 'Hi' }], questions }, call)
    .catch((thrown: unknown) => thrown);
  expectUntold(error);
});

test('a header that cannot be sent is refused without being shown', () => {
  const make = () => models['openai-compatible']?.({ fetch, headers: { 'x-tok': `${secret}\nx` } });
  expect(make).toThrow('Expected `headers.x-tok` to be a header that can be sent');
  expect(make).not.toThrow(secret);
});
