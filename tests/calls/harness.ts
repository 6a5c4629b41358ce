import { seededRandom } from '../../src/base/random.ts';
import { CallGate } from '../../src/calls/call-gate.ts';
import type { CallReport } from '../../src/calls/call-in-flight.ts';
import type { CallRequest } from '../../src/calls/call-request.ts';
import { Calls } from '../../src/calls/calls.ts';
import { contextFrom } from '../../src/calls/door.ts';
import { type Journal, memoryJournal } from '../../src/calls/journal.ts';
import { Ledger } from '../../src/calls/ledger.ts';
import type { PriceTable } from '../../src/calls/prices.ts';
import { type Order, Sequencer } from '../../src/calls/sequencer.ts';
import type { Clock } from '../../src/contracts/clock.ts';
import type { CallContext } from '../../src/contracts/context.ts';
import type { JsonValue } from '../../src/contracts/json.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
  ModelWarning,
} from '../../src/contracts/language-model.ts';
import type { Budget } from '../../src/contracts/spend.ts';

/** A clock that stands until it is set. */
export interface StandingClock extends Clock {
  time: number;
}

/** A clock at 0. */
export function standingClock(): StandingClock {
  const clock: StandingClock = {
    time: 0,
    now: () => clock.time,
    sleep: () => Promise.resolve(),
  };
  return clock;
}

/** A promise and its two ends. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** A promise to be settled from outside. */
export function deferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** What {@link openGate} is opened with. */
export interface GateOptions {
  readonly journal?: Journal;
  readonly order?: Order;
  readonly budget?: Budget;
  readonly prices?: PriceTable;
  readonly before?: CallGate;
  readonly deadlineAhead?: () => boolean;
  readonly expire?: () => void;
  readonly limit?: number;
}

/** A gate and all that is around it in a search. */
export interface Harness {
  readonly journal: ReturnType<typeof memoryJournal>;
  readonly controller: AbortController;
  readonly sequencer: Sequencer;
  readonly ledger: Ledger;
  readonly gate: CallGate;
  readonly calls: CallContext;
  readonly reports: readonly CallReport[];
  readonly warnings: readonly ModelWarning[];
}

/** Puts a gate together as a search does. */
export function openGate(options: GateOptions = {}): Harness {
  const { journal = memoryJournal(), order = 'arrival', budget = {}, prices = {} } = options;
  const clock = standingClock();
  const controller = new AbortController();
  const sequencer = new Sequencer(order);
  const ledger = new Ledger({ budget, clock });
  const reports: CallReport[] = [];
  const warnings: ModelWarning[] = [];
  const gate = new CallGate({
    sequencer,
    journal,
    clock,
    signal: controller.signal,
    onCall: (report) => reports.push(report),
    onWarning: (warning) => warnings.push(warning),
    deadlineAhead: options.deadlineAhead ?? (() => false),
    expire: options.expire ?? (() => {}),
    before: options.before,
    limit: options.limit,
  });
  gate.ledger = ledger;
  const engine = new Calls(gate, { prices, ledger });
  const { signal } = controller;
  const call: CallContext['call'] = (operation, request) => engine.call(operation, request);
  const calls = contextFrom({ signal, clock, random: seededRandom('tests'), call });
  return {
    journal: journal as Harness['journal'],
    controller,
    sequencer,
    ledger,
    gate,
    calls,
    reports,
    warnings,
  };
}

/** An effect of one call that answers with `output`, or as `run` says. */
export function effectCall(
  ledger: Ledger,
  name: string,
  run: (call: ModelCall) => Promise<JsonValue> = () => Promise.resolve(name),
): CallRequest {
  const spend = { calls: 1, tokens: 0, usd: 0 };
  return {
    kind: 'effect',
    name,
    request: null,
    reserve: spend,
    repeatable: false,
    ledger,
    run: async (call) => ({ output: await run(call), spend }),
  };
}

/** A model that remembers what it was asked for. */
export interface RecordingModel extends LanguageModel {
  readonly requests: GenerateRequest[];
}

/**
 * A model whose sample i is the text 's<i>', at 10 tokens in and 5 out a completion; `answer` may say
 * otherwise.
 */
export function recordingModel(
  options: {
    readonly n?: boolean;
    readonly answer?: (request: GenerateRequest, call: ModelCall) => Promise<Generation>;
  } = {},
): RecordingModel {
  const requests: GenerateRequest[] = [];
  return {
    provider: 'test',
    modelId: 'recording',
    capabilities: { n: options.n ?? false },
    requests,
    generate(request, call) {
      requests.push(request);
      return options.answer?.(request, call) ?? Promise.resolve(samplesOf(request));
    },
  };
}

/** The samples that were asked for, and their usage. */
export function samplesOf({ samples = 1, offset = 0 }: GenerateRequest): Generation {
  return {
    completions: Array.from({ length: samples }, (_, place) => ({ text: `s${offset + place}` })),
    usage: { inputTokens: 10, outputTokens: 5 * samples },
  };
}

/** The texts of a generation. */
export function textsOf({ completions }: Generation): readonly string[] {
  return completions.map(({ text }) => text);
}

/** What a request is worth: which samples. */
export function rangesOf({ requests }: RecordingModel): readonly (readonly [number, number])[] {
  return requests.map(({ offset = 0, samples = 1 }) => [offset, samples]);
}
