import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compare } from '../../src/bench/bench.ts';
import type { CompareOptions } from '../../src/bench/compare-options.ts';
import type { BenchMethod } from '../../src/bench/methods.ts';
import type { BenchTask } from '../../src/bench/task.ts';
import { taskNamed } from '../../src/bench/tasks/tasks.ts';
import {
  type Environment,
  type LanguageModel,
  ModelCallError,
  type Notation,
} from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/index.ts';
import { base, codes, digitModel, hidden, newFolder, verified } from './codes.ts';

test('a search that failed is made again by the same call, and bought once', async () => {
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
  expect(report.points.find(({ method }) => method === 'best-of-n')).toMatchObject({
    ...{ n: 0, outages: 2, accuracy: null },
  });
});

test('an answer that the budget left unjudged is still given', async () => {
  const limits = [6, 9, 10, 11, 12, 13, 14, 18];
  const { cells } = await compare({
    ...base,
    task: hidden,
    ...{ model: digitModel().model, out: newFolder(), methods: ['mcts', 'beam'], seeds: 1 },
    budgets: limits.map((limit) => ({ unit: 'calls', limit })),
  });
  const searches = cells.filter(({ isGuided }) => !isGuided);
  // An end that was found is chosen, evaluated or not; where none was found, that is said.
  expect(searches.some(({ ends }) => ends.some(({ value }) => value === null))).toBe(true);
  for (const { ends, isUnfinished = false } of searches) expect(isUnfinished).toBe(!ends.length);
});

test('an answer that could not be revised is scored as it is', async () => {
  const environment: Environment<string, string> = {
    name: 'revisions',
    reset: () => ({ state: '' }),
    step: (_, action) => ({ state: action, answer: true }),
    answer: (state) => state,
  };
  const guides = {
    policy: ({ state }: { readonly state: string }) =>
      state === ''
        ? [{ action: 'right' }]
        : [{ failure: { kind: 'parse' as const, message: 'The revision cannot be read.' } }],
    evaluator: () => 0.9,
  };
  const oracle = { label: (state: string) => ({ correct: state === 'right' }) };
  const { cells } = await compare({
    task: {
      name: 'rev',
      title: 'Rev',
      instances: () => [{ id: 'p', environment, oracle, guides }],
    },
    ...{ methods: ['mcts', 'beam', 'best-first'], budgets: [{ unit: 'calls', limit: 12 }] },
    ...{ out: newFolder(), paced: false },
  });
  expect(cells.map(({ status, right }) => `${status} ${right}`)).toEqual(
    cells.map(() => 'scored true'),
  );
});

test('a reply without code is wrong, and neither an outage nor an error of the task', async () => {
  const { cells } = await compare({
    task: await taskNamed('code'),
    model: scriptedModel({ answer: () => 'Sorry, I cannot.' }),
    ...{ methods: ['mcts'], budgets: [{ unit: 'calls', limit: 6 }], limit: 1 },
    ...{ out: newFolder(), paced: false },
  });
  for (const { isBroken, isOutage, right } of cells) {
    expect({ isBroken, isOutage, right }).toEqual({ right: false });
  }
  expect(cells).toHaveLength(3);
});

test('budgets are read once', async () => {
  let reads = 0;
  const budget = {
    unit: 'calls' as const,
    get limit() {
      return 20 + reads++;
    },
  };
  const { model } = digitModel();
  const { cells } = await compare({
    ...base,
    model,
    out: newFolder(),
    budgets: [budget],
    limit: 2,
  });
  expect(new Set(cells.map(({ budget: { limit } }) => limit)).size).toBe(1);
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
    ...{ task, out: newFolder(), methods: [] },
    budgets: [{ unit: 'ms', limit: 2_000 }],
  });
  expect(cells.map(({ right, anyRight }) => [right, anyRight])).toEqual([
    [false, false],
    [false, false],
  ]);
});

const task = (revision: string, target: number): BenchTask => ({
  ...verified,
  instances: () => [{ id: 'one', revision, environment: codes(target), maxTokens: 4 }],
});

