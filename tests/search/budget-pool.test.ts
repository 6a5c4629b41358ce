import { expect, test } from 'vitest';
import { BudgetPool } from '../../src/calls/budget-pool.ts';
import { memoryJournal } from '../../src/calls/journal.ts';
import type { ProposeRequest } from '../../src/contracts/policy.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { treeToJson } from '../../src/tree/serialize.ts';
import { searchOf } from '../support/search-of.ts';

const environment = {
  name: 'count',
  reset: () => ({ state: 0 }),
  step: (state: number) => ({ state: state + 1 }),
};

/** A policy that makes one call for each proposal. */
function asking() {
  const model = scriptedModel({ answer: (_request, index) => `answer ${index}` });
  const policy = {
    async propose({ id }: { readonly id: number }, { context, count, offset }: ProposeRequest) {
      const messages = [{ role: 'user' as const, content: `next at ${id}` }];
      const { completions } = await context.generate(model, { messages, samples: count, offset });
      return completions.map(({ text }) => ({ action: text }));
    },
  };
  return { environment, policy, evaluator: { needs: 'realised' as const, evaluate: constant } };
}

function constant(nodes: readonly unknown[]) {
  return nodes.map(() => ({ value: 0.5 }));
}

test('searches share a budget, and the one that it cannot hold ends', async () => {
  const pool = new BudgetPool({ calls: 10 });
  const options = { ...asking(), algorithm: mcts({ width: 2 }), pool };
  const first = await searchOf({ ...options, budget: { calls: 6 } });
  const second = await searchOf({ ...options, budget: { calls: 6 } });
  expect([first.stopReason, first.exceeded, first.spend.calls]).toEqual(['budget', 'calls', 6]);
  expect([second.stopReason, second.exceeded, second.spend.calls]).toEqual(['budget', 'calls', 4]);
  expect([first.poolExhausted, second.poolExhausted]).toEqual([false, true]);
  expect(pool.spend.calls).toBe(10);
  expect(pool.exhausted).toBe('calls');
});

test('searches at the same time never spend more than it holds', async () => {
  const pool = new BudgetPool({ calls: 15 });
  const results = await Promise.all(
    [0, 1, 2, 3].map((seed) =>
      searchOf({ ...asking(), algorithm: mcts({ width: 2 }), pool, seed, budget: { calls: 10 } }),
    ),
  );
  const made = results.reduce((sum, { spend }) => sum + spend.calls, 0);
  expect(made).toBe(pool.spend.calls);
  expect(made).toBeLessThanOrEqual(15);
  expect(made).toBeGreaterThan(13);
});

test('what was spent before counts', () => {
  const pool = new BudgetPool({ calls: 10, usd: 1 }, { calls: 7, tokens: 30, usd: 0.25, nodes: 4 });
  expect(pool.remaining).toMatchObject({ calls: 3, usd: 0.75, tokens: Infinity });
  expect(pool.spend).toMatchObject({ calls: 7, tokens: 30, usd: 0.25, nodes: 4, simulations: 0 });
  pool.charge({ calls: 3 });
  expect(pool.exhausted).toBe('calls');
});

test.each([
  [{ calls: -1 }, 'Expected `budget.calls` to be an integer from 0 up'],
  [{ usd: Number.NaN }, 'Expected `budget.usd` to be a finite number from 0 up'],
  [{ ms: 5 }, '`budget` has no option `ms`. '],
])('refuses %o', (budget, message) => {
  expect(() => new BudgetPool(budget as object)).toThrow(message);
});

test('what a killed process had under way is charged to the pool alone', async () => {
  const undisturbed = memoryJournal();
  const alone = await searchOf({
    ...asking(),
    algorithm: mcts({ width: 2 }),
    budget: { calls: 6 },
    journal: undisturbed,
  });
  // The process died in the middle of the third call: its intent is the last line.
  const intents = undisturbed.lines.flatMap(({ type }, index) =>
    type === 'intent' ? [index] : [],
  );
  const killed = undisturbed.lines.slice(0, (intents[2] ?? 0) + 1);

  const pool = new BudgetPool({ calls: 100 });
  const resumed = await searchOf({
    ...asking(),
    algorithm: mcts({ width: 2 }),
    budget: { calls: 6 },
    journal: memoryJournal(killed),
    pool,
  });
  expect(treeToJson(resumed.tree)).toEqual(treeToJson(alone.tree));
  // The call that was cut off was to bring two samples.
  expect(resumed.spend.calls).toBe(alone.spend.calls + 2);
  expect(pool.spend.calls).toBe(resumed.spend.calls);

  const without = await searchOf({
    ...asking(),
    algorithm: mcts({ width: 2 }),
    budget: { calls: 6 },
    journal: memoryJournal(killed),
  });
  expect(without.spend.calls).toBe(6);
  expect(without.tree.size).toBeLessThan(alone.tree.size);
});
