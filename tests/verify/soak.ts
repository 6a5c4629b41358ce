// Ten thousand calls against a server with random faults, 32 at a time, in many small searches of which some are
// abandoned: nothing is left unhandled, no socket or listener stays, the budget holds, and the ledger is never
// below what the server counts.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { parseArgs } from 'node:util';
import { EspalierError, type LanguageModel, seededRandom } from 'espalier';
import { openaiCompatible } from 'espalier/backends';
import { emulator, type Fault } from 'espalier/testing';
import { systemClock } from '../../src/base/clock.ts';
import { CallGate } from '../../src/calls/call-gate.ts';
import { Calls } from '../../src/calls/calls.ts';
import { memoryJournal } from '../../src/calls/journal.ts';
import { Ledger } from '../../src/calls/ledger.ts';
import { generate } from '../../src/calls/operations/generate.ts';
import { Sequencer } from '../../src/calls/sequencer.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '10000' },
    concurrency: { type: 'string', default: '32' },
    seed: { type: 'string', default: '0' },
  },
});
const total = Number(values.calls);
const concurrency = Number(values.concurrency);
const perSearch = concurrency * 4;

let unhandled = 0;
process.on('unhandledRejection', (reason) => {
  unhandled++;
  process.stdout.write(`Unhandled: ${String(reason)}\n`);
});

/** Faults after which a usage arrives all the same, sooner or later. */
const kind: readonly Fault[] = [
  'overloaded',
  'server-error',
  { kind: 'rate-limited', retryAfterMs: 5, as: 'milliseconds' },
  { kind: 'rejects-parameter', parameter: 'logit_bias' },
];
/** Faults that lose what was paid for, or its count. */
const cruel: readonly Fault[] = [
  ...kind,
  'ignores-n',
  'rejects-n',
  'reset',
  'reset-midway',
  'cut-json',
  'empty',
  'empty-body',
  'missing-usage',
  'invalid-utf8',
  'wrong-content-type',
  'wrong-language',
  'stall',
  'stall-midway',
  'context-overflow',
  'top-level-error',
  { kind: 'gigantic', bytes: 200_000 },
];

await soak({ title: 'kind faults, of which every usage arrives', faults: kind, timeoutMs: 10_000 });
await soak({
  title: 'half of the budget that this takes',
  faults: kind,
  timeoutMs: 10_000,
  tight: true,
});
await soak({
  title: 'cruel faults, and one search in ten abandoned',
  faults: cruel,
  timeoutMs: 400,
  aborts: true,
});
assert.equal(unhandled, 0, 'no rejection is left unhandled');
process.stdout.write('No rejection was left unhandled.\n');

interface Weather {
  readonly title: string;
  readonly faults: readonly Fault[];
  readonly timeoutMs: number;
  /** Whether one search in ten is abandoned in its middle. */
  readonly aborts?: boolean;
  /** Whether the budget is too small. */
  readonly tight?: boolean;
}

