import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  aiSdk,
  anthropic,
  decisions,
  embeddings,
  openai,
  openaiCompatible,
} from '../../src/backends/index.ts';
import { openJournal, type RetryOptions } from '../../src/calls/index.ts';
import { type LanguageModel, ModelCallError, mcts } from '../../src/index.ts';
import {
  type Emulator,
  type EmulatorOptions,
  emulator,
  plainContext,
  syntheticTree,
} from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf } from '../support/search-of.ts';

type Fetch = typeof globalThis.fetch;

interface Reached {
  readonly baseUrl?: string;
  readonly fetch?: Fetch;
  readonly retry?: RetryOptions | false;
}

/** The hosted and the other language models, of price 10 and 50 dollars per million tokens. */
const models: Readonly<Record<string, (reached: Reached) => LanguageModel>> = {
  openai: (reached) => openai({ model: 'gpt-6-astra', apiKey: 'sk-abcdef12', ...reached }),
  anthropic: (reached) =>
    anthropic({ model: 'claude-fable-5-1', apiKey: 'sk-abcdef12', ...reached }),
  'openai-compatible': (reached) =>
    openaiCompatible({
      model: 'any',
      preset: 'vllm',
      price: { input: 10, output: 50 },
      ...reached,
    }),
};

const servers: { close(): unknown }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function served(options: EmulatorOptions): Promise<Emulator> {
  const server = await emulator(options);
  servers.push(server);
  return server;
}

/** An address of this machine where nobody listens. */
async function deadPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

function searched(model: LanguageModel, options: object = {}) {
  return searchOf({
    ...throughModel(syntheticTree(), { model }),
    algorithm: mcts(),
    budget: { usd: 1, simulations: 12 },
    ...options,
  });
}

const question = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 64 } as const;

/** How one call of a model fails. */
async function failureOf(call: () => Promise<unknown>): Promise<ModelCallError> {
  const error: unknown = await call().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (ModelCallError.isInstance(error)) return error;
  throw new Error(`Expected a ModelCallError, got ${String(error)}.`, { cause: error });
}

/** As `fetch` fails. */
function failing(code: string, more: object = {}): Fetch {
  const cause = Object.assign(new Error(code), { code, ...more });
  return () => Promise.reject(new TypeError('fetch failed', { cause }));
}

function answering(status: number, body: unknown, headers: Record<string, string> = {}): Fetch {
  return async () => Response.json(body, { status, headers });
}

