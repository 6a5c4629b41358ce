import { expect, test } from 'vitest';
import { compare } from '../../src/bench/bench.ts';
import type { BenchMethod } from '../../src/bench/methods.ts';
import type { BenchReport } from '../../src/bench/report.ts';
import type { BenchTask } from '../../src/bench/task.ts';
import { type LanguageModel, mcts } from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { plainContext } from '../../src/testing/index.ts';
import { goldVerifier, judge } from '../../src/values/index.ts';
import { base, digitModel, hidden, newFolder } from './codes.ts';

const options = { ...base, task: hidden, seeds: 1, methods: ['mcts'] };

test('an oracle scores what was chosen, and nobody is guided by it', async () => {
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

test('an oracle sets apart a method that has asked it, however it did', async () => {
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

test('an oracle that was asked once by a method has guided it, also in a later session', async () => {
  const throwing = (asks: boolean): BenchMethod => ({
    name: 'throwing',
    plan: async ({ oracle }) => {
      if (asks) await oracle?.label('0', plainContext());
      throw new Error('No plan.');
    },
  });
  const asked = { ...options, limit: 2, out: newFolder() };
  const names = ({ guided }: BenchReport) => new Set(guided.map(({ method }) => method));
  for (const asks of [true, false]) {
    const { model } = digitModel();
    const { report } = await compare({ ...asked, model, methods: [throwing(asks)] });
    expect(names(report)).toEqual(new Set(['throwing']));
  }
});

test('an oracle that cannot score an end which was not chosen says nothing about the one that was', async () => {
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

test('an oracle that never answers is left when the benchmark is aborted', async () => {
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

test('an oracle that fails leaves its searches unscored', async () => {
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
    new Set(
      [0, 1, 2, 3].map((n) => `unscored: The oracle of \`first ${n}\` failed: Nobody knows.`),
    ),
  );
});

test.each([
  [true, '`oracle.label()` to be an object such as'],
  [{ right: true }, '`oracle.label()` to be an object such as'],
  [{ correct: 'yes' }, '`oracle.label().correct` to be true or false, got `"yes"`.'],
  [{ correct: true, score: 2 }, '`oracle.label().score` to be a number from 0 to 1, got `2`.'],
])(
  'an oracle that returns %j leaves its searches unscored, which are scored again by the same call',
  async (verdict, fault) => {
    const labelled = (label: () => unknown): BenchTask => ({
      ...hidden,
      instances: async (request) =>
        (await hidden.instances(request)).map((each) => ({ ...each, oracle: { label } as never })),
    });
    const out = newFolder();
    const asked = { ...options, limit: 1, out };
    const task = labelled(() => verdict);
    const { cells } = await compare({ ...asked, task, model: digitModel().model });
    for (const { status, reason } of cells) {
      expect([status, reason]).toEqual([
        'unscored',
        expect.stringContaining(`The oracle of \`first 0\` failed: Expected ${fault}`),
      ]);
    }
    const { model, asked: calls } = digitModel();
    const mended = labelled(() => ({ correct: true }));
    const again = await compare({ ...asked, task: mended, model });
    expect(again.cells.every(({ right }) => right)).toBe(true);
    expect(calls).toEqual([]);
  },
);

type Label = NonNullable<Parameters<BenchMethod['plan']>[0]['oracle']>['label'];
type Value = (state: string, context: Parameters<Label>[1]) => Promise<number>;
const none: Label = () => ({ correct: false });
const valued = (name: string, valueFor: (own: Label) => Value): BenchMethod => ({
  name,
  plan: ({ oracle }, { model }) => {
    const value = valueFor(oracle?.label ?? none);
    return {
      policy: fromModel({ model: model as LanguageModel, maxTokens: 4 }),
      evaluator: ({ state = '' }, { context }) => value(state, context),
      algorithm: mcts(),
    };
  },
});
const honest = async () => {
  await Promise.resolve();
  return 0.5;
};
const asking =
  (label: Label): Value =>
  async (state, context) =>
    (await label(state, context)).correct === true ? 1 : 0;
const outcome = async (...methods: readonly BenchMethod[]) => {
  const { model } = digitModel();
  const budgets = [{ unit: 'calls', limit: 12 }] as const;
  const asked = { ...options, budgets, methods, model, out: newFolder() };
  const { report, cells } = await compare(asked);
  const broken = cells.filter(({ isBroken }) => isBroken);
  return {
    guided: new Set(report.guided.map(({ method }) => method)),
    broken: new Set(broken.map(({ method }) => method)),
    reasons: broken.map(({ reason }) => reason).join('\n'),
  };
};

test('an oracle answers its own search, and not a later one, or that of another method', async () => {
  let given = none;
  const giving = valued('giving', (own) => {
    given = own;
    return honest;
  });
  const taking = valued('taking', () => (state, context) => asking(given)(state, context));
  let kept = none;
  const late = valued('late', (own) => {
    const before = kept;
    kept = own;
    return asking(before);
  });
  const { guided, broken, reasons } = await outcome(giving, taking, late);
  expect(guided).toEqual(new Set());
  expect(broken).toEqual(new Set(['late', 'taking']));
  expect(reasons).toContain(
    'Expected an oracle to be asked by the search whose plan was given it: that of `giving` was asked by other code.',
  );
});

/** Jobs that others do, wherever they began. */
function queue() {
  const jobs: (() => void)[] = [];
  let wake = (): void => {};
  return {
    work: async () => {
      for (;;) {
        for (const job of jobs.splice(0)) job();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    ask: <Result>(job: () => Result | Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        jobs.push(() => {
          Promise.resolve().then(job).then(resolve, reject);
        });
        wake();
      }),
  };
}

test('an oracle answers only its own search, also where a worker that began within it asks for others', async () => {
  const { work, ask } = queue();
  let given = none;
  const giving = valued('giving', (own) => {
    if (given === none) void work();
    given = own;
    return honest;
  });
  const hiding = valued(
    'hiding',
    () => (state, context) => ask(() => asking(given)(state, context)),
  );
  const { guided, broken } = await outcome(giving, hiding);
  expect(guided).toEqual(new Set());
  expect(broken).toEqual(new Set(['hiding']));
});

test('an oracle marks no honest method that shares a queue with one that asks', async () => {
  const { work, ask } = queue();
  let isWorking = false;
  const sharing = valued('honest', () => () => {
    if (!isWorking) void work();
    isWorking = true;
    return ask(honest);
  });
  const peeking = valued(
    'peeking',
    (own) => (state, context) =>
      isWorking ? ask(() => asking(own)(state, context)) : asking(own)(state, context),
  );
  const { guided, broken } = await outcome(sharing, peeking);
  expect(guided.has('honest')).toBe(false);
  expect(broken).toEqual(new Set(['peeking']));
});
