// Effects that ask models: a replay runs no effect, and must count what it asked all the same.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  type Journal,
  memoryJournal,
  replayed,
  withRetry,
  wrapModel,
} from '../../src/calls/index.ts';
import {
  type LanguageModel,
  ModelCallError,
  mcts,
  type Policy,
  seededRandom,
  treeToJson,
} from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

const asking = (content: string) => ({
  messages: [{ role: 'user', content }] as const,
  maxTokens: 20,
});

/** A policy whose effects ask a model twice each; beside them, it may ask the model what one of them asks. */
function policyOf({ shares }: { readonly shares: boolean }): Policy<string, string> {
  const model = scriptedModel({ answer: (_, index) => `up ${index}` });
  return {
    async propose({ depth }, { context }) {
      const moves = ['a', 'b'].map((move) =>
        context.effect({ name: 'ask', repeatable: true }, move, async () => {
          await context.generate(model, asking(`${depth} ${move} first`));
          const { completions } = await context.generate(model, asking(`${depth} ${move} then`));
          return `${move} ${completions[0]?.text}`;
        }),
      );
      const beside = shares ? [context.generate(model, asking(`${depth} a first`))] : [];
      const [actions] = await Promise.all([Promise.all(moves), Promise.all(beside)]);
      return actions.map((action) => ({ action }));
    },
  };
}

async function outcome(tokens: number, journal: Journal, { shares = false } = {}) {
  const { spend, stopReason, tree } = await searchOf({
    environment: {
      name: 'up',
      reset: () => ({ state: '' }),
      step: (state: string, move: string) => ({
        state: `${state}${move}`,
        terminal: state.length > 8,
        reward: 1,
      }),
    },
    policy: policyOf({ shares }),
    evaluator: () => 0.5,
    algorithm: mcts(),
    budget: { simulations: 8, tokens },
    journal,
  });
  const { ms: _, ...spent } = spend;
  return { spent, stopReason, size: tree.size };
}

describe.each([{ shares: false }, { shares: true }])('where effects ask a model (%o),', (how) => {
  test('a replay spends what the search has spent, whatever the budget', async () => {
    const reasons = new Set<string>();
    for (let tokens = 70; tokens < 700; tokens += 20) {
      const journal = memoryJournal();
      const live = await outcome(tokens, journal, how);
      expect(live.spent.tokens).toBeGreaterThan(0);
      expect(await outcome(tokens, replayed(journal), how)).toEqual(live);
      reasons.add(live.stopReason);
    }
    expect(reasons).toContain('budget');
  });

  test('the same command again asks nothing more', async () => {
    const journal = memoryJournal();
    const live = await outcome(2000, journal, how);
    const { length } = [...journal.lines];
    expect(await outcome(2000, journal, how)).toEqual(live);
    expect([...journal.lines]).toHaveLength(length);
  });

  test('so does one that goes on after a kill, and one that goes on after that', async () => {
    const journal = memoryJournal();
    const whole = await outcome(2000, journal, how);
    const lines = [...journal.lines];
    for (let kept = 2; kept < lines.length; kept++) {
      const cut = memoryJournal(lines.slice(0, kept));
      const resumed = await outcome(2000, cut, how);
      expect(resumed.size).toBe(whole.size);
      expect(await outcome(2000, replayed(cut), how)).toEqual(resumed);
      const twice = memoryJournal([...cut.lines].slice(0, kept + 4));
      const again = await outcome(2000, twice, how);
      expect(again.size).toBe(whole.size);
      expect(await outcome(2000, replayed(twice), how)).toEqual(again);
    }
  });
});

test('a replay grows the same tree where simulations are handed back, where calls fail, and where prompts are alike', async () => {
  for (let seed = 0; seed < 60; seed++) {
    const journal = memoryJournal();
    const live = await mixed(seed, journal);
    expect(await mixed(seed, replayed(journal))).toEqual(live);
  }
});

test('an effect that must not be repeated is made once, also where the budget refuses what it asks', async () => {
  const model = scriptedModel({ answer: () => 'up' });
  let sent = 0;
  const { stopReason } = await searchOf({
    ...climb,
    policy: {
      async propose(_, { context }) {
        const send = () =>
          context
            .effect('send', null, async () => {
              sent++;
              return (await context.generate(model, asking('Polish it.'))).completions.length;
            })
            .catch(() => 0);
        return [{ action: `${await send()}${await send()}` }];
      },
    },
    budget: { calls: 1 },
  });
  expect([sent, stopReason]).toEqual([1, 'budget']);
});

test('a search within an effect ends', async () => {
  const model = scriptedModel({ answer: () => 'up' });
  const policy: Policy<string, string> = {
    async propose({ id }, { context }) {
      await context.generate(model, asking(`Inside ${id}`));
      return [{ action: 'a' }];
    },
  };
  const { stopReason } = await searchOf({
    ...climb,
    policy,
    algorithm: {
      name: 'within',
      concurrency: 'any',
      laws: [],
      async run(tree, context) {
        const { environment, evaluator } = climb;
        const within = { policy, evaluator, share: 0.5, budget: { simulations: 3 } };
        await context.effect({ name: 'plan', repeatable: true }, null, async () =>
          (await context.search(environment, within)).actions.join(),
        );
        await mcts().run(tree, context);
      },
    },
    budget: { simulations: 8 },
  });
  expect(stopReason).toBe('budget');
});

const climb = {
  environment: {
    name: 'climb',
    reset: () => ({ state: '' }),
    step: (state: string, move: string) => ({
      state: `${state}${move}`,
      terminal: state.length > 4,
    }),
  },
  evaluator: () => 0.5,
  algorithm: mcts(),
};

/** Effects and their policy ask with like prompts of a model that fails now and then, in parallel. */
async function mixed(seed: number, journal: Journal) {
  const random = seededRandom(`mixed ${seed}`);
  const script = scriptedModel({ answer: (_, index) => `up ${index}` });
  const model: LanguageModel = wrapModel(
    {
      ...script,
      async generate(request, call) {
        if (random.next() < 0.2) throw new ModelCallError({ kind: 'network', message: 'Lost.' });
        await setImmediate();
        return script.generate(request, call);
      },
    },
    withRetry({ baseMs: 0, maxMs: 0, breaker: false }),
  );
  const long = 'x'.repeat(200);
  const { tree, spend, stopReason } = await searchOf({
    ...climb,
    policy: {
      async propose({ depth, id }, { context }) {
        const asked = context.effect({ name: 'ask', repeatable: true }, id, async () => {
          const { completions } = await context.generate(model, asking(`${long} ${depth}`));
          return completions[0]?.text ?? '';
        });
        const own = context.generate(model, asking(`${long} and ${id}`));
        const [first, { completions }] = await Promise.all([asked, own]);
        return [{ action: first }, { action: `${completions[0]?.text} too` }];
      },
    },
    concurrency: 4,
    budget: { simulations: 12, tokens: 600 + 40 * seed },
    journal,
  });
  const { ms: _, ...spent } = spend;
  return { tree: treeToJson(tree), spent, stopReason };
}
