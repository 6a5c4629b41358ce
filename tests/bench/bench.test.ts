import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type CompareOptions, compare } from '../../src/bench/bench.ts';
import type { BenchCell } from '../../src/bench/cell.ts';
import type { BenchMethod } from '../../src/bench/methods.ts';
import type { BenchInstance, BenchTask } from '../../src/bench/task.ts';
import {
  type Environment,
  type LanguageModel,
  ModelCallError,
  mcts,
  seededRandom,
} from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { goldVerifier, judge } from '../../src/values/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;
const newFolder = () => join(folder, String(folders++));

/** A code of three digits that somebody may check: whether the digits sum up to what was asked. */
function codes(target: number): Environment<string, string> {
  return {
    name: 'codes',
    reset: () => ({ state: '' }),
    step: (state, action) => {
      const next = state + action;
      const sum = [...next].reduce((total, digit) => total + Number(digit), 0);
      return next.length < 3
        ? { state: next }
        : { state: next, terminal: true, reward: sum === target ? 1 : 0 };
    },
    notation: {
      prompt: (state) => [
        { role: 'user', content: `Three digits that sum up to ${target}: ${state}` },
      ],
      format: (action) => action,
      parse: (text) => ({ action: text.slice(0, 1) }),
    },
  };
}

const verified: BenchTask = {
  name: 'codes',
  title: 'Codes',
  instances: ({ limit = 6 }) =>
    Array.from({ length: limit }, (_, place) => ({
      id: `sum ${9 + place}`,
      environment: codes(9 + place),
      maxTokens: 4,
    })),
};

/** The same without rewards: an oracle knows whether the first digit is right, and nobody else. */
const hidden: BenchTask = {
  name: 'hidden',
  title: 'Hidden codes',
  instances: ({ limit = 6 }) =>
    Array.from({ length: limit }, (_, place): BenchInstance<string, string> => {
      const environment = codes(-1 - place);
      return {
        id: `first ${place}`,
        environment: {
          ...environment,
          step: async (state, action, context) => {
            const { reward: _, ...rest } = await environment.step(state, action, context);
            return rest;
          },
          answer: (state) => (state.length === 3 ? state.slice(0, 1) : undefined),
        },
        oracle: { label: (state) => ({ correct: state.startsWith(String(place)) }) },
        maxTokens: 4,
      };
    }),
};

/** Says one digit for each sample, by the prompt, the seed and the index of the sample; counts what is asked of it. */
function digitModel({ n = true, fails = 0 }: { n?: boolean; fails?: number } = {}) {
  const asked: string[] = [];
  const model: LanguageModel = {
    provider: 'test',
    modelId: 'digits',
    capabilities: { n, seed: true },
    price: { input: 1, output: 2 },
    async generate({ messages, seed, offset = 0, samples = 1, schema }) {
      await Promise.resolve();
      const prompt = JSON.stringify([messages, schema ?? null]);
      if (fails > 0 && seededRandom(`${prompt}${asked.length}`).next() < fails) {
        throw new ModelCallError({ kind: 'bad-request', message: 'No.' });
      }
      let outputTokens = 0;
      const completions = Array.from({ length: samples }, (_, place) => {
        asked.push(`${seed}:${prompt}#${offset + place}`);
        const random = seededRandom(`${seed}:${prompt}#${offset + place}`);
        const words = ['sure', 'likely', 'impossible'];
        const isAsked = prompt.includes('impossible');
        const text = isAsked ? (words[random.integer(3)] ?? '') : `${random.integer(10)}`;
        outputTokens += 1 + random.integer(3);
        return { text };
      });
      return { completions, usage: { inputTokens: prompt.length, outputTokens } };
    },
  };
  return { model, asked };
}

const base: Omit<CompareOptions, 'out'> = {
  task: verified,
  methods: ['mcts', 'beam'],
  budgets: [
    { unit: 'calls', limit: 12 },
    { unit: 'calls', limit: 30 },
  ],
  seeds: 2,
  paced: false,
};

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
      const { tokens: _, outputTokens: __, usd: ___, ...rest } = cell;
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
      expect({ ...report, spend: null }).toEqual({ ...whole.report, spend: null });
      expect(report.spend.charged).toEqual(whole.report.spend.charged);
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
      'its `seed` is 0, asked is 7. Take another folder.',
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
      expect({ ...report, spend: null }).toEqual({ ...alone.report, spend: null });
    }
  });
});

describe('a method that fails', () => {
  test('counts as wrong', async () => {
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
    expect(points.map(({ n, failed, accuracy }) => [n, failed, accuracy])).toEqual([
      [6, 6, 0],
      [6, 6, 0],
    ]);
  });
});

describe('an oracle', () => {
  const options = { ...base, task: hidden, seeds: 1, methods: ['mcts'] };

  test('scores what was chosen, and nobody is guided by it', async () => {
    const { report, cells } = await compare({
      ...options,
      model: digitModel().model,
      out: newFolder(),
    });
    expect(report.guided).toEqual([]);
    expect(report.points.map(({ method }) => method)).toContain('self-consistency');
    expect(cells.some(({ ends }) => ends.length > 0)).toBe(true);
    // The answer is the first digit, and the instances are named by theirs.
    const scored = cells.filter(({ status }) => status === 'scored');
    expect(scored.length).toBeGreaterThan(20);
    for (const { instance, answer, right } of scored) {
      expect(right).toBe(instance === `first ${answer}`);
    }
  });

  test('sets apart a method that has asked it, however it did', async () => {
    const stamped: BenchMethod = {
      name: 'stamped',
      plan: ({ oracle }, { model }) => ({
        policy: fromModel({ model: model as LanguageModel, maxTokens: 4 }),
        evaluator: judge({ model: model as LanguageModel }),
        algorithm: mcts(),
        ...(oracle !== undefined && { outcome: goldVerifier(oracle) }),
      }),
    };
    const peeking: BenchMethod = {
      name: 'peeking',
      plan: ({ oracle }, { model }) => ({
        policy: fromModel({ model: model as LanguageModel, maxTokens: 4 }),
        evaluator: async ({ state = '' }, { context }) =>
          (await oracle?.label(state, context))?.correct === true ? 1 : 0,
        algorithm: mcts(),
      }),
    };
    const { report } = await compare({
      ...options,
      ...{ model: digitModel().model, out: newFolder(), methods: [stamped, peeking, 'mcts'] },
    });
    expect(report.guided.map(({ method }) => method)).toEqual([
      'peeking',
      'peeking',
      'stamped',
      'stamped',
    ]);
    expect(report.points.map(({ method }) => method)).not.toContain('peeking');
    expect(report.differences.some(({ method }) => /peek|stamp/.test(method))).toBe(false);
  });

  test('that fails leaves its searches unscored', async () => {
    const task: BenchTask = {
      ...hidden,
      instances: async (request) =>
        (await hidden.instances(request)).map((instance) => ({
          ...instance,
          oracle: {
            label: () => {
              throw new Error('Nobody knows.');
            },
          },
        })),
    };
    const { cells } = await compare({
      ...options,
      task,
      model: digitModel().model,
      out: newFolder(),
    });
    expect(new Set(cells.map(({ status, reason }) => `${status}: ${reason}`))).toEqual(
      new Set(['unscored: Nobody knows.']),
    );
  });
});
