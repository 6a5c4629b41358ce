import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { anthropic } from '../../src/backends/anthropic/anthropic.ts';
import { openai } from '../../src/backends/openai/openai.ts';
import { EspalierError } from '../../src/base/errors.ts';
import { replayed } from '../../src/calls/journal.ts';
import { wrapModel } from '../../src/calls/middleware/compose.ts';
import { withLimit } from '../../src/calls/middleware/with-limit.ts';
import type { LanguageModel } from '../../src/contracts/language-model.ts';
import type { ProposeRequest } from '../../src/contracts/policy.ts';
import { type BatchOptions, generate, openRun, readRun } from '../../src/runs/index.ts';
import { search } from '../../src/search/search.ts';
import { type Emulator, type EmulatorOptions, emulator } from '../../src/testing/index.ts';
import { treeToJson } from '../../src/tree/serialize.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-batches-'));
const servers: Emulator[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  rmSync(folder, { recursive: true, force: true });
});

const dialects = ['openai', 'anthropic'] as const;
type Dialect = (typeof dialects)[number];

const models = { openai: 'gpt-6-luna', anthropic: 'claude-haiku-5-5' };

async function serve(options: EmulatorOptions): Promise<Emulator> {
  const known = options.dialect === 'openai' ? models.openai : models.anthropic;
  const server = await emulator({ models: [known], answer: () => 'yes', ...options });
  servers.push(server);
  return server;
}

function modelOf(dialect: Dialect, { url }: Emulator): LanguageModel {
  const connection = { apiKey: 'none', baseUrl: url, thoughtTokens: 0 };
  return dialect === 'openai'
    ? openai({ model: models.openai, ...connection })
    : anthropic({ model: models.anthropic, ...connection });
}

/** One step, asked for in so many samples. */
function planWith(model: LanguageModel, samples = 1) {
  return ({ id }: { readonly id: string }) => ({
    environment: {
      name: 'one step',
      reset: () => ({ state: id }),
      step: (state: string, action: string) => ({ state: `${state} ${action}`, terminal: true }),
    },
    policy: {
      async propose(_: unknown, { context }: ProposeRequest) {
        const messages = [{ role: 'user' as const, content: `What of ${id}?` }];
        const { completions } = await context.generate(model, { messages, samples, maxTokens: 20 });
        return completions.map((completion) => ({ action: completion.text, completion }));
      },
    },
    evaluator: () => 0.5,
    budget: { simulations: 2 },
    order: 'issued' as const,
  });
}

const quick: BatchOptions = { lingerMs: 100, settleMs: 50 };
const problems = Array.from({ length: 12 }, (_, index) => ({ id: `p${index}` }));
let runs = 0;

function grow(
  model: LanguageModel,
  {
    path = join(folder, `run ${runs++}`),
    batch = quick,
    samples = 1,
    ...options
  }: {
    readonly path?: string;
    readonly batch?: BatchOptions | boolean;
    readonly samples?: number;
    readonly stopWhen?: () => boolean;
    readonly retryFailed?: boolean;
  } = {},
) {
  const run = openRun(path);
  return generate({ run, problems, plan: planWith(model, samples), batch, ...options }).finally(
    () => run.close(),
  );
}

/** The place of an item in its batch; none where a request is sent by itself. */
function placeOf(customId = ''): number {
  return Number(/_(\d+)_s/.exec(customId)?.[1] ?? Number.NaN);
}

/** What the server's answers cost by themselves; what is put into its cache costs a quarter more. */
function price({ account }: Emulator): number {
  const { inputTokens, cacheWriteTokens, cachedTokens, outputTokens } = account;
  expect(cachedTokens).toBe(0);
  return (inputTokens * 0.1 + cacheWriteTokens * 0.025 + outputTokens * 0.5) / 1e6;
}

/** What was asked of the model by itself. */
function live({ requests }: Emulator): number {
  return requests.filter(({ path, method, questions }) => {
    return method === 'POST' && questions.length > 0 && !/batches|files/.test(path);
  }).length;
}

