/** Servers that fail: what is no fault of a method must not count against it, and is searched again. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { anthropic } from '../../src/backends/anthropic/anthropic.ts';
import { openai } from '../../src/backends/openai/openai.ts';
import { openaiCompatible } from '../../src/backends/openai-compatible/openai-compatible.ts';
import { loadPeer } from '../../src/backends/transport/sdk.ts';
import { compare } from '../../src/bench/bench.ts';
import type { CompareOptions } from '../../src/bench/compare-options.ts';
import type { BenchMethod } from '../../src/bench/methods.ts';
import { spendText } from '../../src/bench/sections.ts';
import type { BenchTask } from '../../src/bench/task.ts';
import { readJournal } from '../../src/calls/journal-file.ts';
import { type LanguageModel, ModelCallError, mcts } from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { journalFileOf, readRun } from '../../src/runs/run-folder.ts';
import { base, digitModel, hidden, newFolder, timeless } from './codes.ts';

const options = {
  ...{ ...base, task: hidden, seeds: 1, concurrency: 1, methods: ['mcts'] },
  budgets: [{ unit: 'calls', limit: 12 }] as const,
};

/** Fails for prompts that hold what is looked for, as a server does that cannot be reached. */
function failing(pattern: RegExp) {
  const { model } = digitModel();
  return {
    ...model,
    generate: async (request, call) => {
      if (pattern.test(JSON.stringify(request.messages))) {
        throw new ModelCallError({ kind: 'bad-request', message: 'The server is down.' });
      }
      return model.generate(request, call);
    },
  } satisfies LanguageModel;
}

