import { afterEach, describe, expect, test, vi } from 'vitest';
import { anthropic, openai, openaiCompatible } from '../../src/backends/index.ts';
import {
  bestOfN,
  type Environment,
  type LanguageModel,
  type SearchOptions,
  search,
  solved,
  streamSearch,
} from '../../src/index.ts';
import { type Emulator, type EmulatorOptions, emulator } from '../../src/testing/index.ts';

const open: Emulator[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const common = { apiKey: 'k', retry: false } as const;
const models: Readonly<Record<string, (baseUrl: string) => LanguageModel>> = {
  anthropic: (baseUrl) => anthropic({ model: 'claude-sonnet-5-5', baseUrl, ...common }),
  responses: (baseUrl) => openai({ model: 'gpt-4.1', api: 'responses', baseUrl, ...common }),
  chat: (baseUrl) => openai({ model: 'gpt-4.1', api: 'chat', baseUrl, ...common }),
  ...Object.fromEntries(
    (['vllm', 'sglang', 'llama-server', 'ollama'] as const).map((preset) => [
      preset,
      (url: string) => openaiCompatible({ preset, model: 'm', baseUrl: `${url}/v1`, ...common }),
    ]),
  ),
};
const dialects: Readonly<Record<string, EmulatorOptions['dialect']>> = {
  ...{ responses: 'openai', chat: 'openai' },
};

/** One guess ends it. */
const guessing: Environment<string, string> = {
  name: 'guessing',
  reset: () => ({ state: '' }),
  step: (_, guess) => ({ state: guess, terminal: true, reward: guess === 'right' ? 1 : 0 }),
};

/** A server that answers `right` to the first request, and stalls at the three others. */
async function stalling(kind: string, maxTokens: number) {
  let asked = 0;
  const server = await emulator({
    dialect: dialects[kind] ?? (kind as EmulatorOptions['dialect']),
    models: ['claude-sonnet-5-5', 'gpt-4.1', 'm'],
    answer: () => 'right',
    faults: ({ asksModel }) => {
      if (!asksModel || asked++ === 0) return undefined;
      return maxTokens > 16_384 ? 'stall-midway' : 'stall';
    },
    // All are under way by then.
    latencyMs: (index) => (index === 0 ? 200 : 0),
  });
  open.push(server);
  const model = models[kind]?.(server.url) as LanguageModel;
  const options: SearchOptions<string, string> = {
    algorithm: bestOfN({ n: 4 }),
    concurrency: 4,
    budget: { simulations: 4 },
    async policy({ id }, { context, offset }) {
      const messages = [{ role: 'user', content: `Guess (${id}).` }] as const;
      const { completions } = await context.generate(model, { messages, offset, maxTokens });
      return completions.map(({ text }) => ({ action: text.trim() }));
    },
  };
  return { server, options };
}

/** On a slow machine not all requests may have been sent by the end; those that were must have been left. */
async function expectLeft({ account }: Emulator): Promise<void> {
  await vi.waitFor(() => expect(account.inFlight).toBe(0), 10_000);
  expect(account.aborted).toBe(account.requests - 1);
  expect(account.aborted).toBeGreaterThan(0);
}

describe.each(Object.keys(models))('requests to %s', (kind) => {
  test.each([
    ['in one piece', 100],
    ['as a stream', 20_000],
  ])('%s that a solved search no longer needs are left on the wire', async (_, maxTokens) => {
    const { server, options } = await stalling(kind, maxTokens);
    const { stopReason } = await search(guessing, { ...options, stopWhen: solved() });
    expect(stopReason).toBe('solved');
    await expectLeft(server);
  });

  test.each([
    ['in one piece', 100],
    ['as a stream', 20_000],
  ])('%s are left when time is over', async (_, maxTokens) => {
    const { server, options } = await stalling(kind, maxTokens);
    const { stopReason } = await search(guessing, { ...options, budget: { ms: 1000 } });
    expect(stopReason).toBe('budget');
    await expectLeft(server);
  });

  test('are left when nobody reads the events of their search any more', async () => {
    const { server, options } = await stalling(kind, 20_000);
    for await (const { type } of streamSearch(guessing, options)) {
      if (type === 'node-expanded') break;
    }
    await expectLeft(server);
  });
});
