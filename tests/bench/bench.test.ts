import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type CompareOptions, compare } from '../../src/bench/bench.ts';
import type { BenchCell } from '../../src/bench/cell.ts';
import type { BenchMethod } from '../../src/bench/methods.ts';
import type { BenchReport } from '../../src/bench/report.ts';
import type { BenchInstance, BenchTask } from '../../src/bench/task.ts';
import {
  type Environment,
  type LanguageModel,
  ModelCallError,
  mcts,
  seededRandom,
} from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { plainContext } from '../../src/testing/index.ts';
import { goldVerifier, heuristic, judge } from '../../src/values/index.ts';

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

describe('what could not be measured', () => {
  test('is searched again by the same call, and bought once', async () => {
    const out = newFolder();
    let isDown = true;
    const { model, asked } = digitModel();
    const flaky: LanguageModel = {
      ...model,
      generate: (request, call) => {
        if (isDown) throw new ModelCallError({ kind: 'auth', message: 'No such key.' });
        return model.generate(request, call);
      },
    };
    const options = { ...base, model: flaky, out, methods: ['mcts'], seeds: 1, limit: 2 };
    const down = await compare(options);
    expect(down.cells.every(({ status }) => status === 'failed')).toBe(true);
    expect(down.report.spend.charged).toMatchObject({ tokens: 0, usd: 0 });
    isDown = false;
    const up = await compare(options);
    expect(up.cells.every(({ status }) => status === 'scored')).toBe(true);
    expect(new Set(asked).size).toBe(asked.length);
    const alone = await compare({ ...options, model: digitModel().model, out: newFolder() });
    expect(up.report.points).toEqual(alone.report.points);
  });

  test('a search whose ends were all lost has failed, and says why', async () => {
    const { model } = digitModel();
    const judgeless: LanguageModel = {
      ...model,
      async generate(request, call) {
        if (JSON.stringify(request.messages).includes('impossible')) {
          throw new ModelCallError({ kind: 'bad-request', message: 'No judge here.' });
        }
        return model.generate(request, call);
      },
    };
    const { cells, report } = await compare({
      ...base,
      ...{ model: judgeless, out: newFolder(), methods: [], seeds: 1, limit: 2 },
      task: {
        ...verified,
        instances: async (request) =>
          (await verified.instances(request)).map(({ environment, ...rest }) => ({
            ...rest,
            environment: {
              ...environment,
              // Nothing is rewarded, so that every end is judged.
              step: async (state, action, context) => {
                const { reward: _, ...step } = await environment.step(state, action, context);
                return step;
              },
            },
            oracle: { label: () => ({ correct: true }) },
          })),
      },
    });
    const lost = cells.filter(({ method }) => method === 'best-of-n');
    expect(lost.map(({ status }) => status)).toEqual(Array(4).fill('failed'));
    expect(lost[0]?.reason).toContain('No judge here.');
    expect(report.points.find(({ method }) => method === 'best-of-n')).toMatchObject({ failed: 2 });
  });

  test('no evaluator scores an answer: only rewards and oracles do', async () => {
    const task: BenchTask = {
      ...verified,
      instances: async (request) =>
        (await verified.instances(request)).map(({ environment, ...rest }) => ({
          ...rest,
          environment: {
            ...environment,
            step: async (state, action, context) => {
              const { reward: _, ...step } = await environment.step(state, action, context);
              return step;
            },
          },
        })),
    };
    const sure: BenchMethod = {
      name: 'sure',
      plan: (_, { model }) => ({
        policy: fromModel({ model: model as LanguageModel, maxTokens: 4 }),
        evaluator: heuristic(() => 1),
      }),
    };
    const { cells } = await compare({
      ...{ ...base, task, methods: [sure], seeds: 1, limit: 2 },
      ...{ model: digitModel().model, out: newFolder() },
    });
    expect(cells.some(({ right }) => right)).toBe(false);
    expect(cells.every(({ isUnrewarded }) => isUnrewarded)).toBe(true);
  });

  test('a state on the way that was rewarded enough is no right end', async () => {
    const task: BenchTask = {
      name: 'way',
      title: 'The way',
      instances: () => [
        {
          id: 'one',
          environment: {
            name: 'way',
            reset: () => ({ state: 0 }),
            step: (state: number) =>
              state === 3
                ? { state: 4, terminal: true, reward: -2 }
                : { state: state + 1, reward: 0.5 },
          },
          guides: { policy: () => [{ action: 'on' }], evaluator: heuristic(() => 1) },
        },
      ],
    };
    const { cells } = await compare({
      ...{ task, out: newFolder(), methods: [], paced: false },
      budgets: [{ unit: 'ms', limit: 2_000 }],
    });
    expect(cells.map(({ right, anyRight }) => [right, anyRight])).toEqual([
      [false, false],
      [false, false],
    ]);
  });
});

