import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compare } from '../../src/bench/bench.ts';
import type { BenchCell } from '../../src/bench/cell.ts';
import { reportMarkdown } from '../../src/bench/markdown.ts';
import type { BenchMethod } from '../../src/bench/methods.ts';
import { withRetry, wrapModel } from '../../src/calls/index.ts';
import { readJournal } from '../../src/calls/journal-file.ts';
import { beam, type LanguageModel, ModelCallError, seededRandom } from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { heuristic } from '../../src/values/index.ts';
import { base, digitModel, newFolder, timeless } from './codes.ts';

const keyOf = ({ instance, method, budget, attempt }: BenchCell) =>
  `${instance} ${method} ${budget.limit} ${attempt}`;

describe('a comparison', () => {
  test.each([true, false])('buys equal requests once, n honoured: %s', async (n) => {
    const { model, asked } = digitModel({ n });
    const { cells, report } = await compare({ ...base, model, out: newFolder() });
    expect(cells).toHaveLength(6 * 2 * 2 * 4);
    expect(new Set(asked).size).toBe(asked.length);
    expect(report.spend.bought.calls).toBe(asked.length);
    expect(report.spend.charged.calls).toBe(cells.reduce((sum, { calls }) => sum + calls, 0));
    expect(report.spend.charged.calls).toBeGreaterThan(2 * report.spend.bought.calls);
    expect(cells.every(({ calls, budget }) => calls <= budget.limit)).toBe(true);
  });

  test('says what its own searches needed, whatever else was bought in its folder', async () => {
    const { model } = digitModel({ n: false });
    const sampled = (revision: string): BenchMethod => ({
      name: 'own',
      revision,
      plan: (_, { model: asked }) => ({
        policy: fromModel({
          model: asked as LanguageModel,
          temperature: revision === 'a' ? 0.9 : 1,
        }),
        evaluator: heuristic(() => 0.5),
        algorithm: beam(),
      }),
    });
    const options = { ...base, model, limit: 2, seeds: 1, out: newFolder() };
    const asking = (...methods: (BenchMethod | string)[]) => ({ ...options, methods });
    const alone = async (...methods: (BenchMethod | string)[]) => {
      const { report } = await compare({ ...asking(...methods), out: newFolder() });
      return report.spend;
    };
    const first = await compare(asking('mcts', sampled('a')));
    const second = await compare(asking('mcts', sampled('b')));
    expect((await compare(asking('mcts', sampled('a')))).report).toEqual(first.report);
    expect(second.report.spend).toEqual(await alone('mcts', sampled('b')));
    expect((await compare(asking('mcts'))).report.spend).toEqual(await alone('mcts'));
  });

  test('charges each method what it is charged alone, in any company and with any concurrency', async () => {
    const all = await compare({
      ...base,
      model: digitModel().model,
      out: newFolder(),
      concurrency: 1,
    });
    const many = await compare({
      ...base,
      model: digitModel().model,
      out: newFolder(),
      concurrency: 9,
    });
    expect(many.report).toEqual(all.report);
    const alone = await compare({
      ...base,
      ...{ model: digitModel().model, out: newFolder(), methods: ['beam'] },
      budgets: [{ unit: 'calls', limit: 30 }],
    });
    const found = new Map(all.cells.map((cell) => [keyOf(cell), cell]));
    const different = alone.cells.filter((cell) => {
      const { tokens: _, outputTokens: __, usd: ___, reused: ____, ...rest } = cell;
      return !expect.objectContaining(rest).asymmetricMatch(found.get(keyOf(cell)));
    });
    expect(different).toEqual([]);
    for (const cell of alone.cells) {
      // What several samples have written together is shared out among them.
      expect(Math.abs(cell.tokens - (found.get(keyOf(cell))?.tokens ?? 0))).toBeLessThan(20);
    }
  });

  test('gives other attempts, and other instances, other samples', async () => {
    const { model, asked } = digitModel();
    await compare({ ...base, model, out: newFolder(), methods: [], seeds: 3 });
    const seeds = new Set(asked.map((each) => each.split(':')[0]));
    expect(seeds.size).toBe(6 * 3);
  });
});

