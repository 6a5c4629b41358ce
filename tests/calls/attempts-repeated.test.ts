import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { type Journal, memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { ModelCall } from '../../src/contracts/language-model.ts';
import { openGate } from './harness.ts';
import { calling, caught, paid } from './middleware/attempting.ts';

const noOverdraft = { tokens: 0, usd: 0 };

describe('a budget, repeated,', () => {
  test('with room for an attempt leaves it to that, when the run goes on', async () => {
    const { gate: first, ledger: spent, journal } = openGate();
    await first.call(calling(spent, (call) => call.retry?.(paid) ?? turn()));
    const outcomesWith = async (tokens: number) => {
      const { gate, ledger } = openGate({
        journal: memoryJournal(journal.lines),
        budget: { tokens },
      });
      const [known, other] = ['model', 'other'].map((name) =>
        caught(gate.call(calling(ledger, () => turn(), { name }))),
      );
      return [await known, await other, ledger.spend.tokens];
    };

    // The known call holds 10 and comes to 13; the other one needs 10.
    expect(await outcomesWith(22)).toEqual(['answer', 'budget', 13]);
    expect(await outcomesWith(23)).toEqual(['answer', 'answer', 16]);
  });

  describe.each(['arrival', 'issued'] as const)('in the order of %s', (order) => {
    test('replays to what came of attempts under any budget, to the token', async () => {
      for (let tokens = 8; tokens <= 50; tokens++) {
        const outcomesOf = async (journal: Journal) => {
          const { gate, ledger } = openGate({ journal, order, budget: { tokens } });
          const retrying = (name: string) =>
            caught(gate.call(calling(ledger, (call) => call.retry?.(paid) ?? turn(), { name })));
          const together = await Promise.all(['one', 'two', 'three'].map(retrying));
          return [...together, await retrying('four'), ledger.spend, ledger.remaining];
        };
        const journal = memoryJournal();
        const live = await outcomesOf(journal);

        expect(await outcomesOf(replayed(journal)), `${tokens} tokens`).toEqual(live);
      }
    });
  });

  test('replays a further request without an overdraft', async () => {
    const live = openGate();
    const spend = { calls: 1, tokens: 15, usd: 0.5 };
    const before = (call: ModelCall) => call.requestExtraCall?.('More.') ?? turn();
    await live.gate.call(calling(live.ledger, before, { spend }));
    const replay = openGate({ journal: replayed(live.journal) });
    await replay.gate.call(calling(replay.ledger, before));

    expect(replay.ledger.spend).toEqual(live.ledger.spend);
    expect(replay.ledger.overdraft).toEqual(noOverdraft);
  });
});
