import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openaiCompatible } from '../../../src/backends/index.ts';
import { emulator } from '../../../src/testing/emulator/emulator.ts';
import type { Fault } from '../../../src/testing/emulator/faults.ts';
import {
  chatReply,
  notedCall,
  rejectionOf,
  type StubReply,
  stubFetch,
} from '../transport/stub-fetch.ts';

const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 8 } as const;
const baseUrl = 'http://host:8000/v1';

/** What a request comes to where the server answers so. */
function failureOf(...replies: readonly (StubReply | Error)[]): Promise<Error> {
  const { fetch } = stubFetch(...replies);
  const model = openaiCompatible({ preset: 'vllm', baseUrl, model: 'm-1', fetch, retry: false });
  return rejectionOf(model.generate(request, notedCall()));
}

describe('a server that is not as it should be', () => {
  test('refuses the key', async () => {
    const reply = { status: 401, json: { error: { message: 'Unauthorized' } } };
    expect((await failureOf(reply)).message).toBe(
      'vllm:m-1 refuses the key (401: Unauthorized). Check the key and what it may use.',
    );
  });

  test('does not know the model, and says which it knows', async () => {
    const unknown = {
      status: 404,
      json: { error: { message: 'The model `m-1` does not exist.' } },
    };
    const list = { json: { data: [{ id: 'one' }, { id: 'two' }] } };
    expect(await failureOf(unknown, list)).toMatchObject({
      kind: 'bad-request',
      status: 404,
      retryable: false,
      message: 'vllm:m-1 is not served at http://host:8000/v1. It serves one, two.',
    });
  });

  test('knows more models than anybody wants to read', async () => {
    const unknown = { status: 404, json: { error: { message: 'No.' } } };
    const data = Array.from({ length: 12 }, (_, place) => ({ id: `m${place + 10}` }));
    expect((await failureOf(unknown, { json: { data } })).message).toBe(
      'vllm:m-1 is not served at http://host:8000/v1. It serves m10, m11, m12, m13, m14, m15, m16, m17, m18, m19 and 2 more.',
    );
  });

  test('lists the model, and does not find it all the same', async () => {
    const unknown = { status: 404, json: { error: { message: 'No.' } } };
    expect((await failureOf(unknown, { json: { data: [{ id: 'm-1' }] } })).message).toMatch(
      /^vllm:m-1 at http:\/\/host:8000\/v1 does not know this model or path \(404: No\)\./,
    );
  });

  test('has no such path', async () => {
    const gone = { status: 404, json: { detail: 'Not Found' } };
    expect((await failureOf(gone)).message).toBe(
      "vllm:m-1 at http://host:8000/v1 does not know this model or path (404: Not Found). Check the model's name, and whether the base URL ends as the server expects, usually with /v1.",
    );
  });

  test('answers with nothing', async () => {
    expect(await failureOf({ text: ' \n' })).toMatchObject({
      kind: 'malformed',
      retryable: true,
      charged: true,
      message: 'vllm:m-1 answered with an empty reply.',
    });
  });

  test('answers with a web page', async () => {
    const page = {
      text: '<!doctype html><title>Hi</title>',
      headers: { 'content-type': 'text/html' },
    };
    expect((await failureOf(page)).message).toBe(
      'vllm:m-1 answered with a web page instead of JSON.',
    );
  });

  test('answers with JSON that ends too soon', async () => {
    expect((await failureOf({ text: '{"choices":[{"mess' })).message).toBe(
      'vllm:m-1 answered with JSON that is broken or cut off.',
    );
  });

  test('answers in another shape', async () => {
    expect((await failureOf({ json: ['Hi'] })).message).toBe(
      'vllm:m-1 answered with JSON with another structure: it has no `choices`.',
    );
  });

  test('has moved', async () => {
    const moved = { status: 308, text: '', headers: { location: 'https://host/v1' } };
    expect((await failureOf(moved)).message).toBe(
      'vllm:m-1 does not understand the request (308: it has moved to https://host/v1).',
    );
  });
});