describe.each(dialects)('batches of %s', (dialect) => {
  test('hold what all searches ask for, for half of what it costs by itself', async () => {
    const server = await serve({ dialect });
    const report = await grow(modelOf(dialect, server));
    expect(report).toMatchObject({ stopReason: 'finished', done: 12, failed: [] });
    expect(server.batches.map(({ items }) => items.length)).toEqual([12]);
    expect(live(server)).toBe(0);
    const alone = await serve({ dialect });
    const full = await grow(modelOf(dialect, alone), { batch: false });
    expect(alone.batches).toEqual([]);
    expect(full.spend.tokens).toBe(report.spend.tokens);
    expect(report.spend.usd).toBeGreaterThan(0);
    expect(report.spend.usd).toBeCloseTo(full.spend.usd / 2, 12);
  });

  test('hold all samples of a step at once, and none waits for another', async () => {
    const server = await serve({ dialect });
    await grow(modelOf(dialect, server), { samples: 3 });
    expect(server.batches).toHaveLength(1);
    expect(server.account.completionsServed).toBe(36);
  });

  test('leave what they did not answer in time to requests at the full price', async () => {
    const faults: EmulatorOptions['faults'] = ({ customId }) =>
      placeOf(customId) % 3 === 0 ? 'expires' : undefined;
    const server = await serve({ dialect, faults });
    const report = await grow(modelOf(dialect, server));
    expect(report.done).toBe(12);
    expect(live(server)).toBe(4);
    expect(server.account.completionsServed).toBe(12);
    expect(report.spend.usd).toBeCloseTo((price(server) * (4 + 8 / 2)) / 12, 7);
  });
});

describe.each(dialects)('batches of %s that are late', (dialect) => {
  test('are ended when their time is up, and what they hold is asked by itself', async () => {
    const server = await serve({ dialect, batchMs: 60_000 });
    const report = await grow(modelOf(dialect, server), { batch: { ...quick, deadlineMs: 300 } });
    expect(report.done).toBe(12);
    expect(server.requests.filter(({ path }) => path.endsWith('/cancel'))).toHaveLength(1);
    expect(live(server)).toBe(12);
    expect(server.account.completionsServed).toBe(12);
  });

  test('are not used where no time is given to them', async () => {
    const server = await serve({ dialect });
    const report = await grow(modelOf(dialect, server), { batch: { deadlineMs: 0 } });
    expect(report.done).toBe(12);
    expect(server.batches).toEqual([]);
  });

  test('refuse one request and answer the others', async () => {
    const faults: EmulatorOptions['faults'] = ({ customId }) =>
      placeOf(customId) === 3 ? 'context-overflow' : undefined;
    const server = await serve({ dialect, faults });
    const report = await grow(modelOf(dialect, server));
    expect(report.done).toBe(11);
    expect(report.failed.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/does not fit the context/),
    ]);
    expect(live(server)).toBe(0);
  });

  test('are found in the list where nobody heard that they were submitted', async () => {
    let posts = 0;
    const faults: EmulatorOptions['faults'] = ({ path, body }) => {
      const isSubmission = path.endsWith('/batches') && body !== undefined;
      return isSubmission && posts++ === 0 ? 'reset' : undefined;
    };
    const server = await serve({ dialect, faults });
    const report = await grow(modelOf(dialect, server));
    expect(report.done).toBe(12);
    expect(server.batches).toHaveLength(1);
    expect(server.account.completionsServed).toBe(12);
  });

  test('are submitted again where they are not in the list', async () => {
    let posts = 0;
    const faults: EmulatorOptions['faults'] = ({ path, body }) => {
      const isSubmission = path.endsWith('/batches') && body !== undefined;
      return isSubmission && posts++ === 0 ? 'overloaded' : undefined;
    };
    const server = await serve({ dialect, faults });
    const report = await grow(modelOf(dialect, server));
    expect(report.done).toBe(12);
    expect(posts).toBe(2);
    expect(server.batches).toHaveLength(1);
  });
});

describe.each(dialects)('batches of %s and sessions', (dialect) => {
  test('stay at their provider where a run is stopped, and the next session goes on with them', async () => {
    let ahead = 0;
    const hour = { batchMs: 3_600_000, now: () => Date.now() + ahead };
    const server = await serve({ dialect, ...hour });
    const model = modelOf(dialect, server);
    const path = join(folder, `${dialect} stopped`);
    // It would wait for an hour if it waited for the batch.
    const first = await grow(model, { path, stopWhen: () => server.batches.length > 0 });
    ahead = 3_600_000;
    expect(first).toMatchObject({ stopReason: 'stopped', done: 0, unfinished: 12 });
    const second = await grow(model, { path });
    expect(second).toMatchObject({ stopReason: 'finished', done: 12, spend: { calls: 12 } });
    expect(server.batches).toHaveLength(1);
    expect(second.spend.usd).toBeCloseTo(price(server) / 2, 12);
  });

  test('are of no use to a search that begins anew', async () => {
    let isBroken = true;
    const faults: EmulatorOptions['faults'] = ({ customId }) =>
      isBroken && placeOf(customId) === 3 ? 'context-overflow' : undefined;
    const server = await serve({ dialect, faults });
    const path = join(folder, `${dialect} anew`);
    const first = await grow(modelOf(dialect, server), { path });
    expect(first.failed.map(({ problem }) => problem)).toEqual(['p3']);
    isBroken = false;
    const second = await grow(modelOf(dialect, server), { path, retryFailed: true });
    expect(second).toMatchObject({ done: 12, failed: [] });
  });

  test('take what a limit on calls under way would hold back', async () => {
    const server = await serve({ dialect });
    const limited = wrapModel(modelOf(dialect, server), withLimit({ concurrency: 1 }));
    const report = await grow(limited);
    expect(report.done).toBe(12);
    expect(server.batches.map(({ items }) => items.length)).toEqual([12]);
  });

  test('make journals that can be replayed without them', async () => {
    const server = await serve({ dialect });
    const model = modelOf(dialect, server);
    const path = join(folder, `${dialect} replayed`);
    await grow(model, { path, samples: 2 });
    const saved = readRun(path);
    const { environment, ...plan } = planWith(model, 2)({ id: 'p5' });
    const journal = replayed(saved.journal({ problem: 'p5', attempt: 0 }));
    const { tree } = await search(environment, { ...plan, journal });
    const there = saved.trees.find(({ problem }) => problem === 'p5')?.read();
    expect(JSON.parse(JSON.stringify(treeToJson(tree, {})))).toEqual(there);
  });

  test('are part of a run for as long as it lasts', async () => {
    const server = await serve({ dialect, batchMs: 60_000 });
    const model = modelOf(dialect, server);
    const path = join(folder, `${dialect} kept`);
    await grow(model, { path, stopWhen: () => server.batches.length > 0 });
    await expect(grow(model, { path, batch: false })).rejects.toThrow(
      /belongs to another run: its `batches` is true, this run's is none/,
    );
  });
});

