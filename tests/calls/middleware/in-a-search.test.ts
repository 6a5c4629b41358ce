import { describe, expect, test } from 'vitest';
import { ModelCallError } from '../../../src/base/errors.ts';
import {
  type Journal,
  memoryJournal,
  replayed,
  withCache,
  withLimit,
  withRetry,
  wrapModel,
} from '../../../src/calls/index.ts';
import type { LanguageModel } from '../../../src/contracts/language-model.ts';
import { seededRandom } from '../../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../../src/testing/through-model.ts';
import { treeToJson } from '../../../src/tree/serialize.ts';
import { searchOf } from '../../support/search-of.ts';
import { failure, playing, request } from './harness.ts';

const paid = { message: 'No answer.', charged: true };

const problem = syntheticTree({ branching: 3 });

describe('a search', () => {
  /** A model whose key is refused after so many answers. */
  function refusing(after: number) {
    const model = scriptedModel({
      answer(request) {
        if (model.requests.length > after) {
          throw new ModelCallError({ kind: 'auth', status: 401, message: 'The key is refused.' });
        }
        return hashedAnswer(request);
      },
    });
    return model;
  }

  const run = (model: ReturnType<typeof refusing>, journal: Journal) =>
    searchOf({
      ...throughModel(problem, { model }),
      budget: { simulations: 30 },
      clock: manualClock({ auto: true }),
      journal,
    });

  test('whose key is refused ends with what it has found, and its replay with the same', async () => {
    const journal = memoryJournal();
    const live = await run(refusing(10), journal);
    expect(live).toMatchObject({
      stopReason: 'failed',
      failure: { message: 'The key is refused.' },
    });
    // Ten answers, and one refusal that counts as a call.
    expect(live.spend.calls).toBe(11);
    expect(live.tree.size).toBeGreaterThan(1);
    const again = await run(refusing(0), replayed(journal));

    expect(again).toMatchObject({
      stopReason: 'failed',
      failure: { message: 'The key is refused.' },
    });
    expect(JSON.stringify(treeToJson(again.tree))).toBe(JSON.stringify(treeToJson(live.tree)));
    expect(again.spend.calls).toBe(11);
  });

  test('goes on with a better key where it ended', async () => {
    const journal = memoryJournal();
    await run(refusing(10), journal);
    const better = refusing(1000);
    const resumed = await run(better, memoryJournal(journal.lines));
    const whole = await run(refusing(1000), memoryJournal());

    expect(resumed.stopReason).toBe('budget');
    expect(JSON.stringify(treeToJson(resumed.tree))).toBe(JSON.stringify(treeToJson(whole.tree)));
    // The refused call counts on top.
    expect(resumed.spend.calls).toBe(whole.spend.calls + 1);
    expect(better.requests).toHaveLength(whole.spend.calls - 10);
  });
});

describe('the spend of a search', () => {
  test('over a model that always fails for nothing ends at its limit on calls', async () => {
    const model = scriptedModel({
      answer() {
        throw new ModelCallError({ kind: 'overloaded', message: 'Busy.' });
      },
    });
    const result = await searchOf({
      ...throughModel(problem, { model }),
      budget: { calls: 4 },
      clock: manualClock({ auto: true }),
    });

    expect(result.spend).toMatchObject({ tokens: 0, usd: 0 });
    expect(result.spend.calls).toBeLessThanOrEqual(4);
    expect(result.spend.calls).toBeGreaterThan(0);
    expect(model.requests.length).toBe(result.spend.calls);
  });

  test('counts in its spend what attempts were charged', async () => {
    const model = scriptedModel({
      answer: hashedAnswer,
      usage: () => ({ inputTokens: 1, outputTokens: 1 }),
    });
    let retried = 0;
    const stumbling = {
      ...model,
      generate: async (...[request, call]: Parameters<typeof model.generate>) => {
        if (retried++ === 0) await call.retry?.(paid);
        return model.generate(request, call);
      },
    };
    const options = { budget: { simulations: 5 }, clock: manualClock({ auto: true }) };
    const plain = await searchOf({ ...throughModel(problem, { model }), ...options });
    const journal = memoryJournal();
    const result = await searchOf({
      ...throughModel(problem, { model: stumbling }),
      ...options,
      journal,
    });
    const intent = journal.lines.find((line) => line.type === 'intent');

    expect(result.spend.calls).toBe(plain.spend.calls);
    expect(result.spend.tokens - plain.spend.tokens).toBe(
      intent?.type === 'intent' ? intent.reserved.tokens : undefined,
    );
  });
});