describe('a server that cannot be reached', () => {
  test('does not listen', async () => {
    const server = await emulator({ dialect: 'vllm' });
    await server.close();
    const model = openaiCompatible({
      preset: 'vllm',
      baseUrl: server.url,
      model: 'm-1',
      retry: false,
    });
    expect(await rejectionOf(model.generate(request, notedCall()))).toMatchObject({
      kind: 'network',
      retryable: true,
      message: `vllm:m-1 at ${server.url} cannot be reached (ECONNREFUSED fetch failed). Check the address, and that the server runs.`,
    });
  });

  test('does not exist', async () => {
    const model = openaiCompatible({ baseUrl: 'http://no-such-host.invalid', retry: false });
    expect((await rejectionOf(model.generate(request, notedCall()))).message).toMatch(
      /^openai-compatible:default at http:\/\/no-such-host\.invalid cannot be reached \((ENOTFOUND|EAI_AGAIN) fetch failed\)\. Check the address, and that the server runs\.$/,
    );
  });

  test('has a certificate that nobody trusts', async () => {
    const server = await selfSigned();
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}`;
    const model = openaiCompatible({ preset: 'vllm', baseUrl: url, model: 'm-1', retry: false });
    const error = await rejectionOf(model.generate(request, notedCall()));
    server.close();
    expect(error).toMatchObject({
      kind: 'network',
      retryable: false,
      message: `vllm:m-1 at ${url} has no certificate that can be trusted (DEPTH_ZERO_SELF_SIGNED_CERT). Check whether the address begins with https:// or http://, or name the certificate's authority in NODE_EXTRA_CA_CERTS.`,
    });
  });
});

