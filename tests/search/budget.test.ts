import { describe, expect, test } from 'vitest';
import { type Budget, bestOfN, mcts, solved } from '../../src/index.ts';
import {
  banditTree,
  manualClock,
  type SyntheticState,
  scriptedModel,
  syntheticTree,
} from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

const prices = { script: { input: 2, output: 10 } };

function run(budget: Budget, changes: Partial<SearchOf<SyntheticState, number>> = {}) {
  const model = scriptedModel({ answer: hashedAnswer, latencyMs: 50 });
  return searchOf({
    ...throughModel(syntheticTree(), { model }),
    clock: manualClock({ auto: true }),
    budget,
    ...changes,
  });
}

describe('a budget of', () => {
  test('simulations starts no more than those', async () => {
    const { spend, stopReason, exceeded, tree } = await run({ simulations: 7 });
    expect({ stopReason, exceeded }).toEqual({ stopReason: 'budget', exceeded: 'simulations' });
    expect(spend).toMatchObject({ simulations: 7, calls: 14, ms: 700 });
    expect(tree.root.visits).toBe(7);
  });

  test('nodes adds no more than those', async () => {
    const { spend, exceeded, tree } = await run({ nodes: 10 });
    expect(exceeded).toBe('nodes');
    // Four at a time: a third expansion does not fit, and is not made by halves.
    expect(spend.nodes).toBe(8);
    expect(tree.size).toBe(9);
  });

  test('calls makes no more than those, retried ones and failures included', async () => {
    const { spend, exceeded } = await run({ calls: 9 }, { concurrency: 4 });
    expect(exceeded).toBe('calls');
    expect(spend.calls).toBe(9);
  });

  test('tokens stops before a call that might need more', async () => {
    const { spend, exceeded } = await run({ tokens: 150 });
    expect(exceeded).toBe('tokens');
    expect(spend.tokens).toBeLessThanOrEqual(150);
    expect(spend.tokens).toBeGreaterThan(60);
  });

  test('usd counts what the prices say', async () => {
    const { spend, exceeded } = await run({ usd: 0.0008 }, { prices });
    expect(exceeded).toBe('usd');
    expect(spend.usd).toBeLessThanOrEqual(0.0008);
    expect(spend.usd).toBeGreaterThan(0.0003);
  });

  test('usd needs the price of every model that is asked', async () => {
    await expect(run({ usd: 1 })).rejects.toMatchObject({
      code: 'usage',
      message:
        'Expected `prices` (`--price-in` and `--price-out`) to hold a price for `script`, because dollars are limited, got none.',
    });
  });

  test('ms is a deadline: what is in flight then is aborted', async () => {
    const model = scriptedModel({ answer: hashedAnswer, latencyMs: 50 });
    const { spend, exceeded, tree } = await run(
      { ms: 1020 },
      { ...throughModel(syntheticTree(), { model }), concurrency: 4 },
    );
    expect(exceeded).toBe('ms');
    expect(spend.ms).toBe(1020);
    expect(model.inFlight).toBe(0);
    expect(model.aborted).toBeGreaterThan(0);
    expect(tree.root.visits).toBeGreaterThan(10);
  });

  test('ms ends a search that makes no calls', async () => {
    const { exceeded } = await searchOf({
      ...syntheticTree(),
      budget: { ms: 30, simulations: 1e9 },
    });
    expect(exceeded).toBe('ms');
  });

  test('nothing but nodes ends all the same', async () => {
    const { stopReason } = await searchOf({ ...banditTree(), budget: { nodes: 1e6 } });
    expect(stopReason).toBe('exhausted');
  });

  test('several limits ends at the first that is met', async () => {
    expect((await run({ simulations: 100, calls: 5, ms: 1e6 })).exceeded).toBe('calls');
    expect((await run({ simulations: 2, calls: 500, ms: 1e6 })).exceeded).toBe('simulations');
    expect((await run({ simulations: 100, calls: 500, ms: 99 })).exceeded).toBe('ms');
  });

  test('a limit left undefined does not bind', async () => {
    const budget = { simulations: 3, calls: undefined } as unknown as Budget;
    expect((await run(budget)).exceeded).toBe('simulations');
  });

  test('left out, it is 100 simulations', async () => {
    const { spend, stopReason } = await searchOf(syntheticTree());
    expect(spend.simulations).toBe(100);
    expect(stopReason).toBe('budget');
  });
});

