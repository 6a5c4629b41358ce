import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/index.ts';
import {
  bestOfN,
  type Clock,
  type LanguageModel,
  mcts,
  type SearchAlgorithm,
  treeToJson,
} from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

const algorithms: Readonly<Record<string, SearchAlgorithm>> = {
  mcts: mcts(),
  'mcts of leaves': mcts({ evaluate: 'leaf' }),
  'best of n': bestOfN(),
};

/** A clock whose timers never come, and which goes on whenever somebody looks: what is late is found by looking. */
function ticking(): Clock {
  let time = 0;
  return {
    now: () => time++,
    sleep: (_ms, signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  };
}

/** Each third request fails once, is charged for it, and is made again at once. */
function failing(model: LanguageModel): LanguageModel {
  let requests = 0;
  return {
    ...model,
    async generate(request, call) {
      const fails = requests++ % 3 === 0;
      if (fails) {
        await model.generate(request, call);
        await call.retry?.({ message: 'Too late.', charged: true });
      }
      return model.generate(request, call);
    },
  };
}

interface Run {
  readonly algorithm: SearchAlgorithm;
  readonly concurrency: number;
  readonly order: 'arrival' | 'issued';
  readonly clock: () => Clock;
}

/** Ends a search by its deadline and replays it. Returns what both came to, as text. */
async function twice({ algorithm, concurrency, order, clock }: Run, ms: number) {
  const journal = memoryJournal();
  const ends: string[] = [];
  for (const kept of [journal, undefined]) {
    const model = failing(
      scriptedModel({ answer: hashedAnswer, latencyMs: (_, call) => 10 * (1 + (call % 3)) }),
    );
    const options: SearchOf<unknown, unknown> = {
      ...(throughModel(syntheticTree({ depth: 6 }), { model }) as SearchOf<unknown, unknown>),
      ...{ algorithm, concurrency, order },
      clock: clock(),
      journal: kept ?? replayed(journal),
      budget: { ms },
    };
    const { tree, stopReason, exceeded, spend } = await searchOf(options);
    const { calls, simulations } = spend;
    ends.push(JSON.stringify({ stopReason, exceeded, calls, simulations, tree: treeToJson(tree) }));
  }
  return ends;
}

describe('a replay of a run that its deadline ended is the same, with as many simulations', () => {
  for (const [name, algorithm] of Object.entries(algorithms)) {
    for (const concurrency of [1, 8]) {
      test.each(['arrival', 'issued'] as const)(
        `${name}, ${concurrency} at once, %s`,
        async (order) => {
          for (let ms = 10; ms <= 300; ms += 10) {
            const clock = () => manualClock({ auto: true });
            const [live, again] = await twice({ algorithm, concurrency, order, clock }, ms);
            expect(live).toContain('"exceeded":"ms"');
            expect(again, `${ms} ms`).toBe(live);
          }
        },
      );
    }
  }
});

describe('so is one whose deadline was found between two simulations', () => {
  for (const [name, algorithm] of Object.entries(algorithms)) {
    test.each([1, 8])(`${name}, %i at once`, async (concurrency) => {
      for (let ms = 31; ms <= 300; ms += 13) {
        const run: Run = { algorithm, concurrency, order: 'arrival', clock: immediate };
        const [live, again] = await twice(run, ms);
        expect(live).toContain('"exceeded":"ms"');
        expect(again, `${ms} ms`).toBe(live);
      }
    });
  }
});

/** The longest that a model or a retry waits here. */
const longestWait = 30;

/** A ticking clock on which models and retries wait for nothing. */
function immediate(): Clock {
  const clock = ticking();
  return {
    ...clock,
    sleep: (ms, signal) => (ms <= longestWait ? Promise.resolve() : clock.sleep(ms, signal)),
  };
}