test('a changed instance is searched anew, and what was found for the old one is left', async () => {
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

test('a recording that others fill too is told apart from what was bought here', async () => {
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

test('a recording that others fill too answers no model that was told something else beforehand', async () => {
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

const model = digitModel().model;
test.each([
  [{ task: 'game24' }, '`task`'],
  [{ task: { ...verified, title: 4 } }, '`task.title`'],
  [{ task: { ...verified, instances: () => null } }, '`task.instances()`'],
  [{ task: { ...verified, instances: () => [{ id: 'a' }] } }, '`task.instances()[0].environment`'],
  [{ out: undefined }, '`out`'],
  [{ split: 'x' }, 'The task `codes` has no split `"x"`. It has only one.'],
  [{ budget: { ms: 4 } }, '`ms`'],
  [{ budgets: [{ unit: 'calls', limit: 0 }] }, 'more than 0'],
  [{ budgets: [{ unit: 'calls', limit: -0 }] }, 'more than 0'],
  [{ budgets: [...base.budgets, base.budgets[0]] }, '`budgets`'],
  [{ budgets: [{ unit: 'usd', limit: 1 }], model: { ...model, price: undefined } }, 'price'],
  [{ budget: { usd: 1 }, model: { ...model, price: undefined } }, 'price'],
  // What costs nothing, no dollars limit; a price under a name that no model has is no price.
  [
    { budgets: [{ unit: 'usd', limit: 1 }], prices: { [model.modelId]: { input: 0, output: 0 } } },
    'limits nothing where',
  ],
  [
    { prices: { [`vllm:${model.modelId}`]: { input: 1, output: 1 } } },
    `Did you mean \`${model.modelId}\`?`,
  ],
  [{ maxTokens: 0 }, '`maxTokens`'],
  [{ methods: ['self-consistency'] }, '`self-consistency` lets answers vote'],
])('what makes no sense is refused before anything is bought: %j', async (wrong, text) => {
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

test('a budget that holds no call is refused before anything is asked', async () => {
  const { model, asked } = digitModel();
  const out = newFolder();
  const compared = compare({
    ...{ ...base, limit: 2, seeds: 1, methods: ['mcts'] },
    budgets: [{ unit: 'tokens', limit: 2 }],
    ...{ model, out },
  });
  await expect(compared).rejects.toThrow(/^Not one call of greedy fits 2 tokens: /);
  expect(asked).toEqual([]);
  expect(existsSync(out)).toBe(false);
});

test.each([
  ['the first', 0],
  ['the last', 5],
])(
  'a budget that holds a call on some problems is told with their number: %s is short',
  async (_, short) => {
    const { model } = digitModel();
    const task: BenchTask = {
      ...hidden,
      instances: async (request) =>
        (await hidden.instances(request)).map((each, place) => ({
          ...each,
          environment: {
            ...each.environment,
            notation: {
              ...(each.environment.notation as Notation<string, string>),
              prompt: (state) => [
                { role: 'user', content: `${place === short ? '' : 'x'.repeat(2_000)}: ${state}` },
              ],
            },
          },
        })),
    };
    const budgets = [{ unit: 'tokens', limit: 300 }] as const;
    const options = { ...base, task, model, budgets, seeds: 1, limit: 6, methods: ['mcts'] };
    const { report } = await compare({ ...options, out: newFolder() });
    expect(report.warnings[0]).toBe(
      'Not one call of greedy, self-consistency, best-of-n and mcts fits 5 of 6 problems at 300 tokens: raise the budget, or lower the maximum tokens of an answer or of its thoughts.',
    );
  },
);

test('votes are counted to the end even where the environment knows which end is right', async () => {
  const task: BenchTask = {
    ...verified,
    instances: async (request) =>
      (await verified.instances(request)).map(({ environment, ...rest }) => ({
        ...rest,
        environment: { ...environment, answer: (state: unknown) => String(state).slice(0, 1) },
      })),
  };
  const { model } = digitModel();
  const methods = ['self-consistency', 'best-of-n'];
  const { cells } = await compare({ ...base, task, model, methods, out: newFolder() });
  const endsOf = (name: string) =>
    cells.filter(({ method, stopReason }) => method === name && stopReason === 'solved').length;
  const drawn = cells.filter(({ method }) => method === 'self-consistency');
  expect(drawn.filter(({ right }) => right).length).toBeLessThan(drawn.length);
  expect(new Set(drawn.map(({ stopReason }) => stopReason))).toEqual(new Set(['budget']));
  expect(endsOf('best-of-n')).toBeGreaterThan(0);
});