test('a batch that its provider refuses as a whole costs nothing, and says why', async () => {
  const server = await serve({ dialect: 'openai' });
  const model = openai({ model: models.openai, apiKey: 'none', baseUrl: server.url });
  const odd: LanguageModel = {
    ...model,
    capabilities: { ...model.capabilities, batch: true },
    generate: (request, call) =>
      call.batch === undefined
        ? model.generate(request, call)
        : model.generate(request, {
            ...call,
            batch: (asked, send) =>
              call.batch?.(
                { ...asked, body: { ...asked.body, model: `m${Math.random()}` } },
                send,
              ) ?? send(),
          }),
  };
  const path = join(folder, 'refused');
  const report = await grow(odd, { path });
  expect(report.failed[0]?.reason).toMatch(
    /refused the batch .*\(.*model.*\)\. None of it is charged\./i,
  );
  expect(report.spend.usd).toBe(0);
  expect(readFileSync(join(path, 'batches.jsonl'), 'utf8')).toContain('"type":"dropped"');
});

test('a provider without batches ends the run with a sentence', async () => {
  const server = await serve({
    dialect: 'openai',
    faults: ({ path }) => (path.endsWith('/files') ? 'auth' : undefined),
  });
  const report = await grow(modelOf('openai', server));
  expect(report.done).toBe(0);
  expect(report.failed[0]?.reason).toMatch(/accepted no batch: openai:gpt-6-luna refuses the key/);
  expect(report.spend.usd).toBe(0);
});

test('a batch that its provider knows no more says what to do', async () => {
  let looks = 0;
  const server = await serve({ dialect: 'openai', batchMs: 60_000 });
  const gone: typeof globalThis.fetch = (input, init) => {
    const isLook = /batches\/[^/]+$/.test(String(input)) && looks++ > 0;
    const message = { error: { message: 'No such batch', type: 'invalid_request_error' } };
    return isLook ? Promise.resolve(Response.json(message, { status: 404 })) : fetch(input, init);
  };
  const connection = { apiKey: 'none', baseUrl: server.url, fetch: gone, retry: false } as const;
  const report = await grow(openai({ model: models.openai, ...connection }));
  expect(report.done).toBe(0);
  expect(report.failed[0]?.reason).toMatch(
    /To send its requests again, and pay for them again, remove `batches.jsonl`/,
  );
});

test('what is answered late, and in the list still later, is not submitted again', async () => {
  const server = await serve({ dialect: 'openai' });
  let listedAt = Infinity;
  const slow: typeof globalThis.fetch = async (input, init) => {
    const isList = /batches\?/.test(String(input));
    if (isList && performance.now() < listedAt) {
      return Response.json({ object: 'list', data: [], has_more: false });
    }
    const answer = await fetch(input, init);
    if (init?.method !== 'POST' || !String(input).endsWith('/batches')) return answer;
    await new Promise((resolve) => setTimeout(resolve, 400));
    listedAt = performance.now() + 150;
    throw new TypeError('fetch failed');
  };
  const connection = { apiKey: 'none', baseUrl: server.url, fetch: slow, retry: false } as const;
  const model = openai({ model: models.openai, ...connection });
  const report = await grow(model, { batch: { ...quick, settleMs: 300 } });
  expect(report.done).toBe(12);
  expect(server.batches).toHaveLength(1);
});