describe('a comparison that is kept', () => {
  test('goes on where it was killed, to the same report', async () => {
    const whole = await compare({ ...base, model: digitModel().model, out: newFolder() });
    const random = seededRandom('kills');
    for (let round = 0; round < 5; round++) {
      const out = newFolder();
      for (let kill = 0; kill < 4; kill++) {
        const controller = new AbortController();
        const { model } = digitModel();
        let left = 5 + random.integer(120);
        const killing: LanguageModel = {
          ...model,
          async generate(request, call) {
            left -= 1;
            if (left === 0) controller.abort(new Error('Killed.'));
            return model.generate(request, call);
          },
        };
        await compare({ ...base, model: killing, out, signal: controller.signal }).catch(
          () => undefined,
        );
      }
      const { report } = await compare({ ...base, model: digitModel().model, out });
      expect(timeless(report)).toEqual(timeless(whole.report));
    }
  });

  test('takes more methods, budgets and seeds later, and buys for them only what is new', async () => {
    const out = newFolder();
    await compare({ ...base, model: digitModel().model, out, methods: ['mcts'], seeds: 1 });
    const { model, asked } = digitModel();
    const { report } = await compare({ ...base, model, out });
    const whole = digitModel();
    const once = await compare({ ...base, model: whole.model, out: newFolder() });
    expect(report.points.map(({ accuracy }) => accuracy)).toEqual(
      once.report.points.map(({ accuracy }) => accuracy),
    );
    expect(asked.length).toBeLessThan(whole.asked.length);
  });

  test('refuses the folder of another one', async () => {
    const out = newFolder();
    await compare({ ...base, model: digitModel().model, out, methods: [], seeds: 1 });
    const other = { ...base, model: digitModel().model, out, seed: 7 };
    await expect(compare(other)).rejects.toThrow(
      'its `seed` is 0, this command has 7. Take another `--out` (`out` in code)',
    );
  });

  test('shares a recording with another one at the same time', async () => {
    const recording = newFolder();
    const first = digitModel();
    const second = digitModel();
    const both = await Promise.all([
      compare({ ...base, model: first.model, out: newFolder(), recording }),
      compare({ ...base, model: second.model, out: newFolder(), recording }),
    ]);
    const { model, asked } = digitModel();
    const third = await compare({ ...base, model, out: newFolder(), recording });
    expect(asked).toEqual([]);
    const alone = await compare({ ...base, model: digitModel().model, out: newFolder() });
    for (const { report } of [...both, third]) {
      expect(timeless(report)).toEqual(timeless(alone.report));
    }
  });
});

test('a call that a kill has lost counts as bought', async () => {
  const { model } = digitModel();
  const [out, killed] = [newFolder(), newFolder()];
  let calls = 0;
  const copying: LanguageModel = {
    ...model,
    generate: (request, call) => {
      calls += 1;
      // What a kill at this moment leaves.
      if (calls === 9) cpSync(out, killed, { recursive: true });
      return model.generate(request, call);
    },
  };
  const options = { ...base, limit: 2, seeds: 1, methods: ['mcts'], concurrency: 1 };
  const whole = await compare({ ...options, model: copying, out });
  rmSync(join(killed, 'lock'), { recursive: true });
  const { report } = await compare({ ...options, model, out: killed });
  expect(timeless(report)).toEqual(timeless(whole.report));
  const { calls: made, tokens, usd } = report.spend.bought;
  expect(made).toBe(whole.report.spend.bought.calls + 1);
  expect(tokens).toBeGreaterThan(whole.report.spend.bought.tokens);
  expect(usd).toBeGreaterThan(whole.report.spend.bought.usd);
});