describe('a search that ends gracefully', () => {
  test('gives the best so far, whatever ended it', async () => {
    for (const budget of [{ simulations: 30 }, { calls: 55 }, { ms: 2500 }, { tokens: 900 }]) {
      for (const algorithm of [mcts(), bestOfN({ maxDepth: 3 })]) {
        // A search that knows all and calls nobody takes no time on this clock.
        const limits = { simulations: 60, ...budget };
        const { best, actions, tree } = await run(limits, { algorithm, concurrency: 4 });
        expect(best.depth).toBeGreaterThan(0);
        expect(actions).toHaveLength(best.depth);
        expect(tree.node(best.id)).toBe(best);
      }
    }
  });

  test('charges what was in flight at the deadline as reserved', async () => {
    const { spend } = await run({ ms: 120 }, { concurrency: 1 });
    // Two calls came back; the third was under way.
    expect(spend.calls).toBe(3);
  });

  test('counts tokens beyond what a server was allowed as overdraft', async () => {
    const model = scriptedModel({
      answer: hashedAnswer,
      usage: () => ({ inputTokens: 5, outputTokens: 1000 }),
    });
    const { overdraft, spend } = await run(
      { tokens: 1500 },
      throughModel(syntheticTree(), { model, maxTokens: 10 }),
    );
    expect(overdraft.tokens).toBeGreaterThan(0);
    expect(spend.tokens).toBeGreaterThan(1500);
  });

  test('charges a usage that was not told as reserved', async () => {
    const model = scriptedModel({ answer: hashedAnswer, usage: () => ({}) });
    const { spend } = await run({ calls: 4 }, throughModel(syntheticTree(), { model }));
    const told = await run({ calls: 4 });
    expect(spend.tokens).toBeGreaterThan(told.spend.tokens);
  });
});

describe('stopWhen', () => {
  test('ends the search after the simulation that satisfies it', async () => {
    const { stopReason, tree } = await run(
      { simulations: 100 },
      { stopWhen: ({ tree: grown }) => grown.size >= 9 },
    );
    expect(stopReason).toBe('stopped');
    expect(tree.size).toBe(9);
  });

  test('may be several, of which one suffices', async () => {
    const { stopReason, spend } = await run(
      { simulations: 100 },
      { stopWhen: [() => false, ({ spend: { calls } }) => calls >= 10] },
    );
    expect(stopReason).toBe('stopped');
    expect(spend.calls).toBe(10);
  });

  test('solved() ends with the first solution', async () => {
    const problem = banditTree();
    const {
      stopReason,
      actions,
      solved: isSolved,
    } = await searchOf({
      ...problem,
      stopWhen: solved(),
      budget: { simulations: 500 },
    });
    expect(stopReason).toBe('solved');
    expect(actions).toEqual(problem.best);
    expect(isSolved).toBe(true);
  });

  test('solved() takes a lower score where it is told to', async () => {
    const { stopReason, best } = await searchOf({
      ...banditTree(),
      stopWhen: solved({ score: 0.3 }),
      budget: { simulations: 500 },
    });
    expect(stopReason).toBe('solved');
    expect(best.reward).toBeGreaterThanOrEqual(0.3);
  });

  test('rejects the search where it throws', async () => {
    const stopWhen = () => {
      throw new Error('a bug in the condition');
    };
    for (const concurrency of [1, 4]) {
      await expect(run({ simulations: 9 }, { stopWhen, concurrency })).rejects.toThrow(
        'a bug in the condition',
      );
    }
  });
});