describe.each(Object.entries(models))('a call of %s that never reached a server', (_, modelOn) => {
  test('costs nothing without a listener', async () => {
    const model = modelOn({ baseUrl: await deadPort(), retry: { baseMs: 1 } });
    const { spend, stopReason } = await searched(model);
    expect(stopReason).toBe('failed');
    expect(spend).toMatchObject({ tokens: 0, usd: 0 });
  });

  test('costs nothing: another protocol is spoken there', async () => {
    const { url } = await served({ dialect: 'openai' });
    const baseUrl = url.replace('http:', 'https:');
    const error = await failureOf(() =>
      plainContext().generate(modelOn({ baseUrl, retry: false }), question),
    );
    expect(error).toMatchObject({ kind: 'network', charged: false, retryable: false });
  });

  test.each<[string, object?]>([
    ['ECONNREFUSED'],
    ['ENOTFOUND'],
    ['EAI_AGAIN'],
    ['EHOSTUNREACH'],
    ['ENETUNREACH'],
    ['UND_ERR_CONNECT_TIMEOUT', { name: 'ConnectTimeoutError', message: 'Connect Timeout Error' }],
    ['ETIMEDOUT', { syscall: 'connect' }],
    [
      'ECONNRESET',
      {
        message: 'Client network socket disconnected before secure TLS connection was established',
      },
    ],
    ['ETIMEDOUT', { errors: [{ code: 'ETIMEDOUT', syscall: 'connect' }] }],
    ['CERT_HAS_EXPIRED'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('costs nothing: %s', async (code, more = {}) => {
    const model = modelOn({
      baseUrl: 'https://host.example',
      fetch: failing(code, more),
      retry: false,
    });
    const error = await failureOf(() => plainContext().generate(model, question));
    expect(error).toMatchObject({ charged: false });
    expect(['network', 'timeout']).toContain(error.kind);
  });

  // Here the server may have begun.
  test.each<[string, object?]>([
    ['ECONNRESET', { syscall: 'read' }],
    ['EHOSTUNREACH', { syscall: 'read' }],
    ['UND_ERR_SOCKET'],
    ['UND_ERR_HEADERS_TIMEOUT', { name: 'HeadersTimeoutError', message: 'Headers Timeout Error' }],
    ['UND_ERR_BODY_TIMEOUT', { name: 'BodyTimeoutError', message: 'Body Timeout Error' }],
  ])('is charged where it may have reached one: %s', async (code, more = {}) => {
    const model = modelOn({
      baseUrl: 'https://host.example',
      fetch: failing(code, more),
      retry: false,
    });
    const error = await failureOf(() => plainContext().generate(model, question));
    expect(error).toMatchObject({ charged: true, retryable: true });
  });
});

test.each<[string, (url: string) => Promise<unknown>]>([
  [
    'embeddings',
    (baseUrl) => embeddings({ baseUrl, model: 'e', retry: false }).embed(['a'], modelCall),
  ],
  [
    'decisions',
    (baseUrl) =>
      decisions({ baseUrl, model: 'd', retry: false }).decide(
        { messages: [...question.messages], questions: { q: { type: 'yes-no', text: 'So?' } } },
        modelCall,
      ),
  ],
  [
    'the AI SDK',
    () => {
      const cause = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
      const thrown = Object.assign(new Error('Cannot connect to API: x', { cause }), {
        name: 'AI_APICallError',
      });
      const model = {
        ...{ specificationVersion: 'v4', provider: 'acme.chat', modelId: 'large' },
        doGenerate: () => Promise.reject(thrown),
      };
      return plainContext().generate(aiSdk(model, { retry: false }), question);
    },
  ],
])('a refused connection of %s costs nothing', async (_, ask) => {
  const url = await deadPort();
  expect(await failureOf(() => ask(url))).toMatchObject({ kind: 'network', charged: false });
});

const modelCall = { signal: new AbortController().signal, clock: plainContext().clock };

describe('a limit of time', () => {
  const place = Symbol.for('undici.globalDispatcher.1');
  void globalThis.Headers;
  const usual = Reflect.get(globalThis, place) as object | undefined;
  afterEach(() => void Reflect.set(globalThis, place, usual));

  /** What Node's `fetch` does after 300 s, it does after less than one. */
  function hasten(): void {
    const Agent = (usual as object).constructor as new (options: object) => object;
    Reflect.set(globalThis, place, new Agent({ headersTimeout: 200, bodyTimeout: 200 }));
  }

  test('of Node is none of any model', async () => {
    hasten();
    const answers = Object.entries(models).map(async ([name, modelOn]) => {
      const dialect = name === 'anthropic' ? 'anthropic' : name === 'openai' ? 'openai' : 'vllm';
      const options = { latencyMs: 2500, models: ['gpt-6-astra', 'claude-fable-5-1', 'any'] };
      const { url } = await served({ dialect, ...options });
      const model = modelOn({ baseUrl: url, retry: false });
      const { completions } = await plainContext().generate(model, question);
      expect(completions, name).toHaveLength(1);
    });
    await Promise.all(answers);
  });

  test('of a `fetch` of one’s own is named as such', async () => {
    const error = await failureOf(() =>
      plainContext().generate(
        models['openai']?.({
          fetch: failing('UND_ERR_HEADERS_TIMEOUT', { message: 'Headers Timeout Error' }),
          retry: false,
        }) as LanguageModel,
        question,
      ),
    );
    expect(error.message).toMatch(/limits of the `fetch` in use.*Bring one that waits longer/);
  });
});

const said = (status: number, error: object, headers = {}): [number, object, object] => [
  status,
  { error: { message: 'No.', ...error } },
  headers,
];

describe('an account without credit', () => {
  test.each([
    said(402, {}),
    said(429, { code: 'insufficient_quota', type: 'insufficient_quota' }),
    said(429, { code: 'credit_balance_exhausted' }),
    said(429, { code: 'organization_spend_limit_exceeded' }),
    said(429, { code: 'project_spend_limit_exceeded' }),
    said(429, { code: 'organization_usage_limit_exceeded' }),
    said(429, {
      type: 'rate_limit_error',
      details: { error_code: 'enforced_spend_limit_reached' },
    }),
    said(429, {
      type: 'rate_limit_error',
      details: { error_code: 'contract_spend_limit_reached' },
    }),
    said(402, { type: 'billing_error' }),
    said(400, { message: 'Your credit balance is too low to access the Anthropic API.' }),
    said(400, { message: 'You have reached your specified API usage limits.' }),
    said(400, { details: { error_code: 'organization_on_hold' } }),
    said(402, { message: 'Insufficient Balance' }),
    said(403, { message: 'Key limit exceeded (total limit).' }),
    said(403, { message: 'No.', metadata: { resets_at: '2026-12-01' } }),
    said(429, {
      status: 'RESOURCE_EXHAUSTED',
      details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }] }],
    }),
    said(200, { code: 'insufficient_quota' }),
  ])('is known by %i %j', async (status, body, headers) => {
    for (const modelOn of Object.values(models)) {
      const fetch = answering(status, body, headers as Record<string, string>);
      const model = modelOn({ baseUrl: 'http://host.example', fetch, retry: { attempts: 3 } });
      if (status === 200 && model.provider === 'anthropic') continue;
      const error = await failureOf(() => plainContext().generate(model, question));
      expect(error).toMatchObject({ kind: 'credit', retryable: false, charged: false });
    }
  });

  test.each([
    said(429, { code: 'rate_limit_exceeded' }),
    said(429, {
      message: 'You exceeded your current quota, please check your plan and billing details.',
    }),
    said(429, { details: { error_code: 'ramp_limit_exceeded' } }),
    said(402, { code: 'in_flight_budget_exhausted' }, { 'retry-after': '1' }),
  ])('is not what %i %j means', async (status, body, headers) => {
    for (const modelOn of Object.values(models)) {
      const fetch = answering(status, body, headers as Record<string, string>);
      const model = modelOn({ baseUrl: 'http://host.example', fetch, retry: false });
      const error = await failureOf(() => plainContext().generate(model, question));
      expect(error.kind).not.toBe('credit');
      expect(error).toMatchObject({ retryable: true, charged: false });
    }
  });
});

