// Effects that ask models: a replay runs no effect, and must count what it asked all the same.
import { describe, expect, test } from 'vitest';
import { type Journal, memoryJournal, replayed } from '../../src/calls/index.ts';
import { mcts, type Policy } from '../../src/index.ts';
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
