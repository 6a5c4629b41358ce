/** What a benchmark is known by: servers, files and prices that differ are not taken for one another. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { anthropic } from '../../src/backends/anthropic/anthropic.ts';
import { openai } from '../../src/backends/openai/openai.ts';
import { openaiCompatible } from '../../src/backends/openai-compatible/openai-compatible.ts';
import { tiny } from '../../src/backends/tiny/tiny.ts';
import { compare } from '../../src/bench/bench.ts';
import type { BenchMethod } from '../../src/bench/methods.ts';
import { base, digitModel, hidden, newFolder } from './codes.ts';

afterEach(() => vi.unstubAllEnvs());

describe('the settings of a model', () => {
  test.each([
    ['no address where it is usual', {}, undefined],
    ['none of its own', { baseUrl: 'https://api.openai.com/v1/' }, undefined],
    ['another one', { baseUrl: 'http://gpu:1/v1/' }, 'http://gpu:1/v1'],
  ])('name %s', (_, options, address) => {
    vi.stubEnv('OPENAI_BASE_URL', undefined);
    const { settings } = openai({ model: 'gpt-4o', ...options });
    expect(settings?.['baseUrl']).toBe(address);
  });

  test('name the address of the environment, and that of a server', () => {
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://gateway:2');
    expect(anthropic({ model: 'claude-sonnet-5-5' }).settings).toEqual(
      expect.objectContaining({ baseUrl: 'http://gateway:2' }),
    );
    const at = (baseUrl: string) => openaiCompatible({ baseUrl, model: 'm' }).settings;
    expect(at('http://a:1/v1')).toEqual({ baseUrl: 'http://a:1/v1' });
    expect(openaiCompatible({ preset: 'vllm', model: 'm' }).settings).toEqual({});
  });

  test('tell files of one name apart, and know one that has moved', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => {
      const folder = newFolder();
      mkdirSync(folder, { recursive: true });
      const path = join(folder, 'model.gguf');
      writeFileSync(path, name === 'b' ? `${'x'.repeat(200_000)}!` : 'x'.repeat(200_001));
      return tiny({ model: path, thread: false }).settings;
    });
    expect(a).toEqual({ file: expect.any(String) as unknown });
    expect(a).not.toEqual(b);
    expect(a).toEqual(c);
    expect(tiny({ thread: false }).settings).toEqual({});
  });
});

describe('a folder', () => {
  const asked = { ...base, seeds: 1, limit: 1 };
  const { model } = digitModel();

  test('of another address is refused', async () => {
    const out = newFolder();
    const at = (baseUrl: string) => ({ ...model, settings: { baseUrl } });
    await compare({ ...asked, model: at('http://a/v1'), out });
    const other = compare({ ...asked, model: at('http://b/v1'), out });
    await expect(other).rejects.toThrow(
      'is another one: its `settings` is [{"baseUrl":"http://a/v1"},null], this command has [{"baseUrl":"http://b/v1"},null].',
    );
  });

  test('of other prices is refused', async () => {
    const out = newFolder();
    const at = (input: number) => ({ digits: { input, output: 2 } });
    await compare({ ...asked, model, prices: at(1), out });
    const same = { digits: { input: 1, output: 2, cachedInput: 1, tiers: {} } };
    await compare({ ...asked, model, prices: same, out });
    await expect(compare({ ...asked, model, prices: at(3), out })).rejects.toThrow(
      'is another one: its prices (`--price-in` and `--price-out`, `prices` in code) are input $1, cachedInput $1, cacheWrite $1 a million tokens, this command has input $3, cachedInput $3, cacheWrite $3 a million tokens. Take',
    );
  });

  test('of another tier is refused, unless it is that of batches, which no benchmark makes', async () => {
    const out = newFolder();
    const at = (tiers: Readonly<Record<string, number>>) => ({
      digits: { input: 1, output: 2, tiers },
    });
    await compare({ ...asked, model, prices: at({ batch: 0.5 }), out });
    await compare({ ...asked, model, prices: at({}), out });
    await expect(compare({ ...asked, model, prices: at({ flex: 0.5 }), out })).rejects.toThrow(
      '`prices` in code) are no tiers, this command has tiers {"flex":0.5}. Take',
    );
  });
});

test('an instance of a class is taken with what it inherits', async () => {
  const { model } = digitModel();
  const [plain] = await hidden.instances({ limit: 1, seed: 0 });
  class Inherited {
    readonly #id = 'inherited';
    get id() {
      return this.#id;
    }
    get cluster() {
      return 'one';
    }
    get environment() {
      return plain?.environment;
    }
  }
  const seen: unknown[] = [];
  const curious: BenchMethod = {
    name: 'curious',
    plan: ({ id, cluster }) => {
      seen.push(id, cluster);
      throw new Error('Seen.');
    },
  };
  const task = { ...hidden, instances: () => [new Inherited()] as never };
  await compare({ ...base, task, model, methods: [curious], seeds: 1, out: newFolder() });
  expect(new Set(seen)).toEqual(new Set(['inherited', 'one']));
});

test('no method sees the revision of an instance', async () => {
  const { model } = digitModel();
  const instances = await hidden.instances({ limit: 1, seed: 0 });
  const seen: string[] = [];
  const nosy: BenchMethod = {
    name: 'nosy',
    plan: (instance) => {
      seen.push(...Object.keys(instance));
      throw new Error('Seen.');
    },
  };
  const task = {
    ...hidden,
    instances: () => instances.map((each) => ({ ...each, revision: 'of the answer' })),
  };
  await compare({ ...base, task, methods: [nosy], model, out: newFolder() });
  expect(seen).toContain('environment');
  expect(seen).not.toContain('revision');
});

test('a task of another revision, and an instance too, is measured anew with the answers that were bought', async () => {
  const out = newFolder();
  const asked = { ...base, task: hidden, seeds: 1, limit: 2, out };
  await compare({ ...asked, model: digitModel().model });
  const instances = await hidden.instances({ limit: 2, seed: 0 });
  const oracle = { label: () => ({ correct: true }) };
  const mended = instances.map((each) => ({ ...each, oracle }));
  const revised = mended.map((each) => ({ ...each, revision: '2' }));
  for (const task of [
    { ...hidden, instances: () => mended, revision: '2' },
    { ...hidden, instances: () => revised },
  ]) {
    const { model, asked: calls } = digitModel();
    const { cells } = await compare({ ...asked, task, model });
    expect(cells.every(({ right }) => right)).toBe(true);
    expect(calls).toEqual([]);
  }
});

test('cells that were kept take the cluster that their instance has now', async () => {
  const out = newFolder();
  const { model } = digitModel();
  const asked = { ...base, seeds: 1, limit: 2, model, out };
  await compare(asked);
  const task = {
    ...base.task,
    instances: async () =>
      (await base.task.instances({ limit: 2, seed: 0 })).map((each) => ({ ...each, cluster: 'c' })),
  };
  const { cells, report } = await compare({ ...asked, task });
  expect(new Set(cells.map(({ cluster }) => cluster))).toEqual(new Set(['c']));
  expect(report.task.clusters).toBe(1);
});

test('budgets in time are refused where nothing takes its time', async () => {
  const { model } = digitModel();
  const budgets = [{ unit: 'ms', limit: 100 }] as const;
  const run = compare({ ...base, budgets, model, paced: false, out: newFolder() });
  await expect(run).rejects.toThrow('Expected `budgets` to be in tokens, calls or usd');
});
