import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import { type Journal, memoryJournal, replayed } from '../../../src/calls/journal.ts';
import type { Message } from '../../../src/contracts/language-model.ts';
import { mcts, search, treeToJson } from '../../../src/index.ts';
import { type Emulator, emulator } from '../../../src/testing/index.ts';
import { heuristic } from '../../../src/values/index.ts';
import { openGate } from '../../calls/harness.ts';
import { user } from './messages-server.ts';

const name = 'claude-sonnet-5-5';
const question = user('What is the next step?');
/** With it a prompt is long enough for the cache. */
const rules: Message = { role: 'system', content: 'Solve it step by step. '.repeat(25) };

const [asked, answered] = ['intent', 'result'];

describe('samples that are asked for one by one', () => {
  let server: Emulator;
  beforeEach(async () => {
    const latencyMs = (index: number) => ((index * 7) % 5) * 4;
    server = await emulator({ dialect: 'anthropic', models: [name], latencyMs });
  });
  afterEach(() => server.close());

  const modelWith = (cache: boolean) =>
    anthropic({ model: name, apiKey: 'some-key', baseUrl: server.url, cache });

  test.each([
    ['once the first begins to be answered, where a cache is filled', true, [rules, question]],
    ['all at once where none is used', false, [rules, question]],
    ['all at once where the prompt is too short for it', true, [question]],
  ] as const)('go %s', async (about, cache, messages) => {
    const arrivals: { readonly at: number; readonly inFlight: number }[] = [];
    const slow = await emulator({
      ...{ dialect: 'anthropic', models: [name], latencyMs: 300 },
      faults: () => {
        arrivals.push({ at: performance.now(), inFlight: slow.account.inFlight });
        return { kind: 'trickles', everyMs: 150 };
      },
    });
    const { calls, journal } = openGate();
    const model = anthropic({ model: name, apiKey: 'some-key', baseUrl: slow.url, cache });
    await calls.generate(model, { messages, samples: 3, maxTokens: 9 });
    const lines = journal.lines.map(({ type }) => type);
    const order = lines.filter((type) => type === asked || type === answered);
    expect(order.slice(0, 4)).toEqual([asked, asked, asked, answered]);
    expect(order).toHaveLength(6);
    const [first, second] = arrivals;
    const waited = (second?.at ?? 0) - (first?.at ?? 0);
    if (about.startsWith('once')) expect(waited).toBeGreaterThanOrEqual(299);
    else expect(waited).toBeLessThan(299);
    // The first is still being answered.
    expect(second?.inFlight).toBeGreaterThanOrEqual(1);
    expect(slow.requests.map(({ body }) => Object(body).stream === true)).toEqual([
      about.startsWith('once'),
      false,
      false,
    ]);
    await slow.close();
  });

  test('at once make for searches that can be repeated', async () => {
    const model = modelWith(false);
    const grow = async (journal: Journal) => {
      const { tree } = await search<number, string>(
        { name: 'tower', reset: () => ({ state: 0 }), step: (depth) => ({ state: depth + 1 }) },
        {
          ...{ algorithm: mcts(), budget: { simulations: 12 }, concurrency: 3, journal },
          async policy({ id, state }, { context }) {
            const messages = [user(`Node ${id} at ${state}: what now?`)];
            const request = { messages, samples: 3, maxTokens: 9 };
            const { completions } = await context.generate(model, request);
            return completions.map(({ text }) => ({ action: text }));
          },
          evaluator: heuristic((depth: number) => 1 / (1 + depth)),
        },
      );
      return JSON.stringify(treeToJson(tree));
    };
    const journal = memoryJournal();
    const recorded = await grow(journal);
    const { requests } = server.account;
    expect(requests).toBeGreaterThan(9);
    expect(await grow(replayed(journal))).toBe(recorded);
    expect(server.account.requests).toBe(requests);
  });
});