async function soak({ title, faults, timeoutMs, aborts = false, tight = false }: Weather) {
  const draws = seededRandom(`${values.seed} ${title}`);
  const server = await emulator({
    dialect: 'vllm',
    latencyMs: (index) => index % 7,
    // A third of the requests meets a fault.
    faults: () => (draws.next() < 1 / 3 ? faults[draws.integer(faults.length)] : undefined),
  });
  const model = openaiCompatible({
    baseUrl: `${server.url}/v1`,
    model: 'emulated',
    preset: 'vllm',
    timeoutMs,
    retry: { attempts: 3, baseMs: 1, maxMs: 10, breaker: false },
  });
  const limit = tight ? total * 20 : total * 2_000;
  const purse = new Ledger({ budget: { tokens: limit }, clock: systemClock });
  const tally: Tally = { answered: 0, failed: 0, abandoned: 0, refused: 0, listeners: 0 };
  const searches = Math.ceil(total / perSearch);
  const startedAt = performance.now();
  for (let number = 0; number < searches; number++) {
    const isAbandoned = aborts && number % 10 === 9;
    await searchOnce({ model, purse, tally }, { number, isAbandoned });
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await quiet(server.account);
  const { account } = server;
  const served = account.inputTokens + account.outputTokens;
  const { spend, overdraft } = purse;
  const sockets = await settledSockets(account);
  await server.close();
  const { answered, failed, abandoned, refused, listeners } = tally;
  process.stdout.write(
    [
      `${title}: ${searches * perSearch} calls in ${seconds.toFixed(1)} s, ${account.requests} requests`,
      `  ${answered} answered, ${failed} failed, ${refused} refused, ${abandoned} abandoned; ${account.aborted} connections left before their answer`,
      `  tokens: ${spend.tokens} in the ledger, ${served} served, ${limit} in the budget; overdraft ${overdraft.tokens}`,
      `  at most ${account.maxConcurrent} at once; ${account.inFlight} in flight and ${sockets} sockets open at the end; ${listeners} listeners at most\n`,
    ].join('\n'),
  );
  assert.ok(answered > 0, 'some calls are answered');
  assert.equal(
    refused > 0,
    tight,
    'calls are refused where the budget is too small, and nowhere else',
  );
  assert.ok(spend.tokens >= served, 'the ledger is never below what was served');
  // A call that was refused half way is charged as reserved.
  if (!aborts && !tight) assert.equal(spend.tokens, served, 'and equal where every usage arrived');
  assert.ok(spend.tokens <= limit && overdraft.tokens === 0, 'the budget holds');
  assert.equal(account.inFlight, 0, 'every abandoned call is closed');
  assert.ok(sockets <= concurrency, 'no more connections stay open than were needed at once');
  assert.ok(listeners <= 1, 'no listener stays');
}

/**
 * The connections that stay open. The server hears of one that was left a little later than who left it, and one that
 * took its place is idle for 4 s before it is closed.
 */
async function settledSockets(account: { readonly openSockets: number }): Promise<number> {
  const until = performance.now() + 6_000;
  while (account.openSockets > concurrency && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return account.openSockets;
}

interface Tally {
  answered: number;
  failed: number;
  abandoned: number;
  refused: number;
  /** The most listeners that a finished search left at its signal; its gate is one. */
  listeners: number;
}

interface Ground {
  readonly model: LanguageModel;
  readonly purse: Ledger;
  readonly tally: Tally;
}

/** So many calls through one gate, as a search makes them. */
async function searchOnce(
  { model, purse, tally }: Ground,
  { number, isAbandoned }: { readonly number: number; readonly isAbandoned: boolean },
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const gate = new CallGate({
    sequencer: new Sequencer('arrival'),
    journal: memoryJournal(),
    clock: systemClock,
    signal,
    onCall: () => {},
    onWarning: () => {},
    deadlineAhead: () => false,
  });
  const calls = new Calls(gate, { prices: {}, ledger: purse });
  const asking = generate(model);
  let next = 0;
  const work = async () => {
    while (next < perSearch) {
      const index = next++;
      if (isAbandoned && index === perSearch / 2) controller.abort(new Error('Enough.'));
      const content = `Question ${number}.${index}, if you please.`;
      const request = { messages: [{ role: 'user', content } as const], maxTokens: 32 };
      try {
        await calls.call(asking, { ...request, samples: 1 + (index % 3) });
        tally.answered++;
      } catch (error) {
        tally[whatBefell(error, signal)]++;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  tally.listeners = Math.max(tally.listeners, getEventListeners(signal, 'abort').length);
}

function whatBefell(error: unknown, { aborted }: AbortSignal): 'abandoned' | 'failed' | 'refused' {
  if (aborted) return 'abandoned';
  return EspalierError.isInstance(error) && error.code === 'budget' ? 'refused' : 'failed';
}

/** Until the server has noticed who has left. */
async function quiet(account: { readonly inFlight: number }): Promise<void> {
  for (let tries = 0; tries < 100 && account.inFlight > 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
