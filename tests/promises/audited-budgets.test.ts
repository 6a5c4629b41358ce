import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import {
  beam,
  budgeted,
  type Environment,
  type LanguageModel,
  mcts,
  type Policy,
  search,
  stepwise,
  valueWidening,
} from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { spendingDown } from '../../src/tree/bg-mcts.ts';
import { explain } from '../../src/tree/explain.ts';
import { completedByMixValue } from '../../src/tree/qtransform.ts';
import { treeToJson } from '../../src/tree/serialize.ts';
import { everyNth } from '../../src/values/index.ts';
import { grow, plant, stats } from '../tree/grow.ts';

const scripted = () => scriptedModel({ answer: hashedAnswer, latencyMs: 50 });

describe('calls in calls', () => {
  const asking = (model: LanguageModel, before: boolean): Policy<unknown, number> => ({
    propose: async ({ id }, { context }) => {
      const ask = () => {
        const messages = [{ role: 'user' as const, content: before ? 'the same' : `of ${id}` }];
        return context.generate(model, { messages, maxTokens: 4 });
      };
      // Then it is answered when the effect asks for it again.
      if (before) await ask();
      const own = [1, 2, 3].map((place) => {
        const messages = [{ role: 'user' as const, content: `${id} ${place}` }];
        return context.generate(model, { messages, maxTokens: 4 });
      });
      for (const call of own) call.catch(() => {});
      await context.effect({ name: 'tool', repeatable: true }, id, async () => {
        await ask();
        return null;
      });
      await Promise.all(own);
      return [0, 1].map((action) => ({ action, prior: 0.5 }));
    },
  });
  const of = (model: LanguageModel, before: boolean) => {
    const { environment, evaluator } = syntheticTree();
    return {
      environment,
      options: { evaluator, policy: asking(model, before), algorithm: mcts() },
    };
  };

  test('that share an existing answer admit no other call', async () => {
    const model = scripted();
    const { environment, options } = of(model, true);
    await search(environment, {
      ...{ ...options, budget: { simulations: 12 }, clock: manualClock({ auto: true }) },
      concurrency: { simulations: 6, calls: 1 },
    });

    expect(model.mostInFlight).toBe(1);
  });

  test('are refused in the order of issue, where they would wait for one another', async () => {
    const { environment, options } = of(scripted(), false);
    const clock = manualClock({ auto: true });
    const budget = { simulations: 4 };

    await expect(
      search(environment, { ...options, budget, clock, order: 'issued' }),
    ).rejects.toThrow("Expected an effect to make no calls if `order` is 'issued'");
  });

  test('do not wait for the budget that their own effect holds', async () => {
    for (const calls of [1, 3, 4, 5, 9]) {
      const { environment, options } = of(scripted(), false);
      const clock = manualClock({ auto: true });
      const { stopReason, spend } = await search(environment, {
        ...{ ...options, budget: { calls }, clock },
      });

      expect(stopReason).toBe('budget');
      expect(spend.calls).toBeLessThanOrEqual(calls);
    }
  });
});

test('a model that counts is replayed call by call where calls wait for a place', async () => {
  for (const limit of [1, 2, 3]) {
    const counting = (): LanguageModel => ({
      ...scripted(),
      count: ({ messages }) => messages.length,
    });
    const run = (journal = memoryJournal()) => {
      const { environment, ...guides } = throughModel(syntheticTree({ branching: 6 }), {
        model: counting(),
      });
      return search(environment, {
        ...{ ...guides, journal, algorithm: mcts({ evaluate: 'all' }) },
        ...{ budget: { tokens: 900, simulations: 40 }, clock: manualClock({ auto: true }) },
        concurrency: { simulations: 4, calls: limit },
      });
    };
    const journal = memoryJournal();
    const live = await run(journal);
    const again = await run(replayed(journal) as typeof journal);

    expect(again.coverage).toMatchObject({ unrecorded: 0, differsAt: undefined });
    expect(treeToJson(again.tree)).toEqual(treeToJson(live.tree));
  }
});

test('a budget of nothing is none: 100 simulations', async () => {
  for (const budget of [{}, { usd: undefined }]) {
    const { environment, ...guides } = syntheticTree();
    const given = budget as { readonly usd?: number };
    const { spend } = await search(environment, { ...guides, budget: given });

    expect(spend.simulations).toBe(100);
  }
});

test('steps leave no marks of what they did not wait for', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const model = scriptedModel({
      answer: hashedAnswer,
      latencyMs: (request) => 1 + ((JSON.stringify(request).length * 7919 * (seed + 1)) % 90),
    });
    const { environment, ...guides } = throughModel(syntheticTree({ seed }), { model });
    const { tree } = await search(environment, {
      ...{ ...guides, algorithm: stepwise(mcts(), { simulations: 8 }), seed, concurrency: 4 },
      ...{ budget: { simulations: 60 }, clock: manualClock({ auto: true }) },
    });

    for (const node of tree.nodes()) expect(node.inFlight).toBe(0);
  }
});

/** Letters, of which the first are unreadable; a path is as long as is said. */
const letters = (depth: number): Environment<string, string> => ({
  name: 'letters',
  reset: () => ({ state: '' }),
  step: (state, action) => {
    const next = state + action;
    return next.length < depth ? { state: next } : { state: next, terminal: true, reward: 0 };
  },
});