/** A server with a certificate of its own making. */
async function selfSigned(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = ['-subj', '/CN=localhost', '-days', '1'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...names], {
    stdio: 'ignore',
  });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  rmSync(folder, { recursive: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** The failure of one request to an emulator with a fault. */
async function failureWith(fault: Fault, options: { readonly timeoutMs?: number } = {}) {
  const server = await emulator({ dialect: 'vllm', faults: [fault] });
  const model = openaiCompatible({
    ...{ preset: 'vllm', baseUrl: server.url, model: 'emulated', retry: false },
    ...{ maxReplyBytes: 100_000, ...options },
  });
  const error = await rejectionOf(model.generate(request, notedCall()));
  await server.close();
  return error;
}

describe('a server with a fault', () => {
  test.each<[Fault, string, boolean]>([
    ['auth', 'auth', false],
    ['unknown-model', 'bad-request', false],
    ['overloaded', 'overloaded', false],
    ['server-error', 'overloaded', false],
    ['top-level-error', 'bad-request', false],
    ['context-overflow', 'context-length', false],
    [{ kind: 'rate-limited' }, 'rate-limit', false],
    [{ kind: 'loading', requests: 9 }, 'overloaded', false],
    ['reset', 'network', true],
    ['reset-midway', 'network', true],
    ['cut-json', 'malformed', true],
    ['empty', 'malformed', true],
    ['empty-body', 'malformed', true],
    ['invalid-utf8', 'malformed', true],
    ['wrong-content-type', 'malformed', true],
    ['wrong-language', 'malformed', true],
    [{ kind: 'gigantic', bytes: 1_000_000 }, 'malformed', true],
  ])('%j is an error of kind %s', async (fault, kind, charged) => {
    expect(await failureWith(fault)).toMatchObject({ kind, charged });
  });

  test.each<[Fault]>([['stall'], ['stall-midway']])('%s is a time-out', async (fault) => {
    expect(await failureWith(fault, { timeoutMs: 50 })).toMatchObject({
      kind: 'timeout',
      charged: true,
      message: expect.stringContaining(
        'did not answer in time (no whole answer within 50 ms). Raise the time-out, or lower the load.',
      ) as string,
    });
  });

  test('that asks to wait says for how long', async () => {
    const fault = { kind: 'rate-limited', retryAfterMs: 2500, as: 'milliseconds' } as const;
    expect(await failureWith(fault)).toMatchObject({ kind: 'rate-limit', retryAfterMs: 2500 });
  });

  test('that does not tell its usage leaves it unknown', async () => {
    const server = await emulator({ dialect: 'vllm', faults: ['missing-usage'] });
    const model = openaiCompatible({
      ...{ preset: 'vllm', baseUrl: server.url, model: 'emulated', retry: false },
    });
    const { usage } = await model.generate({ ...request, samples: 2 }, notedCall());
    await server.close();
    expect(usage).toEqual({});
  });

  test.each<[string]>([
    ['temperature'],
    ['top_p'],
    ['seed'],
    ['stop'],
    ['logprobs'],
    ['response_format'],
  ])('that rejects %s is asked without from then on', async (parameter) => {
    const faults = [{ kind: 'rejects-parameter', parameter }] as const;
    const server = await emulator({ dialect: 'llama-server', faults });
    const model = openaiCompatible({
      ...{ preset: 'llama-server', baseUrl: server.url, model: 'emulated', retry: false },
    });
    const call = notedCall();
    const all = {
      ...{ temperature: 0.5, topP: 0.9, seed: 1, stop: ['~'], logprobs: true },
      schema: { type: 'object' },
    };
    for (let calls = 0; calls < 2; calls++)
      await model.generate({ ...request, ...all, maxTokens: 99 }, call);
    const bodies = server.requests.map(({ body }) => Object.keys(body as object));
    await server.close();
    expect(bodies.map((names) => names.includes(parameter))).toEqual([true, false, false]);
    expect(call.warnings).toHaveLength(1);
  });
});

describe('an abandoned request', () => {
  test('closes its connection', async () => {
    const server = await emulator({ dialect: 'vllm', faults: ['stall'] });
    const model = openaiCompatible({
      ...{ preset: 'vllm', baseUrl: server.url, model: 'emulated', retry: false },
    });
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const asking = model.generate(request, notedCall({ signal: controller.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(reason);
    expect(await rejectionOf(asking)).toBe(reason);
    await expect.poll(() => server.account).toMatchObject({ aborted: 1, inFlight: 0 });
    await server.close();
  });
});

describe('a key', () => {
  const key = `k${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;
  const echo = { status: 400, json: { error: { message: `You sent ${key}.` } } };
  const pages = { text: `${key} is no JSON` };
  const replies: readonly (StubReply | Error)[] = [
    { ...echo, status: 401 },
    { ...echo, status: 429 },
    { ...echo, status: 404 },
    { ...echo, status: 500 },
    echo,
    pages,
    { json: { error: key } },
    new TypeError(`fetch failed with ${key}`, {
      cause: Object.assign(new Error(key), { code: 'ECONNRESET' }),
    }),
    new Error(key),
  ];

  test.each(replies.map((reply, place) => [place, reply] as const))(
    'is in no error, stack, warning or model (%i)',
    async (_place, reply) => {
      for (const secret of [{ apiKey: key }, { headers: { 'x-api-key': key } }]) {
        const { fetch, requests } = stubFetch(reply);
        const reached = { preset: 'vllm', baseUrl, model: 'm-1', fetch, retry: false } as const;
        const model = openaiCompatible({ ...reached, ...secret });
        const call = notedCall();
        const error = await rejectionOf(model.generate({ ...request, topP: 0.5 }, call));
        expect(JSON.stringify(requests[0]?.headers)).toContain(key);
        const shown = [error.message, error.stack, JSON.stringify(error), JSON.stringify(model)];
        expect(
          [...shown, String(error.cause), JSON.stringify(call.warnings)].join('\n'),
        ).not.toContain(key);
      }
    },
  );

  test('is sent to nobody unasked', async () => {
    const { fetch, requests } = stubFetch(chatReply('a'));
    const model = openaiCompatible({ preset: 'vllm', model: 'm-1', fetch, retry: false });
    await model.generate(request, notedCall());
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
  });
});
