// Published Tree-of-Thoughts runs (30 games, five outputs each) as a report of a benchmark: the accuracy of a sample and that
// of any of five stand apart, and tokens and dollars are those that were recorded. The sums here are this file's own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { BenchCell } from '../../src/bench/cell.ts';
import { reportOf } from '../../src/bench/summary.ts';

const schema = z.array(
  z.object({
    idx: z.number(),
    infos: z.array(z.object({ r: z.number() })),
    usage_so_far: z.object({
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      cost: z.number(),
    }),
  }),
);
const path = join(import.meta.dirname, '../../../shared/data/gpt4-game24-30.json');
const runs = schema.parse(JSON.parse(readFileSync(path, 'utf8')));
const nothing = { prompt_tokens: 0, completion_tokens: 0, cost: 0 };

const cells = runs.flatMap(({ idx, infos, usage_so_far: after }, place): BenchCell[] => {
  const before = runs[place - 1]?.usage_so_far ?? nothing;
  const share = (name: keyof typeof nothing) => (after[name] - before[name]) / infos.length;
  return infos.map(({ r }, attempt) => ({
    ...{ instance: `${idx}`, cluster: `${idx}`, method: 'tree-of-thoughts', attempt },
    budget: { unit: 'tokens', limit: 100_000 },
    ...{
      status: 'scored',
      right: r >= 1,
      anyRight: r >= 1,
      isGuided: false,
      ends: [],
      stopReason: 'exhausted',
    },
    calls: 0,
    reused: 0,
    tokens: share('prompt_tokens') + share('completion_tokens'),
    inputTokens: share('prompt_tokens'),
    cachedTokens: 0,
    outputTokens: share('completion_tokens'),
    usd: share('cost'),
    ms: null,
    tree: { nodes: 0, depth: 3, width: 5 },
  }));
});
const { points } = reportOf(cells, {
  task: {
    name: 'game24',
    title: 'Game of 24',
    spec: null,
    source: 'tot',
    licence: 'MIT',
    split: null,
  },
  ...{ judgeModel: null, temperature: null },
  ...{ model: 'openai:gpt-4', seeds: 5, seed: 0, baseline: 'best-of-n', baselines: ['best-of-n'] },
  bought: { calls: 0, tokens: 0, usd: 0 },
  versions: { espalier: '0', node: process.versions.node },
});
const [point] = points;
const any = runs.filter(({ infos }) => infos.some(({ r }) => r >= 1)).length / runs.length;
const right = runs.flatMap(({ infos }) => infos).filter(({ r }) => r >= 1).length;
const sample = right / (5 * runs.length);
const last = runs.at(-1)?.usage_so_far ?? nothing;
const tokens = (last.prompt_tokens + last.completion_tokens) / runs.length;
const found = {
  sample: point?.accuracy ?? Number.NaN,
  anyOfFive: point?.passAtK.find(({ k }) => k === 5)?.any ?? Number.NaN,
  tokens: 5 * (point?.tokens ?? Number.NaN),
  usd: 5 * (point?.usd ?? Number.NaN),
};
const expected = { sample, anyOfFive: any, tokens, usd: last.cost / runs.length };
for (const [name, value] of Object.entries(expected)) {
  const got = found[name as keyof typeof found];
  const same = Math.abs(got - value) < 1e-9 * Math.max(1, value);
  process.stdout.write(`${name}: ${got.toFixed(4)}, by plain sums ${value.toFixed(4)}\n`);
  if (!same) process.exitCode = 1;
}