test('a failed attempt of a call that is answered counts as bought, as does one that a kill has lost', async () => {
  const { model } = digitModel();
  const [out, killed] = [newFolder(), newFolder()];
  const priced: LanguageModel = {
    ...model,
    price: { input: 1, output: 2, tiers: { fast: 3 } },
    settings: { serviceTier: 'fast' },
  };
  let asked = 0;
  const flaky: LanguageModel = {
    ...priced,
    generate: async (request, call) => {
      asked += 1;
      if (asked === 9) {
        throw new ModelCallError({ kind: 'malformed', message: 'Cut off.', retryable: true });
      }
      // What a kill during the second attempt leaves.
      if (asked === 10) cpSync(out, killed, { recursive: true });
      return model.generate(request, call);
    },
  };
  const options = { ...base, limit: 2, seeds: 1, methods: ['mcts'], concurrency: 1 };
  const steady = await compare({ ...options, model: priced, out: newFolder() });
  const retrying = wrapModel(flaky, withRetry({ baseMs: 0 }));
  const whole = await compare({ ...options, model: retrying, out });
  rmSync(join(killed, 'lock'), { recursive: true });
  const resumed = await compare({ ...options, model: priced, out: killed });
  const charges = readdirSync(join(out, 'journals')).flatMap((name) =>
    [...readJournal(join(out, 'journals', name)).lines].flatMap((line) =>
      line.type === 'attempt' ? [line.spend] : [],
    ),
  );
  expect(charges).toHaveLength(1);
  const { tokens = 0, usd = 0 } = charges[0] ?? {};
  expect(tokens).toBeGreaterThan(0);
  const { bought } = steady.report.spend;
  expect(whole.report.spend.bought).toEqual({
    calls: bought.calls,
    tokens: bought.tokens + tokens,
    usd: expect.closeTo(bought.usd + usd, 9),
  });
  expect(resumed.report.spend.bought).toEqual({
    calls: bought.calls + 1,
    tokens: bought.tokens + 2 * tokens,
    usd: expect.closeTo(bought.usd + 2 * usd, 9),
  });
});

test('a comparison reports the longest step and the price, by which it can be repeated', async () => {
  const { model } = digitModel();
  const price = { input: 0.5, output: 2, cachedInput: 0.1 };
  const asked = { ...base, model, limit: 1, methods: [], prices: { [model.modelId]: price } };
  const { report } = await compare({ ...asked, maxTokens: 3, out: newFolder() });
  expect(report).toMatchObject({ maxTokens: 3, price });
  const facts = reportMarkdown(report);
  expect(facts).toContain('| longest step | 3 tokens |');
  expect(facts).toContain(
    '| dollars per million tokens | 0.5 read, 2 written, 0.1 read from a cache |',
  );
  const plain = await compare({ ...asked, prices: {}, out: newFolder() });
  expect(plain.report).not.toHaveProperty('maxTokens');
  expect(plain.report.price).toEqual(model.price);
});

test('a comparison says which calls were bought, and which were answered by what others had bought', async () => {
  const budgets = [
    { unit: 'calls', limit: 6 },
    { unit: 'calls', limit: 12 },
  ] as const;
  const asked = {
    ...base,
    budgets,
    limit: 2,
    seeds: 1,
    methods: [],
    out: newFolder(),
    paced: true,
  };
  const { cells, report } = await compare({ ...asked, model: digitModel().model });
  const greedy = cells.filter(({ method }) => method === 'greedy');
  expect(greedy).toHaveLength(4);
  // It asks the same at every budget, and comes first.
  for (const { budget, calls, reused } of greedy) {
    expect(calls).toBeGreaterThan(0);
    expect(reused).toBe(budget.limit === 6 ? 0 : calls);
  }
  const cold = report.points.filter(({ method }) => method === 'greedy');
  expect(cold.map(({ cold }) => cold?.n)).toEqual([2, 0]);
});

describe('a method that fails', () => {
  test('is counted apart, and has no accuracy', async () => {
    const broken: BenchMethod = {
      name: 'broken',
      plan: () => {
        throw new Error('No plan.');
      },
    };
    const { report } = await compare({
      ...base,
      ...{ model: digitModel().model, out: newFolder(), methods: [broken], seeds: 1 },
    });
    const points = report.points.filter(({ method }) => method === 'broken');
    expect(points.map(({ n, broken, accuracy }) => [n, broken, accuracy])).toEqual([
      [0, 6, null],
      [0, 6, null],
    ]);
  });
});
