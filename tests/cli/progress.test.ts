import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { StatusLine } from '../../src/cli/output.ts';
import {
  describeProgress,
  describeSearchProgress,
  searchShownOn,
  timeLeft,
} from '../../src/cli/progress.ts';
import { generate, openRun } from '../../src/runs/index.ts';
import { emulator } from '../../src/testing/index.ts';
import { espalier, fileIn, temporaryFolder } from './espalier.ts';

const folder = temporaryFolder();
const terminal = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');
afterEach(() => {
  if (terminal === undefined) Reflect.deleteProperty(process.stderr, 'isTTY');
  else Object.defineProperty(process.stderr, 'isTTY', terminal);
});

/** What a command writes to a terminal beside its result. */
async function shown(...args: readonly string[]): Promise<string> {
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
  return (await espalier(...args)).stderr;
}

test('what takes long writes a line to a log every 30 seconds', () => {
  Object.defineProperty(process.stderr, 'isTTY', { value: undefined, configurable: true });
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const status = new StatusLine();
  for (let second = 0; second <= 75; second++) {
    now.mockReturnValue(second * 1_000);
    status.show(() => `${second} s`);
  }
  status.clear();
  const lines = write.mock.calls.map(([line]) => line);
  vi.restoreAllMocks();
  expect(lines).toEqual(['30 s\n', '60 s\n']);
});

test('what takes long tells a terminal how far it is, and takes the line away at the end', async () => {
  const run = join(folder, 'run');
  const out = join(folder, 'data');
  const free = ['--model', 'none', '--simulations', '60'];
  const problems = fileIn(folder, 'games.txt', '4 9 10 13\n2 4 6 7\n');
  const generate = ['generate', '--problems', problems, '--task', 'game24', ...free];
  const bench = ['bench', '--task', 'game24', '--limit', '1', '--model', 'none', '--budgets'];
  const seen = {
    search: await shown('search', '--task', 'game24', '--input', '4 9 10 13', ...free),
    generate: await shown(...generate, '--run', run, '--out', out),
    export: await shown('export', run, '--rule', 'agent-q', '--out', out),
    'check-dataset': await shown('check-dataset', out),
    bench: await shown(...bench, 'calls=5', '--out', join(folder, 'bench')),
  };
  expect(seen.search).toContain('0 simulations · 1 call · ');
  expect(seen.generate).toMatch(/0\/2 · 1 under way · .*0 calls/);
  expect(seen.export).toContain('Making rows of problem 1 of 2');
  expect(seen['check-dataset']).toContain('1 row read · 0 of 1 file');
  expect(seen.bench).toMatch(/0\/\d+ · 1 under way/);
  for (const text of Object.values(seen)) expect(text.endsWith('\r\u001b[K')).toBe(true);
});

test('parts of equal size tell the time left once one is done', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(4_000);
  const left = timeLeft(1_000);
  expect([left(0, 4), left(1, 4), left(4, 4)]).toEqual(['', ' · 9 s left', '']);
  now.mockRestore();
});

test('a dataset of several problems and files is made and checked with the time left', async () => {
  const run = join(folder, 'run-left');
  const out = join(folder, 'data-left');
  const free = ['--model', 'none', '--simulations', '60', '--task', 'game24'];
  const problems = fileIn(folder, 'left.txt', '4 9 10 13\n2 4 6 7\n');
  await espalier(
    'generate',
    '--problems',
    problems,
    ...free,
    '--run',
    run,
    '--out',
    `${out}-first`,
  );
  let time = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => {
    time += 1_000;
    return time;
  });
  const split = ['--split', 'train=0.5,test=0.5', '--exact-split'];
  const made = await shown('export', run, '--rule', 'math-shepherd', '--out', out, ...split);
  const checked = await shown('check-dataset', out);
  now.mockRestore();
  expect(made).toMatch(/Making rows of problem 2 of 2 · \d+ (s|min) left/);
  expect(checked).toMatch(/read · 1 of 2 files · \d+ (s|min) left/);
});

test('dollars charged are told from dollars bought where searches share answers', () => {
  const spend = { simulations: 1, nodes: 1, calls: 3, tokens: 9, usd: 0.124, ms: 5 };
  const progress = { total: 4, done: 1, failed: 0, running: 1, solved: 0, spend };
  const since = { first: progress, ms: 1 };
  expect(describeProgress(progress, since)).toMatch(/ · \$0\.12$/);
  const shared = { ...progress, bought: { usd: 0.031 } };
  expect(describeProgress(shared, since)).toContain(' · charged $0.12, bought $0.03');
});

test('a search shows its calls before its first simulation has ended', () => {
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const status = new StatusLine();
  const call = { spend: { calls: 1, tokens: 40, usd: 0.25 } };
  searchShownOn(status, { calls: 4 })({ type: 'call-end', call: call as never });
  status.clear();
  const written = write.mock.calls.join('');
  vi.restoreAllMocks();
  expect(written).toMatch(/0 simulations · 1 call · \$0\.2500 · \d/);
});

test('a run tells the time left where 80 columns end', () => {
  const spend = { simulations: 900, nodes: 9, calls: 1_234, tokens: 9, usd: 12.5, ms: 5 };
  const first = { total: 300, done: 0, failed: 0, running: 8, solved: 0, spend };
  const progress = { ...first, done: 150, failed: 3 };
  const line = describeProgress(progress, { first, ms: 600_000 });
  expect(line.slice(0, 79)).toContain('153/300 · 10 min left · ');
  expect(line.slice(0, 79)).toContain('15.3/min');
});

test('a run tells each second what it has spent while its problems are searched', async () => {
  const calls: number[] = [];
  let asked = 0;
  using run = openRun(join(folder, 'slow'));
  await generate<{ readonly id: string }, string, string>({
    run,
    problems: [{ id: 'a' }],
    plan: () => ({
      environment: {
        name: 'slow',
        reset: () => ({ state: '' }),
        step: (state, action) => ({ state: state + action }),
      },
      policy: async (_node, { context }) => {
        await context.effect('slow', asked++, () => setTimeout(400));
        return [{ action: `${asked}` }];
      },
      evaluator: () => 0.5,
      budget: { calls: 5 },
    }),
    onProgress: ({ spend }) => calls.push(spend.calls),
  });
  expect(calls.some((count) => count > 0 && count < 5)).toBe(true);
});

test('doctor says what it probes', async () => {
  const server = await emulator({ dialect: 'vllm', models: ['m'] });
  const text = await shown('doctor', '--model', `vllm:${server.url}#m`);
  await server.close();
  expect(text).toContain('Asking whether it answers');
  expect(text).toMatch(/Probed \d+ of \d+: /);
});

const best = { terminal: false, reward: undefined, value: 0.5, depth: 2 } as never;
const spend = { simulations: 8, nodes: 9, calls: 5, tokens: 100, usd: 0.5, ms: 10_000 };

test('a search tells what it spent, and how long the rest takes at that rate', () => {
  expect(describeSearchProgress({ best, spend }, { calls: 20, usd: 1 })).toBe(
    '8 simulations · 5 calls · $0.5000 · 10.0 s · at most 10 s left · best so far 0.500 after 2 steps',
  );
  // From a fiftieth of a budget nothing can be told.
  expect(describeSearchProgress({ best, spend }, { calls: 500 })).not.toContain('left');
});
