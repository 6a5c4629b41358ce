import { afterEach, describe, expect, test } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import { type Emulator, emulator, type Fault } from '../../../src/testing/index.ts';
import { ask, errorOf } from './messages-server.ts';

const name = 'anthropic:claude-sonnet-5-5';

describe('a server', () => {
  const open: Emulator[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });

  async function serverWith(faults: readonly Fault[]) {
    const server = await emulator({ dialect: 'anthropic', models: ['claude-sonnet-5-5'], faults });
    open.push(server);
    const options = {
      model: 'claude-sonnet-5-5',
      apiKey: 'some-key',
      baseUrl: server.url,
      // Only what never ends is to run into it, on a slow machine too.
      timeoutMs: faults.some((fault) => String(fault).startsWith('stall')) ? 150 : 30_000,
      maxReplyBytes: 100_000,
    };
    return { server, model: anthropic({ ...options, retry: false }) };
  }

  test.each([
    ['auth', 'auth', false],
    ['unknown-model', 'bad-request', false],
    ['overloaded', 'overloaded', false],
    ['server-error', 'overloaded', false],
    ['top-level-error', 'bad-request', false],
    ['context-overflow', 'context-length', false],
    ['stall', 'timeout', true],
    ['stall-midway', 'timeout', true],
    ['reset', 'network', true],
    ['reset-midway', 'network', true],
    ['cut-json', 'malformed', true],
    ['empty-body', 'malformed', true],
    ['invalid-utf8', 'malformed', true],
    ['wrong-content-type', 'malformed', true],
    ['wrong-language', 'malformed', true],
  ] as const)('with the fault %s: %s, charged %s', async (fault, kind, charged) => {
    for (const maxTokens of [20, 10_000]) {
      const { model } = await serverWith([fault]);
      const error = await errorOf(ask(model, { maxTokens }));
      expect({ kind: error.kind, charged: error.charged }).toEqual({ kind, charged });
      expect(error.message).toMatch(/^[^\n]{20,400}[.]$/);
    }
  });

  test('that leaves the usage out leaves it unknown', async () => {
    const { model } = await serverWith(['missing-usage']);
    expect((await ask(model)).generation.usage).toEqual({});
  });

  test('that answers with nothing gives an empty completion', async () => {
    const { model } = await serverWith(['empty']);
    const { generation } = await ask(model);
    expect(generation.completions).toEqual([{ text: '', finishReason: 'stop' }]);
  });

  test('that sends without end is left', async () => {
    const { model } = await serverWith([{ kind: 'gigantic', bytes: 200_000 }]);
    const error = await errorOf(ask(model));
    expect(error).toMatchObject({ kind: 'malformed', charged: true });
    expect(error.message).toBe(
      `${name} answered with more than 100000 bytes, the limit of a reply.`,
    );
  });

  test('that is not there is named', async () => {
    const { server, model } = await serverWith([]);
    await server.close();
    const error = await errorOf(ask(model));
    expect(error).toMatchObject({ kind: 'network', retryable: true });
    expect(error.message).toMatch(
      new RegExp(
        `^${name} at ${server.url} cannot be reached \\(ECONNREFUSED .*\\)\\. Check the address, and that the server runs\\.$`,
      ),
    );
  });
});
