import assert from 'node:assert/strict';
import { seededRandom } from '../../../base/random.ts';
import type { Random } from '../../../contracts/context.ts';
import type { Budget, Spend } from '../../../contracts/spend.ts';
import { search, streamSearch } from '../../../search/search.ts';
import { manualClock } from '../../manual-clock.ts';
import { type ScriptedModel, scriptedModel } from '../../scripted-model.ts';
import { syntheticTree } from '../../synthetic-tree.ts';
import { hashedAnswer, throughModel } from '../../through-model.ts';
import { turns } from '../sampling.ts';
import type { AlgorithmSubject } from './claims.ts';
import { asked, concurrencies, grow } from './growing.ts';

const endless = syntheticTree({ branching: 3, depth: 20 });

/** No limit is ever exceeded, and an aborted search cleans up. */
export function describeLimits(subject: AlgorithmSubject): void {
  describeBudgets(subject);
  describeAborts(subject);
}

function describeBudgets({ claims, runner }: AlgorithmSubject): void {
  runner.test(
    'never exceeds a budget, whatever the concurrency and the size of calls',
    async () => {
      for (let trial = 0; trial < 24; trial++) {
        const random = seededRandom('budgets').split(trial);
        const budget = drawBudget(random);
        const allowed = concurrencies(claims.create());
        const concurrency = allowed[random.integer(allowed.length)] ?? 1;
        const model = unpredictableModel(random);
        const problem = throughModel(endless, { model, maxTokens: 1 + random.integer(50) });
        const settings = { budget, concurrency, prices };
        const { spend, overdraft, stopReason } = await grow(problem, claims.create(), settings);
        assertWithin(spend, budget, `trial ${trial}, concurrency ${concurrency}`);
        assert.deepEqual(overdraft, { tokens: 0, usd: 0 });
        assert.equal(stopReason, 'budget', `trial ${trial}: ${JSON.stringify({ budget, spend })}`);
      }
    },
  );

  runner.test('does nothing with a budget of nothing', async () => {
    const model = scriptedModel({ answer: hashedAnswer });
    for (const unit of ['simulations', 'nodes', 'calls', 'tokens', 'ms'] as const) {
      const budget = { [unit]: 0 };
      const { spend } = await grow(asked(endless, model), claims.create(), { budget });
      assertWithin(spend, budget, unit);
    }
  });
}

const prices = { script: { input: 3, output: 15 } };

const limits: Readonly<Record<keyof Spend, number>> = {
  simulations: 40,
  nodes: 60,
  calls: 30,
  tokens: 1500,
  usd: 0.01,
  ms: 900,
};

/** One or two limits, and a limit on simulations that ends every search. */
function drawBudget(random: Random): Budget {
  const units = Object.keys(limits) as (keyof Spend)[];
  const drawn = [random.integer(units.length), random.integer(units.length)];
  const budget = drawn.map((index) => {
    const unit = units[index] ?? 'simulations';
    const limit = limits[unit] * random.next();
    return [unit, unit === 'usd' ? limit : Math.floor(limit)] as const;
  });
  return { simulations: 200, ...Object.fromEntries(budget) };
}

/** A model that takes a random time, and uses a random part of its reservation. */
function unpredictableModel(random: Random): ScriptedModel {
  return scriptedModel({
    answer: hashedAnswer,
    latencyMs: () => random.integer(100),
    usage: ({ messages, maxTokens = 0 }) => ({
      inputTokens: random.integer(messages.reduce((sum, { content }) => sum + content.length, 1)),
      outputTokens: random.integer(maxTokens + 1),
    }),
  });
}

function assertWithin(spend: Spend, budget: Budget, where: string): void {
  for (const [unit, limit] of Object.entries(budget) as [keyof Spend, number][]) {
    assert.ok(
      spend[unit] <= limit + 1e-12,
      `${where}: ${spend[unit]} ${unit} spent of ${limit} (${JSON.stringify(budget)})`,
    );
  }
}

function describeAborts({ claims, runner }: AlgorithmSubject): void {
  runner.test('rejects promptly, with the reason, when its signal aborts', async () => {
    for (const concurrency of concurrencies(claims.create())) {
      const model = scriptedModel({ answer: hashedAnswer, latencyMs: Number.POSITIVE_INFINITY });
      const controller = new AbortController();
      const reason = new Error('changed my mind');
      const { environment, ...guides } = asked(endless, model);
      const searching = search(environment, {
        ...guides,
        algorithm: claims.create(),
        signal: controller.signal,
        clock: manualClock(),
        concurrency,
      });
      await turns(8);
      assert.ok(model.inFlight > 0, 'no call is under way');
      controller.abort(reason);
      const outcome = await Promise.race([
        searching.then(
          () => 'resolved',
          (error: unknown) => error,
        ),
        turns(50).then(() => 'still going on'),
      ]);
      assert.equal(outcome, reason);
      assert.equal(model.inFlight, 0, 'calls go on after the abort');
    }
  });

  runner.test('aborts its calls when the reader leaves the stream', async () => {
    const concurrency = concurrencies(claims.create()).at(-1) ?? 1;
    const model = scriptedModel({ answer: hashedAnswer, latencyMs: (_request, call) => call % 7 });
    let ends = 0;
    const { environment, ...guides } = asked(endless, model);
    const events = streamSearch(environment, {
      ...guides,
      algorithm: claims.create(),
      clock: manualClock({ auto: true }),
      concurrency,
    });
    for await (const { type } of events) {
      if (type === 'call-end' && ++ends === 9) break;
    }
    const { inFlight, requests } = model;
    assert.equal(inFlight, 0, 'calls go on after the reader has left');
    const made = requests.length;
    await turns(20);
    assert.equal(requests.length, made, 'calls are made after the reader has left');
  });
}