describe('a search that runs out of credit', () => {
  test.each([
    ['openai', 'openai', 'gpt-6-astra'],
    ['anthropic', 'anthropic', 'claude-fable-5-1'],
    ['openai-compatible', 'vllm', 'any'],
  ] as const)('ends with %s, and goes on when there is credit', async (name, dialect, id) => {
    let paid = 5;
    const server = await served({
      ...{ dialect, models: [id], answer: hashedAnswer },
      faults: () => (paid-- > 0 ? [] : 'no-credit'),
    });
    const reached = { baseUrl: server.url, retry: { baseMs: 1 } };
    const folder = mkdtempSync(join(tmpdir(), 'espalier-credit-'));
    servers.push({ close: () => rmSync(folder, { recursive: true }) });
    const path = join(folder, 'journal.jsonl');
    const run = async () => {
      const journal = openJournal(path);
      const model = models[name]?.(reached) as LanguageModel;
      const result = await searched(model, {
        journal,
        concurrency: 2,
        budget: { simulations: 12 },
      });
      journal.close();
      return result;
    };
    const broke = await run();
    expect(broke).toMatchObject({ stopReason: 'failed', failure: { kind: 'call' } });
    expect(broke.failure?.message).toMatch(/has no credit left/);
    const { requests } = server.account;
    expect(requests).toBeLessThan(5 + 4);

    paid = Infinity;
    const resumed = await run();
    expect(resumed).toMatchObject({ stopReason: 'budget', exceeded: 'simulations' });
    expect([...resumed.tree.nodes()].filter(({ failure }) => failure !== undefined)).toEqual([]);
    const { inputTokens, outputTokens } = server.account;
    expect(resumed.spend.tokens).toBe(inputTokens + outputTokens);
  });
});

describe('a failure of the Responses API', () => {
  test.each([
    ['invalid_prompt', 'bad-request'],
    ['data_residency_mismatch', 'bad-request'],
    ['bio_policy', 'refusal'],
    ['misalignment_policy_violation', 'refusal'],
  ])('is final: %s', async (code, kind) => {
    const server = await served({
      ...{ dialect: 'openai', models: ['gpt-6-astra'] },
      faults: [{ kind: 'fails-response', code }],
    });
    const model = models['openai']?.({ baseUrl: server.url }) as LanguageModel;
    const error = await failureOf(() => plainContext().generate(model, question));
    expect(error).toMatchObject({ kind, retryable: false, charged: false });
    expect(error.message).toContain(code);
    expect(server.account.requests).toBe(1);
  });

  test.each([
    ['server_error', 'overloaded'],
    ['rate_limit_exceeded', 'rate-limit'],
  ])('is repeated: %s', async (code, kind) => {
    const server = await served({
      ...{ dialect: 'openai', models: ['gpt-6-astra'] },
      faults: ({ index }) => (index < 2 ? { kind: 'fails-response', code } : undefined),
    });
    const model = models['openai']?.({ baseUrl: server.url }) as LanguageModel;
    const told: boolean[] = [];
    const call = {
      ...modelCall,
      retry: async ({ charged }: { readonly charged: boolean }) => void told.push(charged),
    };
    expect((await model.generate(question, call)).completions).toHaveLength(1);
    expect(told).toEqual([true, true]);
    expect(kind).toMatch(/overloaded|rate-limit/);
  });
});

test.each(Object.entries(models))('%s is not asked again where it says so', async (_, modelOn) => {
  let requests = 0;
  const fetch: Fetch = async () => {
    requests++;
    const headers = { 'x-should-retry': 'false', 'retry-after-ms': '1' };
    return Response.json({ error: { message: 'Too fast.' } }, { status: 429, headers });
  };
  const model = modelOn({ baseUrl: 'http://host.example', fetch, retry: { baseMs: 1 } });
  const error = await failureOf(() => plainContext().generate(model, question));
  expect(error).toMatchObject({ kind: 'rate-limit', retryable: false });
  expect(requests).toBe(1);
});
