// Calls that hold a part of the budget and wait for another one, whose further request waits for that part.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { BudgetPool } from '../../src/calls/budget-pool.ts';
import { withCache, withLimit, withRetry, wrapModel } from '../../src/calls/index.ts';
import { type Journal, memoryJournal } from '../../src/calls/journal.ts';
import type { BatchRequest } from '../../src/contracts/batch.ts';
import {
  type Generation,
  type LanguageModel,
  type ModelCall,
  ModelCallError,
  mcts,
  type Policy,
} from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { plainContext, scriptedModel } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

/** A server that loses its first connection. */
function losing(latencyMs = 0): LanguageModel {
  const script = scriptedModel({ answer: (_, index) => `up ${index}`, capabilities: {} });
  let isFirst = true;
  return {
    ...script,
    async generate(request, call) {
      const fails = isFirst;
      isFirst = false;
      if (latencyMs > 0) await sleep(latencyMs);
      if (fails) throw new ModelCallError({ kind: 'network', message: 'The connection was lost.' });
      return script.generate(request, call);
    },
  };
}

const retrying = withRetry({ baseMs: 1, maxMs: 1 });

const problem = {
  environment: {
    name: 'up',
    reset: () => ({ state: '' }),
    step: (_: string, action: string) => ({ state: action, terminal: true, reward: 1 }),
    notation: {
      prompt: () => [{ role: 'user', content: 'Next?' }] as const,
      format: (action: string) => action,
      parse: (text: string) => ({ action: text }),
      delimiter: '\n',
    },
  },
  evaluator: () => 0.5,
  algorithm: mcts(),
};

const searchWith = (
  model: LanguageModel,
  tokens: number,
  { journal = memoryJournal(), ...rest }: { journal?: Journal; pool?: BudgetPool } = {},
) =>
  searchOf({
    ...{ ...problem, policy: fromModel({ model, maxTokens: 8 }), budget: { tokens }, journal },
    ...rest,
  });

/** From too few for one call to enough for all. */
const budgets = Array.from({ length: 30 }, (_, index) => 20 + 10 * index);

describe('a lost connection ends no search for ever,', () => {
  test('where the other samples wait for the first', async () => {
    let solved = 0;
    for (const tokens of budgets) {
      const { spend } = await searchWith(wrapModel(losing(), retrying), tokens);
      expect(spend.tokens).toBeLessThanOrEqual(tokens);
      if (spend.calls >= 5) solved++;
    }
    expect(solved).toBeGreaterThan(10);
  });

  test('where the others wait for its slot', async () => {
    for (const tokens of budgets) {
      const model = wrapModel(losing(), withLimit({ concurrency: 1 }), retrying);
      const { spend } = await searchWith(model, tokens);
      expect(spend.tokens).toBeLessThanOrEqual(tokens);
    }
  });

  test('where the first in the order of issue waits for the slot of a later one', async () => {
    const server = losing(2);
    let [running, most] = [0, 0];
    const counted: LanguageModel = {
      ...server,
      async generate(request, call) {
        most = Math.max(most, ++running);
        return server.generate(request, call).finally(() => running--);
      },
    };
    const served = wrapModel(counted, withLimit({ concurrency: 1 }), retrying);
    const model: LanguageModel = {
      ...served,
      async generate(request, call) {
        if (request.maxTokens === 1) await sleep(20);
        return served.generate(request, call);
      },
    };
    const both: Policy<string, string> = {
      propose: async (_, { context }) => {
        const messages = [{ role: 'user', content: 'Next?' }] as const;
        const texts = [1, 2].map(async (maxTokens) => {
          const { completions } = await context.generate(model, { messages, maxTokens });
          return { action: completions[0]?.text ?? '' };
        });
        return Promise.all(texts);
      },
    };
    const { spend, failures } = await searchOf({
      ...{ ...problem, policy: both, order: 'issued', budget: { calls: 4 } },
    });
    expect({ calls: spend.calls, failed: failures.count, most }).toEqual({
      ...{ calls: 2, failed: 0, most: 1 },
    });
  });

  test('where an effect waits for the model that it asks', async () => {
    for (const tokens of budgets) {
      const model = wrapModel(losing(), retrying);
      const asking: Policy<string, string> = {
        propose: async (_, { context }) => {
          const action = await context.effect({ name: 'ask', repeatable: true }, null, async () => {
            const messages = [{ role: 'user', content: 'Next?' }] as const;
            const { completions } = await context.generate(model, { messages, maxTokens: 20 });
            return completions[0]?.text ?? '';
          });
          return [{ action }];
        },
      };
      const { spend } = await searchOf({ ...problem, policy: asking, budget: { tokens } });
      expect(spend.tokens).toBeLessThanOrEqual(tokens);
    }
  });

  test('where another search waits for its answer', async () => {
    for (const tokens of budgets) {
      const model = wrapModel(losing(2), withCache(), retrying);
      const pool = new BudgetPool({ tokens });
      const searches = [1, 2, 3].map(() => searchWith(model, tokens, { pool }));
      const spent = (await Promise.all(searches)).map(({ spend }) => spend.tokens);
      expect(spent.reduce((sum, part) => sum + part, 0)).toBeLessThanOrEqual(tokens);
    }
  });
});

