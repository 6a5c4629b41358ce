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

test('an oracle that was asked once by a method has guided it, whenever and however that was', async () => {
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
    new Set(['unscored: Nobody knows.']),
  );
});

test('a method that uses the oracle of another is guided, and one that searches beside it is not', async () => {
  let given: Parameters<BenchMethod['plan']>[0]['oracle'];
  const planned = (name: string, asks: boolean): BenchMethod => ({
    name,
    plan: ({ oracle }, { model }) => {
      if (!asks) given = oracle;
      return {
        policy: fromModel({ model: model as LanguageModel, maxTokens: 4 }),
        evaluator: async ({ state = '' }, { context }) => {
          await Promise.resolve();
          return asks && (await given?.label(state, context))?.correct === true ? 1 : 0;
        },
        algorithm: mcts(),
      };
    },
  });
  const { report } = await compare({
    ...{ ...options, model: digitModel().model, out: newFolder() },
    methods: [planned('giving', false), planned('taking', true), 'mcts'],
  });
  expect(new Set(report.guided.map(({ method }) => method))).toEqual(new Set(['giving', 'taking']));
  expect(report.points.map(({ method }) => method)).toContain('mcts');
});