describe('a changed instance', () => {
  const task = (revision: string, target: number): BenchTask => ({
    ...verified,
    instances: () => [{ id: 'one', revision, environment: codes(target), maxTokens: 4 }],
  });

  test('is searched anew, and what was found for the old one is left', async () => {
    const out = newFolder();
    const options = { ...base, methods: [], seeds: 1, out };
    const first = digitModel();
    await compare({ ...options, task: task('a', 9), model: first.model });
    const second = digitModel();
    const changed = await compare({ ...options, task: task('b', 20), model: second.model });
    expect(second.asked.length).toBeGreaterThan(0);
    const alone = await compare({
      ...{ ...options, task: task('b', 20), model: digitModel().model, out: newFolder() },
    });
    expect(changed.report.points).toEqual(alone.report.points);
    const third = digitModel();
    await compare({ ...options, task: task('a', 9), model: third.model });
    expect(third.asked).toEqual([]);
  });
});

describe('a recording that others fill too', () => {
  test('is told apart from what was bought here', async () => {
    const recording = newFolder();
    const one = digitModel();
    await compare({ ...base, model: one.model, out: newFolder(), recording, limit: 2 });
    const other = digitModel();
    const { report } = await compare({
      ...{ ...base, model: other.model, out: newFolder(), recording, limit: 3 },
    });
    expect(other.asked.length).toBeGreaterThan(0);
    expect(report.spend.bought.calls).toBe(other.asked.length);
  });

  test('answers no model that was told something else beforehand', async () => {
    const recording = newFolder();
    const told = (effort: string) => {
      const { model, asked } = digitModel();
      return { model: { ...model, settings: { effort } }, asked };
    };
    const [low, high] = [told('low'), told('high')];
    const options = { ...base, recording, limit: 1, seeds: 1, methods: ['mcts'] };
    const out = newFolder();
    await compare({ ...options, model: low.model, judgeModel: high.model, out });
    expect(high.asked.length).toBeGreaterThan(0);
    expect(high.asked.every((each) => each.includes('impossible'))).toBe(true);
    const next = told('high');
    await compare({ ...options, model: next.model, out: newFolder() });
    expect(next.asked.some((each) => !each.includes('impossible'))).toBe(true);
    const again = { ...options, model: next.model, judgeModel: high.model, out };
    await expect(compare(again)).rejects.toThrow('`settings`');
  });
});