test('a search that was killed before its first answer goes on to its end, whatever its budget', async () => {
  for (const tokens of budgets) {
    const model = scriptedModel({ answer: (_, index) => `up ${index}`, capabilities: {} });
    const journal = memoryJournal();
    await searchWith(model, tokens, { journal });
    const begun = journal.lines.findIndex(({ type }) => type === 'intent') + 1;
    for (const kept of [begun, begun + 1, begun + 2]) {
      const cut = memoryJournal(journal.lines.slice(0, kept));
      const { spend } = await searchWith(model, tokens, { journal: cut });
      expect(spend.tokens).toBeLessThanOrEqual(tokens);
    }
  }
});

describe('a limited call keeps no slot for ever', () => {
  const context = (): ModelCall => ({ ...plainContext(), retry: () => sleep(3) });
  const script = scriptedModel({ answer: () => 'up', latencyMs: 2, capabilities: {} });
  const asked = { messages: [{ role: 'user', content: 'Next?' }] } as const;
  const lost = { message: 'Lost.', charged: false };

  test.each([1, 2, 3])('where %i of its requests are made again at once', async (count) => {
    const model: LanguageModel = {
      ...script,
      generate: async (request, call) => {
        const requests = Array.from({ length: count }, async (_, place) => {
          await sleep(place);
          await call.retry?.(lost);
          return script.generate(request, call);
        });
        const [first] = await Promise.all(requests);
        return first as Generation;
      },
    };
    const limited = wrapModel(model, withLimit({ concurrency: 1 }));
    const calls = Array.from({ length: 4 }, () => limited.generate(asked, context()));
    expect(await Promise.all(calls)).toHaveLength(4);
  });

  test('where it ends while a request of it is to be made again', async () => {
    const model: LanguageModel = {
      ...script,
      generate: async (request, call) => {
        void call.retry?.(lost);
        return script.generate(request, call);
      },
    };
    const limited = wrapModel(model, withLimit({ concurrency: 1 }));
    const calls = Array.from({ length: 4 }, () => limited.generate(asked, context()));
    expect(await Promise.all(calls)).toHaveLength(4);
    await sleep(10);
    expect(await limited.generate(asked, context())).toBeDefined();
  });
});

test('each part of a batch that is sent on its own takes a slot of a limit', async () => {
  const script = scriptedModel({ answer: () => 'up', latencyMs: 2 });
  const model: LanguageModel = {
    ...script,
    generate: async (request, call) => {
      const { batch } = call;
      if (batch === undefined) throw new Error('Expected a batch.');
      const live = () => script.generate(request, call) as never;
      const parts = [1, 2].map(() => batch({} as BatchRequest, live));
      const [first] = await Promise.all(parts);
      return first as unknown as Generation;
    },
  };
  const limited = wrapModel(model, withLimit({ concurrency: 1 }));
  const asked = { messages: [{ role: 'user', content: 'Next?' }] } as const;
  const alone: ModelCall = { ...plainContext(), batch: (_part, live) => live() };
  await Promise.all([1, 2].map(() => limited.generate(asked, alone)));
  expect(script.requests).toHaveLength(4);
  expect(script.mostInFlight).toBe(1);
});
