import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { anthropic, openai } from '../../src/backends/index.ts';
import { memoryJournal, replayed } from '../../src/calls/index.ts';
import {
  type CallContext,
  type Environment,
  type LanguageModel,
  ModelCallError,
  mcts,
  search,
  treeToJson,
} from '../../src/index.ts';
import { type GenerateReport, generate, openRun } from '../../src/runs/index.ts';
import { plainContext } from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/index.ts';
import { searchOf } from '../support/search-of.ts';
import { type AnyLine, paidBy } from './paid-by.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-after-kills-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function longer(start = ''): Environment<string, string> {
  return {
    name: 'longer',
    reset: () => ({ state: start }),
    step: (state, action) => ({
      state: state + action,
      ...(state.length > 7 && { terminal: true, reward: 1 }),
    }),
  };
}

/** Proposes what a model says; each node asks once. */
function saying(model: LanguageModel) {
  return {
    async propose(
      { state = '' }: { readonly state?: string | undefined },
      { context }: { readonly context: CallContext },
    ) {
      const messages = [{ role: 'user' as const, content: `after ${state}` }];
      const { completions } = await context.generate(model, { messages, maxTokens: 4 });
      return completions.map(({ text }) => ({ action: text }));
    },
  };
}

function modelOf(answer: (call: number) => Promise<string> | string): LanguageModel {
  let calls = 0;
  return {
    provider: 'test',
    modelId: 'counting',
    capabilities: {},
    async generate() {
      const text = await answer(++calls);
      return { completions: [{ text }], usage: { inputTokens: 9, outputTokens: 1 } };
    },
  };
}

/** What all journals of a run over many problems say was paid. */
function paidIn(run: string): number {
  const journals = join(run, 'journals');
  return readdirSync(journals)
    .map((name) => readFileSync(join(journals, name), 'utf8').trimEnd().split('\n'))
    .map((lines) => paidBy(lines.map((line) => JSON.parse(line) as AnyLine)).calls)
    .reduce((sum, calls) => sum + calls, 0);
}

/** One session of a run under a pool of calls, which breaks off in the middle where it is told to. */
async function session(
  path: string,
  options: {
    readonly calls: number;
    readonly concurrency: number;
    readonly breakOffAt?: number;
    readonly retryFailed?: boolean;
    readonly isBroken?: boolean;
    readonly asked?: string[];
  },
): Promise<GenerateReport | undefined> {
  const controller = new AbortController();
  const model = modelOf(async (call) => {
    options.asked?.push(path);
    if (call === options.breakOffAt) setImmediate(() => controller.abort(new Error('Broken off.')));
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (options.isBroken === true) {
      throw new ModelCallError({ kind: 'bad-request', message: 'No such model.' });
    }
    return 'a';
  });
  using run = openRun(path);
  try {
    return await generate({
      run,
      problems: [{ id: 'p1' }, { id: 'p2' }, { id: 'p3' }],
      plan: ({ id }) => ({
        environment: longer(id),
        policy: saying(model),
        evaluator: heuristic(() => 0.5),
        algorithm: mcts({ width: 1 }),
        budget: { simulations: 40 },
      }),
      budget: { calls: options.calls },
      concurrency: options.concurrency,
      retryFailed: options.retryFailed ?? false,
      signal: controller.signal,
    });
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    return undefined;
  }
}

describe('a pool', () => {
  test.each([1, 2, 3])('holds over kills, when %i searches go on at once', async (concurrency) => {
    const path = join(folder, `pool-${concurrency}`);
    await session(path, { calls: 12, concurrency: 3, breakOffAt: 8 });
    const report = await session(path, { calls: 12, concurrency });
    expect(paidIn(path)).toBeLessThanOrEqual(12);
    expect(report?.spend.calls).toBeGreaterThanOrEqual(paidIn(path));
    expect(report?.spend.calls).toBeLessThanOrEqual(12);
  });

  test('remembers what was paid for attempts that were begun anew', async () => {
    const path = join(folder, 'anew');
    const options = { calls: 9, concurrency: 1, isBroken: true };
    await session(path, options);
    for (let again = 0; again < 4; again++) await session(path, { ...options, retryFailed: true });
    expect(paidIn(path)).toBeLessThanOrEqual(9);
  });

  test('is no reason to fail for a run whose retries were broken off', async () => {
    const path = join(folder, 'broken-off');
    await session(path, { calls: 30, concurrency: 1, isBroken: true });
    await session(path, { calls: 30, concurrency: 1, retryFailed: true, breakOffAt: 1 });
    const report = await session(path, { calls: 60, concurrency: 1, retryFailed: true });
    expect(report).toMatchObject({ stopReason: 'finished', done: 3 });
  });
});

