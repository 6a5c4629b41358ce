import { expect, test } from 'vitest';
import { openai } from '../../../src/backends/openai/openai.ts';
import { emulator } from '../../../src/testing/index.ts';
import { chatReply, notedCall, stubFetch } from '../transport/stub-fetch.ts';

const messages = [{ role: 'user', content: 'What is the next step?' }] as const;
const tools = [{ name: 'add', input: { type: 'object' } }];

test('samples that are asked for one by one go once the first begins to be answered', async () => {
  const arrivals: { readonly at: number; readonly inFlight: number }[] = [];
  const server = await emulator({
    ...{ dialect: 'openai', models: ['gpt-6-luna'], latencyMs: 300, answer: () => 'one two three' },
    faults: () => {
      arrivals.push({ at: performance.now(), inFlight: server.account.inFlight });
      return { kind: 'trickles', everyMs: 100 };
    },
  });
  const model = openai({ model: 'gpt-6-luna', apiKey: 'key', baseUrl: server.url });
  const call = notedCall();
  const { completions } = await model.generate({ messages, tools, samples: 3 }, call);
  expect(completions.map(({ text }) => text)).toEqual(Array(3).fill('one two three'));
  const [first, second] = arrivals;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(299);
  expect(second?.inFlight).toBeGreaterThanOrEqual(1);
  expect(call.warnings).toEqual([]);
  await server.close();
});

test('a server that takes no notice of `stream` is asked without', async () => {
  const { fetch, requests } = stubFetch(() => chatReply('a'));
  const model = openai({ model: 'gpt-4o', apiKey: 'key', api: 'chat', fetch, retry: false });
  const call = notedCall({ began: () => {} });
  const { completions } = await model.generate({ messages, maxTokens: 50 }, call);
  expect(completions[0]?.text).toBe('a');
  expect(requests.map(({ body }) => Object(body).stream ?? false)).toEqual([true, false]);
  expect(call.warnings.map(({ message }) => message)).toEqual([
    'openai:gpt-4o does not honour `stream`: long answers are requested without streaming.',
  ]);
});