/** A server that answers slowly, often not at all, and knows what it has served. */
function faulty(seed: number): { readonly model: LanguageModel; served(): number } {
  const random = seededRandom('faults').split(seed);
  let served = 0;
  const inner = scriptedModel({ answer: hashedAnswer });
  const model: LanguageModel = {
    provider: 'faulty',
    modelId: 'server',
    capabilities: { n: true },
    async generate(request, call) {
      const fate = random.next();
      await call.clock.sleep(1 + random.integer(50), call.signal);
      if (fate < 0.15) throw new ModelCallError({ kind: 'overloaded', message: 'Busy.' });
      if (fate < 0.2) {
        throw new ModelCallError({ kind: 'rate-limit', message: 'Slow.', retryAfterMs: 70 });
      }
      const generation = await inner.generate(request, call);
      const { inputTokens = 0, outputTokens = 0 } = generation.usage;
      served += inputTokens + outputTokens;
      if (fate < 0.35) throw new ModelCallError({ kind: 'timeout', message: 'Late.' });
      return fate < 0.4 ? { ...generation, usage: {} } : generation;
    },
  };
  return { model, served: () => served };
}

/** Searches over a faulty server, and replays what was written down. */
async function searched(seed: number, tokens: number) {
  const { model, served } = faulty(seed);
  const layers = [
    withCache(),
    withRetry({ attempts: 2, random: seededRandom(seed) }),
    withLimit({ concurrency: 3, requestsPerMinute: 200 }),
  ];
  const journal = memoryJournal();
  const run = (asked: LanguageModel, to: Journal) =>
    searchOf({
      ...throughModel(problem, { model: asked }),
      budget: { simulations: 24, tokens },
      concurrency: 6,
      clock: manualClock({ auto: true }),
      journal: to,
    });
  const live = await run(wrapModel(model, ...layers), journal);
  return { live, again: await run(model, replayed(journal)), served: served() };
}

describe('with a faulty server', () => {
  test('no token goes uncounted, and no budget is exceeded', async () => {
    const reasons = new Set<string | undefined>();
    for (let seed = 0; seed < 8; seed++) {
      const tokens = 400 + 150 * seed;
      const { live, served } = await searched(seed, tokens);
      expect(live.spend.tokens, `seed ${seed}`).toBeGreaterThanOrEqual(served);
      expect(live.spend.tokens, `seed ${seed}`).toBeLessThanOrEqual(tokens);
      expect(live.overdraft).toEqual({ tokens: 0, usd: 0 });
      reasons.add(live.exceeded);
    }
    expect(reasons).toContain('simulations');
    expect(reasons).toContain('tokens');
  });

  test('the replay finds the same for the same price', async () => {
    for (let seed = 0; seed < 4; seed++) {
      const { live, again } = await searched(seed, 10_000);
      const [{ ms: _live, ...spent }, { ms: _again, ...spentAgain }] = [live.spend, again.spend];
      const [tree, sameTree] = [live, again].map((result) =>
        JSON.stringify(treeToJson(result.tree)),
      );
      expect(spentAgain).toEqual(spent);
      expect(sameTree === tree, `seed ${seed}`).toBe(true);
    }
  });
});

test('a server that wants to be left alone for an hour ends the search, and the same command asks it again', async () => {
  const hour = failure('rate-limit', { retryAfterMs: 3_600_000, charged: false });
  const model = playing([hour]);
  const journal = memoryJournal();
  const asked = () => {
    const patient = wrapModel(model, withRetry());
    return searchOf({
      environment: {
        name: 'up',
        reset: () => ({ state: 0 }),
        step: (state: number, by: number) => ({ state: state + by }),
      },
      policy: {
        async propose(_, { context }) {
          await context.generate(patient, { ...request, maxTokens: 8 });
          return [{ action: 1 }];
        },
      },
      evaluator: () => 0.5,
      budget: { calls: 20, simulations: 5 },
      journal,
    });
  };
  const { stopReason, failure: why, spend } = await asked();
  expect([stopReason, why?.message, spend.tokens]).toEqual([
    'failed',
    expect.stringMatching(/^Gave up after 1 attempt .* wait 3600\.0 s, as the server asks, /),
    0,
  ]);
  expect(model.times).toHaveLength(1);
  expect((await asked()).stopReason).toBe('budget');
  expect(model.times.length).toBeGreaterThan(1);
});
