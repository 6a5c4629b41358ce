import { describe, expect, test } from 'vitest';
import {
  astar,
  beam,
  bestFirst,
  budgeted,
  type Environment,
  gumbel,
  mcts,
  type Policy,
  type SearchAlgorithm,
  search,
  stepwise,
} from '../../src/index.ts';
import { manualClock, scriptedModel } from '../../src/testing/index.ts';

/** Three ways on at each depth, and an end at the fourth. */
const environment: Environment<string, string> = {
  name: 'four deep',
  reset: () => ({ state: '' }),
  step(state, action) {
    const next = state + action;
    return next.length === 4 ? { state: next, terminal: true, reward: 0.2 } : { state: next };
  },
  key: (state) => state,
};
const policy = () => ['a', 'b', 'c'].map((action) => ({ action, prior: 1 / 3 }));
const evaluator = ({ state = '' }: { readonly state?: string }) =>
  [...state].filter((letter) => letter === 'b').length / 8;

describe('one step at a time', () => {
  test.each<[string, SearchAlgorithm]>([
    ['a beam', beam({ width: 2, samples: 3 })],
    ['best-first search', bestFirst()],
    ['mcts', mcts({ evaluate: 'all' })],
    ['gumbel', gumbel()],
  ])('%s takes its steps, whether it counts visits or not', async (_, algorithm) => {
    const { tree, actions } = await search(environment, {
      policy,
      evaluator,
      algorithm: stepwise(algorithm, { simulations: 8 }),
      budget: { simulations: 200, ms: 5000 },
    });
    expect(tree.cursor.depth).toBe(4);
    expect(actions.slice(0, 2)).toEqual(['b', 'b']);
  });

  test('an algorithm that brings nothing ends the search', async () => {
    const idle: SearchAlgorithm = { ...astar(), name: 'idle', laws: [], run: async () => {} };
    const { stopReason } = await search(environment, {
      ...{ policy, evaluator, algorithm: stepwise(idle, { simulations: 8 }) },
      budget: { simulations: 200 },
    });
    expect(stopReason).toBe('exhausted');
  });
});

test.each([1, 64, 1000])(
  'timers come through a search that waits for nothing, %i at once',
  async (slots) => {
    const endless = {
      ...environment,
      step: (state: string, action: string) => ({ state: state + action }),
    };
    let evaluated = 0;
    let seen = 0;
    const timer = setTimeout(() => {
      seen = evaluated;
    });
    await search(endless, {
      policy,
      evaluator(node) {
        evaluated++;
        return evaluator(node);
      },
      budget: { simulations: 4000 },
      concurrency: slots,
    });
    clearTimeout(timer);
    expect(seen).toBeGreaterThan(0);
    expect(seen).toBeLessThan(4 * (slots + 512));
  },
);

test('no more workers are made than there are simulations', async () => {
  const { spend } = await search(environment, {
    ...{ policy, evaluator, budget: { simulations: 20 }, concurrency: 1_000_000_000 },
  });
  expect(spend.simulations).toBe(20);
});

test('a concurrency that is null is refused in a sentence', async () => {
  await expect(
    search(environment, { policy, evaluator, concurrency: null as never }),
  ).rejects.toThrow('Expected `concurrency` to be an object, got `null`.');
});

/** A model that samples one of so many letters, in the order of its calls, in a few milliseconds. */
function lettersOf(count: number) {
  const model = scriptedModel({
    answer: ({ messages }, index) =>
      'abcdef'[(index * 7 + (messages[0]?.content.length ?? 0)) % count] ?? 'a',
    latencyMs: (_, call) => 1 + ((call * 7919) % 13),
  });
  const sampled: Policy<string, string> = {
    async propose({ state = '' }, { context, count: wanted, offset }) {
      const samples = Number.isFinite(wanted) ? wanted : count;
      const messages = [{ role: 'user' as const, content: `P${state}` }];
      const request = { messages, samples, offset, maxTokens: 4 };
      const { completions } = await context.generate(model, request);
      return completions.map(({ text }) => ({ action: text }));
    },
  };
  return { model, policy: sampled };
}

