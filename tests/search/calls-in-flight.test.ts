import { describe, expect, test } from 'vitest';
import { BudgetPool } from '../../src/calls/budget-pool.ts';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import { mcts, type Policy } from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { treeToJson } from '../../src/tree/serialize.ts';
import { deferred, effectCall, openGate } from '../calls/harness.ts';
import { searchOf } from '../support/search-of.ts';

const jittered = () => {
  let calls = 0;
  return scriptedModel({ answer: hashedAnswer, latencyMs: () => 10 + ((calls++ * 37) % 90) });
};

/** Each simulation judges twenty children at once, each with a call of its own. */
function broad(model = jittered()) {
  return {
    ...throughModel(syntheticTree({ branching: 20 }), { model }),
    algorithm: mcts({ evaluate: 'all' }),
    budget: { simulations: 24 },
    clock: manualClock({ auto: true }),
  };
}

describe('calls in flight', () => {
  test.each([
    [1, 16],
    [4, 16],
    [8, 32],
    [{ simulations: 8, calls: 3 }, 3],
    [{ simulations: 2, calls: 40 }, 40],
  ])('of a search with concurrency %j are at most %i', async (concurrency, most) => {
    const model = jittered();
    const { spend } = await searchOf({ ...broad(model), concurrency });
    expect(spend.simulations).toBe(24);
    expect(model.mostInFlight).toBe(Math.min(most, 40));
  });

  test.each([
    [{ simulations: 0, calls: 3 }, 'concurrency.simulations'],
    [{ simulations: 1, calls: 0 }, 'concurrency.calls'],
    [{ simulations: 1, calls: 4, call: 4 }, 'call'],
  ])('cannot be bounded by %j', async (concurrency, named) => {
    await expect(searchOf({ ...broad(), concurrency })).rejects.toThrow(named);
  });
});

describe('calls in flight, bounded,', () => {
  test.each(['arrival', 'issued'] as const)(
    'are replayed to the same tree where results take effect in the order %s',
    async (order) => {
      const settings = { concurrency: { simulations: 6, calls: 4 }, order };
      const journal = memoryJournal();
      const live = await searchOf({ ...broad(), ...settings, journal });
      const again = await searchOf({ ...broad(), ...settings, journal: replayed(journal) });
      expect(treeToJson(again.tree)).toEqual(treeToJson(live.tree));
      expect(again.coverage).toMatchObject({ unrecorded: 0, differsAt: undefined });
    },
  );

  test('go on from a journal that was cut off anywhere to the same tree, and buy nothing twice', async () => {
    const settings = { concurrency: { simulations: 6, calls: 4 }, order: 'issued' } as const;
    const journal = memoryJournal();
    const live = await searchOf({ ...broad(), ...settings, journal });
    const lines = [...journal.lines];
    const results = lines.filter(({ type }) => type === 'result').length;
    for (let cut = 1; cut < lines.length; cut += Math.ceil(lines.length / 9)) {
      const model = jittered();
      const before = lines.slice(0, cut);
      const resumed = await searchOf({
        ...broad(model),
        ...settings,
        journal: memoryJournal(before),
      });
      expect(treeToJson(resumed.tree)).toEqual(treeToJson(live.tree));
      const paid = before.filter(({ type }) => type === 'result').length;
      expect(model.requests.length).toBe(results - paid);
    }
  });

  test('that wait leave the budget of a pool to other searches', async () => {
    const pool = new BudgetPool({ calls: 30 });
    const clock = manualClock();
    const model = scriptedModel({ answer: hashedAnswer, latencyMs: 50 });
    const settings = { ...broad(model), clock, pool, budget: { simulations: 2 } };
    const controller = new AbortController();
    const waiting = searchOf({
      ...{ ...settings, signal: controller.signal, concurrency: { simulations: 1, calls: 2 } },
    });
    waiting.catch(() => {});
    while (model.mostInFlight < 2) await clock.advance(10);
    expect(pool.remaining.calls).toBe(30 - pool.spend.calls - 2);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(pool.remaining.calls).toBe(30 - pool.spend.calls);
  });

  test('are let go by the deadline, those that wait included', async () => {
    const clock = manualClock({ auto: true });
    const model = scriptedModel({ answer: hashedAnswer, latencyMs: 10_000 });
    const { spend, stopReason } = await searchOf({
      ...{ ...broad(model), clock, budget: { ms: 25_000 } },
      concurrency: { simulations: 1, calls: 2 },
    });
    expect(stopReason).toBe('budget');
    expect(spend.ms).toBe(25_000);
    // One expansion, and of the twenty judgements that were asked for two and two more.
    expect(spend.calls).toBe(5);
  });
});

describe('a call that makes others', () => {
  const model = () => scriptedModel({ answer: hashedAnswer, latencyMs: 50 });
  const request = { messages: [{ role: 'user' as const, content: 'what?' }], maxTokens: 4 };

  /** An effect that asks a model, as many at once as there are nodes. */
  function asking(inner: ReturnType<typeof model>, alike: boolean): Policy<unknown, number> {
    return {
      propose: async ({ id }, { context }) => {
        const content = alike ? 'the same' : `of ${id}`;
        const ask = () =>
          context.generate(inner, { ...request, messages: [{ role: 'user', content }] });
        // The model is asked once outside, so that an effect may have to share a call that waits.
        const outside = alike ? ask() : undefined;
        await context.effect({ name: 'tool', repeatable: true }, id, async (call) => {
          await call.clock.sleep(5, call.signal);
          return (await ask()).completions.length;
        });
        await outside;
        return [0, 1].map((action) => ({ action, prior: 0.5 }));
      },
    };
  }

  test.each([false, true])('needs one place with them (equal ones: %j)', async (alike) => {
    const { environment, evaluator } = syntheticTree();
    const { spend } = await searchOf({
      ...{ environment, evaluator, policy: asking(model(), alike), algorithm: mcts() },
      ...{ budget: { simulations: 6 }, clock: manualClock({ auto: true }) },
      concurrency: { simulations: 3, calls: 1 },
    });
    expect(spend.simulations).toBe(6);
  });
});

test('calls are made in the order in which they were asked for', async () => {
  const { gate, ledger } = openGate({ limit: 2 });
  const begun: string[] = [];
  const ends = new Map<string, (value: string) => void>();
  const outputs = ['a', 'b', 'c', 'd', 'e'].map((name) =>
    gate.call(
      effectCall(ledger, name, () => {
        begun.push(name);
        const { promise, resolve } = deferred<string>();
        ends.set(name, resolve);
        return promise;
      }),
    ),
  );
  expect(begun).toEqual(['a', 'b']);
  ends.get('b')?.('b');
  await outputs[1];
  await new Promise((resolve) => setTimeout(resolve));
  expect(begun).toEqual(['a', 'b', 'c']);
  ends.get('a')?.('a');
  ends.get('c')?.('c');
  await Promise.all([outputs[0], outputs[2]]);
  await new Promise((resolve) => setTimeout(resolve));
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
});