describe('a retry of failed searches that was broken off', () => {
  const options = { calls: 99, concurrency: 1 };

  /** How many calls a retry of three failed searches makes that is broken off at some of them. */
  async function callsOf(name: string, breakOffAt: readonly number[], { isPlain = false } = {}) {
    const path = join(folder, name);
    const asked: string[] = [];
    await session(path, { ...options, isBroken: true });
    for (const call of breakOffAt) {
      await session(path, { ...options, asked, retryFailed: true, breakOffAt: call });
    }
    if (isPlain) {
      const resumed = await session(path, { ...options, asked });
      expect(resumed).toMatchObject({ stopReason: 'finished', unfinished: 0 });
      expect(resumed?.done).toBeGreaterThan(0);
    }
    const report = await session(path, { ...options, asked, retryFailed: true });
    expect(report).toMatchObject({ done: 3, failed: [], unfinished: 0 });
    const journals = readdirSync(join(path, 'journals'));
    expect(journals.filter((journal) => journal.includes('.failed-'))).toHaveLength(3);
    return asked.length;
  }

  test.each([false, true])('goes on where it was, by a plain session: %s', async (isPlain) => {
    const undisturbed = await callsOf(`undisturbed-${isPlain}`, []);
    expect(undisturbed).toBeGreaterThan(9);
    for (let call = 1; call <= undisturbed; call++) {
      // The call that was under way is made again, and no other.
      const asked = await callsOf(`retry-${isPlain}-${call}`, [call], { isPlain });
      expect(asked, `broken off at call ${call}`).toBeLessThanOrEqual(undisturbed + 1);
    }
    const twice = await callsOf(`twice-${isPlain}`, [3, 3], { isPlain });
    expect(twice).toBeLessThanOrEqual(undisturbed + 2);
  });
});

describe('the same command after an outage', () => {
  const busyAt = (place: number) =>
    modelOf((call) => {
      if (call === place) throw new ModelCallError({ kind: 'overloaded', message: 'Busy.' });
      return `${call % 3}`;
    });
  const options = {
    environment: longer(),
    evaluator: heuristic((state: string) => state.length / 20),
    algorithm: mcts({ width: 2 }),
  };

  test.each([3, 4, 5, 6])('keeps the tree that was paid for, with %i calls', async (calls) => {
    const journal = memoryJournal();
    const budget = { calls };
    const first = await searchOf({ ...options, policy: saying(busyAt(3)), budget, journal });
    const again = await searchOf({ ...options, policy: saying(busyAt(0)), budget, journal });
    expect(again.tree.size).toBeGreaterThanOrEqual(first.tree.size);
    expect(again.spend.calls).toBe(paidBy([...journal.lines] as AnyLine[]).calls);
    expect(again.spend.calls).toBeLessThanOrEqual(calls);
  });

  test('goes on from where it ended, and its replay does the same', async () => {
    const journal = memoryJournal();
    const budget = { calls: 60 };
    const first = await searchOf({ ...options, policy: saying(busyAt(1)), budget, journal });
    expect(first.stopReason).toBe('failed');
    const again = await searchOf({ ...options, policy: saying(busyAt(0)), budget, journal });
    expect(again.tree.size).toBeGreaterThan(1);
    const record = { ...options, policy: saying(busyAt(1)), budget, journal: replayed(journal) };
    const { tree } = await searchOf(record);
    expect(JSON.stringify(treeToJson(tree))).toBe(JSON.stringify(treeToJson(again.tree)));
  });
});

describe('a start that never comes', () => {
  const environment: Environment<string, string> = {
    ...longer(),
    reset: () => new Promise(() => {}),
  };
  const policy = { propose: () => [] };

  test('ends the search with its time', async () => {
    await expect(search(environment, { policy, budget: { ms: 30 } })).rejects.toThrow(
      'The environment longer had no start within the 30 ms of the budget.',
    );
  });

  test('ends with an abort', async () => {
    const controller = new AbortController();
    const running = search(environment, { policy, signal: controller.signal });
    controller.abort(new Error('Enough.'));
    await expect(running).rejects.toThrow('Enough.');
  });
});

test('effects of nested searches act each in its own world', async () => {
  interface Place {
    readonly at: string;
    readonly seen?: string;
  }
  const world = (at: string): Environment<Place, string> => ({
    name: 'world',
    reset: () => ({ state: { at } }),
    async step(state, _action, context) {
      const seen = await context.effect('read', { id: 1 }, () => Promise.resolve(`of ${state.at}`));
      return { state: { at: state.at, seen }, terminal: true, reward: 1 };
    },
  });
  const seen: unknown[] = [];
  await search(world('outer'), {
    policy: { propose: () => [] },
    budget: { calls: 9 },
    algorithm: {
      name: 'nested',
      concurrency: 'any',
      laws: [],
      async run(_tree, context) {
        for (const at of ['A', 'B']) {
          const { best } = await context.search(world(at), {
            share: 0.5,
            policy: { propose: () => [{ action: 'look' }] },
            budget: { simulations: 1 },
          });
          seen.push(best.state?.seen);
        }
      },
    },
  });
  expect(seen).toEqual(['of A', 'of B']);
});

describe('a server that sends a request elsewhere', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serve(
    status: number,
    location: string,
    heard: (headers: string) => void,
  ): Promise<string> {
    const server = createServer((request, response) => {
      heard(JSON.stringify(request.headers));
      request.resume();
      response.writeHead(status, { location }).end('{}');
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test.each(['openai', 'anthropic'] as const)('gets nothing sent there by %s', async (provider) => {
    const elsewhere: string[] = [];
    const other = await serve(500, '', (headers) => elsewhere.push(headers));
    const baseUrl = await serve(307, `${other}/v1/x`, () => {});
    const options = {
      model: 'm',
      apiKey: 'sk-secret-0123456789',
      baseUrl,
      headers: { 'x-tok': 'tok-secret-0123456789' },
      retry: false,
    } as const;
    const model = provider === 'openai' ? openai(options) : anthropic(options);
    const messages = [{ role: 'user' as const, content: 'Hello.' }];
    await expect(plainContext().generate(model, { messages })).rejects.toThrow();
    expect(elsewhere).toEqual([]);
  });
});