test.each([
  ['html', '<html></html>'],
  ['no list', '{}'],
  ['a page that comes for ever', '{"data":[{"id":"x","created_at":4e9}],"has_more":true}'],
  ['an empty page with more behind it', '{"data":[],"has_more":true}'],
])('a list of %s does not say that a batch was not submitted', async (_, text) => {
  const server = await serve({ dialect: 'openai' });
  let lists = 0;
  const odd: typeof globalThis.fetch = async (input, init) => {
    if (/batches\?/.test(String(input)) && lists++ < 2) {
      return new Response(text, { headers: { 'content-type': 'application/json' } });
    }
    const answer = await fetch(input, init);
    if (init?.method !== 'POST' || !String(input).endsWith('/batches')) return answer;
    throw new TypeError('fetch failed');
  };
  const connection = { apiKey: 'none', baseUrl: server.url, fetch: odd, retry: false } as const;
  const report = await grow(openai({ model: models.openai, ...connection }));
  expect(report.done).toBe(12);
  expect(server.batches).toHaveLength(1);
});

test.each([
  ['cut off', (text: string) => text.slice(0, text.length / 2)],
  ['empty', () => ''],
  ['a page', () => '<html>'],
])('results that are %s are read again, and nothing is bought twice', async (_, cut) => {
  const server = await serve({ dialect: 'openai' });
  let reads = 0;
  const odd: typeof globalThis.fetch = async (input, init) => {
    const answer = await fetch(input, init);
    const isFirst = String(input).endsWith('/content') && reads++ === 0;
    return isFirst ? new Response(cut(await answer.text())) : answer;
  };
  const connection = { apiKey: 'none', baseUrl: server.url, fetch: odd, retry: false } as const;
  const report = await grow(openai({ model: models.openai, ...connection }));
  expect(report.done).toBe(12);
  expect(reads).toBe(2);
  expect(live(server)).toBe(0);
  expect(server.account.completionsServed).toBe(12);
});

test('a cancellation that comes too late is no failure', async () => {
  const server = await serve({ dialect: 'openai', batchMs: 700 });
  const odd: typeof globalThis.fetch = (input, init) => {
    const said = { error: { message: "Cannot cancel a batch with status 'completed'." } };
    const isCancel = String(input).endsWith('/cancel');
    return isCancel ? Promise.resolve(Response.json(said, { status: 409 })) : fetch(input, init);
  };
  const connection = { apiKey: 'none', baseUrl: server.url, fetch: odd, retry: false } as const;
  const model = openai({ model: models.openai, ...connection });
  const report = await grow(model, { batch: { ...quick, deadlineMs: 200 } });
  expect(report.done).toBe(12);
  expect(live(server)).toBe(0);
});

test('a disk that is full fails no other problem', async () => {
  const server = await serve({ dialect: 'openai' });
  const model = modelOf('openai', server);
  const path = join(folder, 'full');
  const run = openRun(path);
  const full = new EspalierError('storage', 'The disk is full.');
  const failing = {
    ...run,
    journalOf: (problem: string, attempt: number) => {
      const file = run.journalOf(problem, attempt);
      const append: typeof file.append = (line) => {
        if (problem === 'p0' && line.type === 'result') throw full;
        file.append(line);
      };
      return Object.assign(Object.create(file) as typeof file, {
        ...{ append, lines: file.lines, mode: file.mode },
        [Symbol.dispose]: () => file.close(),
      });
    },
  };
  const growing = generate({ run: failing, problems, plan: planWith(model), batch: quick });
  await expect(growing).rejects.toThrow('The disk is full.');
  run.close();
  const report = await grow(model, { path });
  expect(report).toMatchObject({ stopReason: 'finished', done: 12, failed: [] });
  expect(server.account.completionsServed).toBe(12);
});

test('a limit on time is refused beside batches, before anything is asked', async () => {
  const server = await serve({ dialect: 'openai' });
  const plan = planWith(modelOf('openai', server));
  const timed = (problem: { readonly id: string }) => {
    const planned = plan(problem);
    return { ...planned, budget: { ...planned.budget, ms: 9 } };
  };
  using run = openRun(join(folder, 'timed'));
  const made = generate({ run, problems, plan: timed, batch: true });
  await expect(made).rejects.toThrow('Expected `plan` to set no `budget.ms` beside `batch`');
  expect(server.requests).toEqual([]);
});

test('options of batches out of their range are refused', async () => {
  const server = await serve({ dialect: 'openai' });
  const model = modelOf('openai', server);
  const wrong = { deadlineMs: -1 };
  const made = Promise.resolve().then(() => grow(model, { batch: wrong }));
  await expect(made).rejects.toThrow('`batch.deadlineMs`');
});