describe('filling', () => {
  const drawing = (unreadable: number): Policy<string, string> => ({
    propose: async ({ depth }, { count, offset, context }) => {
      const samples = Array.from({ length: Math.min(count, 2) }, (_, place) => offset + place);
      return Promise.all(
        samples.map(async (sample) => {
          await context.effect(
            { name: 'draw', repeatable: true },
            [depth, sample],
            async () => null,
          );
          return depth === 0 && sample < unreadable
            ? { failure: { kind: 'parse' as const, message: 'It cannot be read.' } }
            : { action: 'abcdefgh'.charAt(sample % 8) };
        }),
      );
    },
  });

  test.each([
    ['whose first samples cannot be read', mcts({ width: 2 }), 2],
    ['that is asked for all there is', mcts(), 0],
    ['of which a level is kept', beam({ width: 2, samples: 2 }), 2],
  ] as const)('goes on with a node %s', async (_, algorithm, unreadable) => {
    const policy = drawing(unreadable);
    const options = { policy, algorithm, evaluator: () => 0.5, budget: { calls: 40 } };
    const plain = await search(letters(3), options);
    const filled = await search(letters(3), { ...options, fill: true });

    expect(plain.spend.calls).toBeLessThan(20);
    expect(filled.spend.calls).toBe(40);
    expect(filled.tree.size).toBeGreaterThan(plain.tree.size);
  });
});

test.each([
  [6, 24],
  [12, 48],
  [20, 80],
])('of %i steps a budget of %i calls, four answers, holds one', async (depth, calls) => {
  for (let seed = 0; seed < 6; seed++) {
    const policy: Policy<string, string> = {
      propose: async ({ id }, { count, offset, context }) =>
        Promise.all(
          Array.from({ length: Math.min(count, 8) }, async (_, place) => {
            await context.effect(
              { name: 'draw', repeatable: true },
              [id, offset + place],
              async () => null,
            );
            return { action: 'abcdefgh'.charAt((offset + place) % 8) };
          }),
        ),
    };
    const value = (state: string) =>
      ((state.length * 131 + seed * 17 + state.charCodeAt(0)) % 40) / 100;
    const { tree, spend } = await search(letters(depth), {
      policy,
      evaluator: ({ state = '' }) => value(state),
      algorithm: budgeted({ evaluate: 'all', width: 2, widening: valueWidening() }),
      budget: { calls },
      seed,
    });

    expect(tree.bestTerminal?.depth).toBe(depth);
    expect(spend.calls).toBeLessThanOrEqual(calls);
  }
});

test('BG-MCTS counts no duplicate and no failure as a child worth 0', () => {
  const tree = plant();
  const a = grow(tree, tree.root, ['a', { value: 0.2 }]);
  const b = grow(tree, tree.root, ['b', { value: 0.6 }]);
  const lost = grow(tree, tree.root, ['c', {}]);
  for (const node of [a, b]) tree.backup(node);
  tree.fail(lost, { kind: 'call', message: 'It broke.' });
  tree.rule = spendingDown({ spent: 0.5, depth: 4 }).spec;

  // π is a softmax of 0.2 and 0.6 alone; N of the root counts as 1, so that ln N is 0.
  expect(explain(tree, tree.root)[0]?.terms['value']).toBeCloseTo(0.2, 12);
  // GEN = 0.4 + 0.5 · 0.04 is less than S(b), which is 0.6 and more: with 0 among them it would be less still, so look at a
  // root whose best child lies between: (0.2 + 0.3) / 2 = 0.25 against (0.2 + 0.3 + 0) / 3.
  const other = plant();
  for (const [action, value] of [
    ['a', 0.3],
    ['b', 0.3],
  ] as const) {
    other.backup(grow(other, other.root, [action, { value }]));
  }
  other.fail(grow(other, other.root, ['c', {}]), { kind: 'call', message: 'It broke.' });
  // S = 0.3 + 0 for both, GEN = 0.3: another child is sampled. With a third worth 0, GEN would be 0.2 + 0.5 · 0.02 = 0.21.
  const rule = spendingDown({ spent: 0.5, depth: 4, kappa: 0 });
  expect(rule(other, { next: () => 0 } as never)).toBe(other.root);
});

test('a duplicate does not stretch the range of completed values', () => {
  const children = [0.4, 0.5].map((value, id) => stats({ id, visits: 1, value, prior: 0.4 }));
  const duplicate = stats({ id: 2, status: 'pruned', prior: 0.2 });
  const of = (all: typeof children) => {
    const transform = completedByMixValue()(stats({ visits: 2, value: 0.1, children: all }));
    return children.map((child) => transform(child));
  };

  expect(of([...children, duplicate])).toEqual(of(children));
});

test('every second step is what the others are worth, whatever was evaluated first', async () => {
  const value = (state: string) =>
    [...state].reduce((sum, letter) => sum + letter.charCodeAt(0) - 97, 1) / 40;
  const { tree } = await search(letters(7), {
    policy: () => [...'abc'].map((action) => ({ action })),
    evaluator: everyNth(
      {
        needs: 'realised',
        evaluate: (nodes) => nodes.map(({ state = '' }) => ({ value: value(state) })),
      },
      2,
    ),
    algorithm: mcts(),
    budget: { simulations: 150 },
  });
  let between = 0;
  for (const { depth, state, rawValue } of tree.nodes()) {
    if (rawValue === undefined || depth % 2 === 0 || depth === 7) continue;
    between++;
    expect(rawValue).toBe(value(state?.slice(0, depth - 1) ?? ''));
  }

  expect(between).toBeGreaterThan(20);
});