describe('what makes no sense', () => {
  const model = digitModel().model;
  test.each([
    [{ task: 'game24' }, '`task`'],
    [{ task: { ...verified, title: 4 } }, '`task.title`'],
    [{ task: { ...verified, instances: () => null } }, '`task.instances()`'],
    [
      { task: { ...verified, instances: () => [{ id: 'a' }] } },
      '`task.instances()[0].environment`',
    ],
    [{ out: undefined }, '`out`'],
    [{ budget: { ms: 4 } }, '`ms`'],
    [{ budgets: [{ unit: 'calls', limit: 0 }] }, 'more than 0'],
    [{ budgets: [{ unit: 'calls', limit: -0 }] }, 'more than 0'],
    [{ budgets: [...base.budgets, base.budgets[0]] }, '`budgets`'],
    [{ budgets: [{ unit: 'usd', limit: 1 }], model: { ...model, price: undefined } }, 'price'],
    [{ budget: { usd: 1 }, model: { ...model, price: undefined } }, 'price'],
    [{ maxTokens: 0 }, '`maxTokens`'],
  ])('is refused before anything is bought: %j', async (wrong, text) => {
    const options = { ...base, model, out: newFolder(), ...wrong } as unknown as CompareOptions;
    await expect(compare(options)).rejects.toThrow(text);
  });

  test('a task that makes more than was asked for is cut', async () => {
    const greedy: BenchTask = { ...verified, instances: () => verified.instances({ seed: 0 }) };
    const { report } = await compare({
      ...{ ...base, task: greedy, model, out: newFolder(), methods: [], limit: 2, seeds: 1 },
    });
    expect(report.task.instances).toBe(2);
  });

  test('a step is as long as it is told', async () => {
    const lengths: (number | undefined)[] = [];
    const seen: BenchMethod = {
      name: 'seen',
      plan: ({ maxTokens }) => {
        lengths.push(maxTokens);
        throw new Error('Enough.');
      },
    };
    const options = { ...base, model, methods: [seen], seeds: 1, limit: 1 };
    await compare({ ...options, out: newFolder() });
    await compare({ ...options, out: newFolder(), maxTokens: 7 });
    expect(lengths).toEqual([4, 4, 7, 7]);
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

  test('that was asked once by a method has guided it, whenever and however that was', async () => {
    let kept: Parameters<BenchMethod['plan']>[0]['oracle'];
    const late: BenchMethod = {
      name: 'late',
      plan: ({ oracle }, { model }) => {
        const before = kept;
        kept = oracle;
        return {
          policy: fromModel({ model: model as LanguageModel, maxTokens: 4 }),
          // The oracle of a search that is over knows the answer to the next one.
          evaluator: async ({ state = '' }, { context }) =>
            (await before?.label(state, context))?.correct === true ? 1 : 0,
          algorithm: mcts(),
        };
      },
    };
    const throwing: BenchMethod = {
      name: 'throwing',
      plan: async ({ oracle }) => {
        await oracle?.label('0', plainContext());
        throw new Error('No plan.');
      },
    };
    const out = newFolder();
    const asked = { ...options, limit: 2, out };
    const first = await compare({
      ...asked,
      ...{ model: digitModel().model, methods: [late, throwing] },
    });
    const names = (report: BenchReport) => new Set(report.guided.map(({ method }) => method));
    expect(names(first.report)).toEqual(new Set(['late', 'throwing']));
    // A session in which nobody asks it does not forget that somebody did.
    const silent: BenchMethod = {
      name: 'throwing',
      plan: () => {
        throw new Error('No plan.');
      },
    };
    const second = await compare({
      ...asked,
      ...{ model: digitModel().model, methods: [late, silent] },
    });
    expect(names(second.report)).toEqual(new Set(['late', 'throwing']));
  });

  test('that cannot score an end which was not chosen says nothing about the one that was', async () => {
    const task: BenchTask = {
      ...hidden,
      instances: async (request) =>
        (await hidden.instances(request)).map((instance) => ({
          ...instance,
          oracle: {
            label: (state: string) => {
              if (state.startsWith('9')) throw new Error('Nobody knows.');
              return { correct: state.startsWith('0') };
            },
          },
        })),
    };
    const { cells } = await compare({
      ...{ ...options, task, limit: 4, budgets: [{ unit: 'calls', limit: 40 }] },
      ...{ model: digitModel().model, out: newFolder(), methods: [] },
    });
    for (const { status, answer = '' } of cells) {
      expect(status).toBe(answer.startsWith('9') ? 'unscored' : 'scored');
    }
    expect(cells.filter(({ status }) => status === 'scored').length).toBeGreaterThan(4);
  });

  test('that never answers is left when the benchmark is aborted', async () => {
    const task: BenchTask = {
      ...hidden,
      instances: async (request) =>
        (await hidden.instances(request)).map((instance) => ({
          ...instance,
          oracle: { label: () => new Promise<never>(() => {}) },
        })),
    };
    const signal = AbortSignal.timeout(300);
    const comparing = compare({
      ...{ ...options, task, limit: 1, signal },
      ...{ model: digitModel().model, out: newFolder(), methods: [] },
    });
    await expect(comparing).rejects.toThrow('timeout');
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