describe('an outage', () => {
  test.each([
    ['of all calls', /./],
    // The first step is answered, further ones are not.
    ['that begins after the first step', /: \d+"/],
  ])('%s is searched again, also where failed calls have spent the budget', async (_, pattern) => {
    const out = newFolder();
    const asked = { ...options, limit: 2, out };
    const first = await compare({ ...asked, model: failing(pattern) });
    expect(first.cells).toHaveLength(8);
    for (const cell of first.cells) {
      expect(cell).toMatchObject({ status: 'failed', isOutage: true });
      expect(cell.inputTokens + cell.outputTokens > 0).toBe(cell.tree.nodes > 1);
      expect(cell.reason).toContain('The server is down.');
    }
    for (const point of first.report.points) expect(point.outages).toBe(2);
    const { model } = digitModel();
    const again = await compare({ ...asked, model });
    const fresh = await compare({ ...asked, model, out: newFolder() });
    expect(again.cells.filter(({ isOutage }) => isOutage)).toEqual([]);
    expect(timeless(again.report)).toEqual(timeless(fresh.report));
  });

  test('is none where a model writes nonsense, or where a budget holds no call', async () => {
    const { model } = digitModel();
    const environment = hidden.instances({ limit: 1, seed: 0 });
    const [instance] = await environment;
    if (instance === undefined) throw new Error('Expected an instance.');
    const deaf = {
      ...instance,
      environment: {
        ...instance.environment,
        notation: {
          ...instance.environment.notation,
          parse: () => ({ problem: 'That is no digit.' }),
        },
      },
    };
    const task = { ...hidden, instances: () => [deaf as never] };
    const nonsense = await compare({ ...options, model, task, out: newFolder() });
    const small = { unit: 'tokens', limit: 3 } as const;
    const poor = { ...options, model, budgets: [small], limit: 1, out: newFolder() };
    await expect(compare(poor)).rejects.toThrow('Not one call of greedy fits 3 tokens: ');
    for (const { cells } of [nonsense]) {
      expect(cells.filter(({ isOutage }) => isOutage)).toEqual([]);
      expect(cells.filter(({ right }) => right)).toEqual([]);
    }
  });

  test('in part leaves its score, and is counted where more than 5 % of its calls are lost', async () => {
    // One of ten first digits leads nowhere.
    const model = failing(/: 3\d?"/);
    const { cells, report } = await compare({ ...options, model, limit: 6, out: newFolder() });
    const hurt = cells.filter(({ status, lost }) => status === 'scored' && lost?.calls);
    expect(hurt.length).toBeGreaterThan(0);
    const counted = report.points.map(({ method, outages }) => [method, outages]);
    const expected = report.points.map(({ method }) => {
      const own = cells.filter((cell) => cell.method === method);
      const isCounted = (cell: (typeof own)[number]) =>
        cell.isOutage === true || (cell.lost?.calls ?? 0) / cell.calls > 0.05;
      return [method, own.filter(isCounted).length];
    });
    expect(counted).toEqual(expected);
  });
});

describe('calls of a judge', () => {
  test.each([6, 8, 10, 14])(
    'that failed are told where a budget of %i calls ends their batch',
    async (limit) => {
      const { model } = digitModel();
      const judging = { count: 0 };
      const judge: LanguageModel = {
        ...model,
        generate: async (request, call) => {
          if (JSON.stringify(request.messages).includes('impossible') && judging.count++ % 4 === 0)
            throw new ModelCallError({ kind: 'bad-request', message: 'The judge is down.' });
          return model.generate(request, call);
        },
      };
      const asked = { methods: ['beam', 'mcts'], budgets: [{ unit: 'calls', limit }] as const };
      const out = newFolder();
      const { cells } = await compare({ ...options, ...asked, model: judge, out });
      const journals = new Map(
        readdirSync(join(out, 'journals'))
          .filter((name) => !name.includes('failed'))
          .map((name) => [name, readFileSync(join(out, 'journals', name), 'utf8')]),
      );
      let failures = 0;
      for (const cell of cells) {
        const { instance, method, attempt } = cell;
        const name = JSON.stringify([instance, method, `calls=${limit}`, null, 'codes', null]);
        const text = journals.get(journalFileOf({ problem: name, attempt })) ?? '';
        const failed = text.match(/"type":"failure"/g)?.length ?? 0;
        expect(cell.isOutage === true || (cell.lost?.calls ?? 0) >= failed).toBe(true);
        if (failed > 0 && cell.status === 'scored') expect(cell.answer).toBeDefined();
        failures += failed;
      }
      expect(failures).toBeGreaterThan(0);
    },
  );
});

test('what failed and may have been paid for counts as bought', async () => {
  const { model } = digitModel();
  const half: LanguageModel = {
    ...model,
    generate: async () => {
      throw new ModelCallError({ kind: 'malformed', message: 'Half an answer.' });
    },
  };
  const { report } = await compare({ ...options, limit: 2, model: half, out: newFolder() });
  const { bought, charged } = report.spend;
  expect(charged.tokens).toBeGreaterThan(0);
  expect(bought).toEqual(charged);
  expect(spendText(report)).not.toContain('saved');
});

test('calls that a deadline aborts count as bought, as they are charged', async () => {
  const { model } = digitModel();
  const deaf: LanguageModel = {
    ...model,
    generate: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  };
  const budget = { unit: 'ms', limit: 60 } as const;
  const asked = { ...options, paced: true, budgets: [budget], limit: 1, model: deaf };
  const { report } = await compare({ ...asked, out: newFolder() });
  const { bought, charged } = report.spend;
  expect(charged.usd).toBeGreaterThan(0);
  expect(bought).toEqual(charged);
});

test('calls under way at a deadline are charged as the journal says', async () => {
  const { model } = digitModel();
  const slow: LanguageModel = {
    ...model,
    generate: async (request, call) => {
      await new Promise((resolve) => setTimeout(resolve, 40));
      return model.generate(request, call);
    },
  };
  const out = newFolder();
  const budget = { unit: 'ms', limit: 100 } as const;
  const asked = { ...options, paced: true, budgets: [budget], limit: 2, model: slow, out };
  const { cells } = await compare(asked);
  let underWay = 0;
  for (const { instance, method, attempt, calls, tokens, usd } of cells) {
    const problem = JSON.stringify([instance, method, 'ms=100', null, 'codes', null]);
    const journal = join(out, 'journals', journalFileOf({ problem, attempt }));
    const spent = { calls: 0, tokens: 0, usd: 0 };
    for (const line of readJournal(journal).lines) {
      if (line.type !== 'result' && line.type !== 'failure') continue;
      if (line.type === 'failure' && line.abandoned === true) underWay += 1;
      for (const unit of ['calls', 'tokens', 'usd'] as const) spent[unit] += line.spend[unit];
    }
    expect({ calls, tokens }).toEqual({ calls: spent.calls, tokens: spent.tokens });
    expect(usd).toBeCloseTo(spent.usd, 12);
  }
  expect(underWay).toBeGreaterThan(0);
});

test('a step that throws is told with its instance and its task', async () => {
  const step = () => {
    throw new TypeError('No such field.');
  };
  const task: BenchTask = {
    ...hidden,
    instances: async (request) =>
      (await hidden.instances(request)).map((each) => ({
        ...each,
        environment: { ...each.environment, step },
      })),
  };
  const { model } = digitModel();
  const { report } = await compare({ ...options, task, limit: 2, model, out: newFolder() });
  expect(report.warnings.join('\n')).toMatch(
    new RegExp(`the most common reason, as in \`first 0\` of \`${task.name}\`: .*No such field\\.`),
  );
});

describe('code that throws', () => {
  const thrown = () => {
    throw new TypeError('No such field.');
  };
  type Part = 'algorithm' | 'evaluator' | 'plan' | 'policy' | 'returns' | 'reset';
  type Broken = Partial<Record<Part, true>>;
  /** A method and a task of somebody who has made a mistake. */
  function mistaken(broken: Broken) {
    const method: BenchMethod = {
      name: 'mine',
      plan: (_, models) => {
        if (broken.plan === true) thrown();
        const model = models.model as LanguageModel;
        return {
          policy: broken.policy === true ? { propose: thrown } : fromModel({ model, maxTokens: 4 }),
          evaluator:
            broken.evaluator === true ? thrown : () => (broken.returns === true ? Number.NaN : 0.5),
          algorithm: broken.algorithm === true ? { ...mcts(), run: thrown } : mcts(),
        };
      },
    };
    const task: BenchTask = {
      ...hidden,
      instances: async (request) =>
        (await hidden.instances(request)).map((each) => ({
          ...each,
          ...(broken.reset === true && { environment: { ...each.environment, reset: thrown } }),
        })),
    };
    return { method, task };
  }

  test.each<[Broken]>([
    [{ algorithm: true }],
    [{ policy: true }],
    [{ evaluator: true }],
    [{ returns: true }],
    [{ plan: true }],
    [{ reset: true }],
  ])('as in %j is no outage of the model, and is made again', async (broken) => {
    const out = newFolder();
    const { model } = digitModel();
    const asked = { ...options, limit: 2, out, model };
    const { method, task } = mistaken(broken);
    const { cells, report } = await compare({ ...asked, task, methods: [method] });
    const own = cells.filter((cell) => cell.method === 'mine');
    expect(own).toHaveLength(2);
    for (const cell of own) {
      expect(cell).toMatchObject({ status: 'failed', isBroken: true });
      expect(cell).not.toHaveProperty('isOutage');
    }
    const point = report.points.find((each) => each.method === 'mine');
    expect(point).toMatchObject({ searches: 2, n: 0, accuracy: null, failed: 0, broken: 2 });
    expect(report.warnings.join('\n')).toMatch(
      /2 of 2 searches of [^.]*mine failed by an error in code of the task or of the method, count for nothing and are made again by the same command; the most common reason/,
    );
    const mended = mistaken({});
    const again = await compare({ ...asked, task: mended.task, methods: [mended.method] });
    expect(again.cells.filter(({ isBroken }) => isBroken)).toEqual([]);
  });

  test('beside calls that fail is told from them', async () => {
    const { method } = mistaken({ policy: true });
    const down = await compare({
      ...{ ...options, limit: 1, model: failing(/./), out: newFolder() },
      methods: [method, 'mcts'],
    });
    const kinds = down.cells.map((cell) => [cell.method, cell.isOutage, cell.isBroken]);
    expect(kinds).toContainEqual(['mine', undefined, true]);
    expect(kinds).toContainEqual(['mcts', true, undefined]);
  });
});

test.each([
  [
    () => Promise.reject(new TypeError('No such field.')),
    'The plan of `mine` failed: No such field.',
  ],
  [() => 7, 'The plan of `mine` failed: Expected `plan` to be an object, got `7`.'],
  [() => ({ policy: 3 }), 'The plan of `mine` failed: Expected `policy` to be an object'],
  [() => ({ polcy: 3 }), 'The plan of `mine` failed: `plan` has no option `polcy`.'],
])('a mistake in a plan names its method: %s', async (plan, reason) => {
  const method = { name: 'mine', plan } as unknown as BenchMethod;
  const { model } = digitModel();
  const { report } = await compare({
    ...{ ...options, model, limit: 1, methods: [method], out: newFolder() },
  });
  const point = report.points.find((each) => each.method === 'mine');
  expect(point).toMatchObject({ broken: 1, outages: 0 });
  expect(report.warnings.join('\n')).toContain(reason);
});

test.each([
  ['OPENAI_API_KEY', () => openai({ model: 'gpt-6-luna' })],
  ['GROQ_API_KEY', () => openaiCompatible({ preset: 'groq', model: 'llama' })],
])('that there is no %s is found before anything is made or asked', async (name, judge) => {
  vi.stubEnv(name, undefined);
  const fetched = vi.spyOn(globalThis, 'fetch');
  const { model, asked } = digitModel();
  const out = newFolder();
  const run = (more: Partial<CompareOptions>) =>
    compare({ ...options, model, limit: 1, out, ...more });
  await expect(run({ judgeModel: judge() })).rejects.toThrow(`has no key. Set ${name}`);
  await expect(run({ model: judge() })).rejects.toThrow(`has no key. Set ${name}`);
  expect([asked.length, existsSync(join(out, 'run.json'))]).toEqual([0, false]);
  // Answers that are there already may be all that is needed.
  const recorded = run({ judgeModel: judge(), recording: newFolder() });
  await expect(recorded).rejects.toThrow('has no key');
  expect(asked.length).toBeGreaterThan(0);
  expect(fetched).not.toHaveBeenCalled();
  vi.unstubAllEnvs();
  fetched.mockRestore();
});

test('who has a key or brings a client is not refused', async () => {
  vi.stubEnv('OPENAI_API_KEY', undefined);
  const { model } = digitModel();
  const down = () => Promise.reject(new TypeError('fetch failed'));
  const client = { chat: { completions: { create: vi.fn(down) } } };
  const fetch = vi.fn(down);
  const given = { model: 'gpt-6-luna', retry: false } as const;
  for (const judgeModel of [
    openai({ ...given, client }),
    openai({ ...given, fetch, apiKey: 'key' }),
    openaiCompatible({ ...given, fetch, baseUrl: 'http://localhost:1/v1' }),
  ]) {
    const { report } = await compare({
      ...options,
      model,
      judgeModel,
      limit: 1,
      out: newFolder(),
    });
    expect(report.points.some(({ outages }) => outages > 0)).toBe(true);
  }
  expect([client.chat.completions.create, fetch].every(({ mock }) => mock.calls.length > 0)).toBe(
    true,
  );
  vi.unstubAllEnvs();
});

describe('what no search can do', () => {
  test('such as to ask without a key ends the benchmark at once, and is charged nothing', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', undefined);
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', undefined);
    vi.stubEnv('HOME', '/nonexistent');
    vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
    const model = anthropic({ model: 'claude-sonnet-5-5', retry: false });
    const run = compare({ ...options, model, limit: 2, out: newFolder() });
    await expect(run).rejects.toMatchObject({
      ...{ code: 'usage', scope: 'run' },
      message: expect.stringContaining('ANTHROPIC_API_KEY') as unknown,
    });
    vi.unstubAllEnvs();
  });

  test('such as to ask without a package ends it as well', async () => {
    const out = newFolder();
    const { model } = digitModel();
    const absent: string = 'absent-package';
    const generate = () => loadPeer(absent, () => import(absent));
    const run = compare({ ...options, model: { ...model, generate }, limit: 2, out });
    await expect(run).rejects.toMatchObject({ code: 'usage', scope: 'run' });
    const { outcomes } = readRun(out);
    expect(outcomes).toEqual([]);
    const { report } = await compare({ ...options, model, limit: 2, out });
    const fresh = await compare({ ...options, model, limit: 2, out: newFolder() });
    expect(report.spend).toEqual(fresh.report.spend);
  });
});