test.each([1, 2, 4, 16, 64])(
  'a filled search that is known in full ends, %i at once',
  async (slots) => {
    const { spend, stopReason } = await search(
      {
        ...environment,
        step: (state, action) => {
          const next = state + action;
          return next.length === 2 ? { state: next, terminal: true, reward: 0.5 } : { state: next };
        },
      },
      {
        ...{ policy: lettersOf(2).policy, evaluator, algorithm: mcts({ width: 2 }), fill: true },
        budget: { calls: 300 },
        concurrency: slots,
        clock: manualClock({ auto: true }),
      },
    );
    expect(stopReason).toBe('exhausted');
    expect(spend.calls).toBeLessThanOrEqual(20);
  },
);

/** Two of three actions lead to the same state. */
const merging: Environment<string, string> = {
  ...environment,
  step: (state, action) =>
    environment.step(state, action === 'c' ? 'b' : action, undefined as never),
};

test.each<[string, SearchAlgorithm, number]>([
  ['gumbel that evaluates leaves', gumbel({ evaluate: 'leaf', width: 3 }), 1],
  ['budgeted', budgeted({ width: 3 }), 1],
  ['budgeted that evaluates all', budgeted({ evaluate: 'all', width: 3 }), 1],
  ['BG-MCTS', budgeted({ by: 'share' }), 4],
  ['BG-MCTS, many at once', budgeted({ by: 'share' }), 16],
])('%s goes on where a sibling has led to the same state', async (_, algorithm, concurrency) => {
  for (let calls = 2; calls <= 60; calls++) {
    const { model, policy: sampled } = lettersOf(3);
    const { spend } = await search(merging, {
      policy: sampled,
      evaluator: {
        needs: 'realised',
        evaluate: (nodes, { context }) =>
          Promise.all(
            nodes.map(async ({ state }) => {
              const messages = [{ role: 'user' as const, content: `J${state}` }];
              await context.generate(model, { messages, maxTokens: 4 });
              return { value: 0.4 };
            }),
          ),
      },
      ...{ algorithm, concurrency, seed: calls, clock: manualClock({ auto: true }) },
      budget: concurrency === 1 ? { calls } : { simulations: calls },
    });
    expect(concurrency === 1 ? spend.calls : spend.simulations).toBeLessThanOrEqual(calls);
  }
});

describe('a step where several proposals never settle', () => {
  const cases = [1, 2, 3].flatMap((hanging) =>
    [8, 16, 64].map((slots) => [hanging, slots] as const),
  );
  test.each(cases)('%i of six, %i at once: goes on with the others', async (hanging, slots) => {
    const model = scriptedModel({
      answer: (_, index) => 'abcdef'[index % 6] ?? 'a',
      latencyMs: ({ messages }, call) => {
        const state = messages[0]?.content.slice(1) ?? '';
        const isHung = state.length === 1 && 'abcdef'.indexOf(state) < hanging;
        return isHung ? 1e12 : 1 + ((call * 7919) % 13);
      },
    });
    const { tree } = await search(
      { ...environment, step: (state: string, action: string) => ({ state: state + action }) },
      {
        policy: {
          async propose({ state = '' }, { context, count, offset }) {
            const messages = [{ role: 'user' as const, content: `P${state}` }];
            const { completions } = await context.generate(model, {
              messages,
              samples: count,
              offset,
            });
            return completions.map(({ text }) => ({ action: text }));
          },
        },
        evaluator: ({ state = '' }) => 0.5 + 'abcdef'.indexOf(state[0] ?? 'a') / 100,
        algorithm: stepwise(mcts({ width: 6 }), { simulations: 12, maxSteps: 3 }),
        budget: { simulations: 1000, ms: 1e8 },
        ...{ concurrency: slots, seed: 1, clock: manualClock({ auto: true }) },
      },
    );
    expect(tree.cursor.depth).toBe(3);
  });
});
