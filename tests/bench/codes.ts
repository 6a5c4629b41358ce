/** A small task, a model that plays it, and the folders of its benchmarks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { CompareOptions } from '../../src/bench/compare-options.ts';
import type { BenchReport } from '../../src/bench/report.ts';
import type { BenchInstance, BenchTask } from '../../src/bench/task.ts';
import {
  type Environment,
  type LanguageModel,
  ModelCallError,
  seededRandom,
} from '../../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;
/** The path of a folder that is not there yet. */
export const newFolder = (): string => join(folder, String(folders++));

/** A code of three digits that somebody may check: whether the digits sum up to what was asked. */
export function codes(target: number): Environment<string, string> {
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

export const verified: BenchTask = {
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
export const hidden: BenchTask = {
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
export function digitModel({ n = true, fails = 0 }: { n?: boolean; fails?: number } = {}): {
  readonly model: LanguageModel;
  readonly asked: string[];
} {
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

export const base: Omit<CompareOptions, 'out'> = {
  task: verified,
  methods: ['mcts', 'beam'],
  budgets: [
    { unit: 'calls', limit: 12 },
    { unit: 'calls', limit: 30 },
  ],
  seeds: 2,
  paced: false,
};

/** A report without what was bought when, which differs with sessions and with the company. */
export function timeless({ spend, ...report }: BenchReport): object {
  const points = report.points.map(({ reused: _, cold: __, ...point }) => point);
  return { ...report, points, charged: spend.charged };
}
