import { randomUUID } from 'node:crypto';
import { canonicalJson, contentAddress } from '../base/canonical-json.ts';
import { systemClock } from '../base/clock.ts';
import { EspalierError, ModelCallError } from '../base/errors.ts';
import { expectMethods, expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type {
  BatchAnswer,
  Batches,
  BatchReply,
  BatchRequest,
  BatchService,
} from '../contracts/batch.ts';
import type { Clock } from '../contracts/clock.ts';
import { BatchLog, type LoggedBatch } from './batch-log.ts';

/** Options of batches. */
export interface BatchOptions {
  /**
   * The deadline of a batch, in milliseconds, from 0 up. Requests not answered by then are withdrawn and sent on their
   * own, at the full price; with 0, this applies to all.
   *
   * @defaultValue 86 400 000 (24 hours), the limit of providers
   */
  readonly deadlineMs?: number;
  /**
   * How long to wait after the last request before a batch is submitted, in milliseconds, from 0 up.
   *
   * @defaultValue 1000
   */
  readonly lingerMs?: number;
  /**
   * How long to wait for a batch with an unconfirmed submission to appear in the provider's list, in milliseconds, from
   * 0 up.
   *
   * @defaultValue 30 000
   */
  readonly settleMs?: number;
  /** The clock. @defaultValue the system's */
  readonly clock?: Clock;
}

/** Requests waiting in batches. */
export interface BatchProgress {
  /** The number of requests waiting for answers. */
  readonly requests: number;
  /** The number of batches. */
  readonly batches: number;
}

/** A batch and its results. */
interface Flight {
  readonly logged: LoggedBatch;
  /** The results of its requests by name; `undefined` if it was never submitted. */
  answers?: Promise<ReadonlyMap<string, BatchAnswer> | undefined>;
}

/** A request that is about to be submitted. */
interface Waiting {
  readonly item: string;
  readonly request: BatchRequest;
  readonly signal: AbortSignal;
  readonly take: (flight: Flight) => void;
  readonly fail: (reason: unknown) => void;
}

interface Queue {
  readonly waiting: Waiting[];
  askedAt: number;
}

/** The maximum number of requests in a batch: their answers must fit into one reply. */
const mostItems = 500;

/** The maximum size of a batch's requests, in bytes. */
const mostBytes = 64 * 1024 * 1024;

/** How long a cancelled or expired batch may take to end, in milliseconds: providers say ten minutes. */
const endingMs = 3_600_000;

/** How long a provider may keep failing before it is given up, in milliseconds. */
const patienceMs = 600_000;

/**
 * Collects the requests of a run's searches and sends them in batches. Each submission is recorded before and after: a
 * repeated request that an earlier session has submitted waits for that batch, and is not paid for again.
 */
export class BatchDesk {
  readonly #log: BatchLog;
  readonly #options: Required<BatchOptions>;
  readonly #signal: AbortSignal;
  readonly #onChange: () => void;
  readonly #queues = new Map<string, Queue>();
  /** The batch that contains each request. */
  readonly #flights = new Map<string, Flight>();
  /** How often each request was made in this process: a second time means that its first answer was unusable. */
  readonly #asked = new Map<string, number>();
  readonly #underWay = new Map<Flight, number>();

  /**
   * @param path - The file that records batches.
   * @param signal - Aborts when the run is left: submitted batches stay at the provider.
   */
  constructor(
    path: string,
    options: BatchOptions,
    { signal, onChange }: { readonly signal: AbortSignal; readonly onChange: () => void },
  ) {
    this.#options = checkBatchOptions(options);
    this.#log = new BatchLog(path);
    this.#signal = signal;
    this.#onChange = onChange;
    for (const logged of this.#log.batches()) this.#keep({ logged });
  }

  get progress(): BatchProgress {
    const requests = [...this.#underWay.values()].reduce((sum, count) => sum + count, 0);
    return { requests, batches: this.#underWay.size };
  }

  /** Milliseconds since 1970, advancing with the clock: sessions must understand each other's times. */
  #now(): number {
    return Date.now() + this.#options.clock.now() - performance.now();
  }

  /** @param owner - Identifies a search among all searches of the run, across sessions. */
  of(owner: string): Batches {
    return {
      send: (request, { key, signal }, live) => {
        if (this.#options.deadlineMs === 0) return live();
        const asked = [owner, key, request.service.name, request.sample, request.body];
        const address = contentAddress(canonicalJson('request', asked));
        const before = this.#asked.get(address) ?? 0;
        this.#asked.set(address, before + 1);
        return this.#send({ item: `${address}#${before}`, request, signal }, live);
      },
    };
  }

  async #send(
    asked: Pick<Waiting, 'item' | 'request' | 'signal'>,
    live: () => Promise<BatchReply>,
  ): Promise<BatchReply> {
    const { item, request, signal } = asked;
    for (;;) {
      const flight = this.#flights.get(item) ?? (await this.#join(asked));
      flight.answers ??= this.#followed(flight, request.service);
      const answers = await this.#waitingIn(flight, () =>
        unlessAborted(flight.answers as NonNullable<Flight['answers']>, signal),
      );
      if (answers === undefined) continue;
      const answer = answers.get(nameOf(flight.logged, flight.logged.items.indexOf(item)));
      if (answer === undefined) return live();
      if ('failure' in answer) throw answer.failure;
      return answer.reply;
    }
  }

  async #waitingIn<Value>(flight: Flight, wait: () => Promise<Value>): Promise<Value> {
    const change = (by: number): void => {
      const count = (this.#underWay.get(flight) ?? 0) + by;
      if (count === 0) this.#underWay.delete(flight);
      else this.#underWay.set(flight, count);
      this.#onChange();
    };
    change(1);
    try {
      return await wait();
    } finally {
      change(-1);
    }
  }

  /** Waits until a batch includes a request. */
  #join(asked: Pick<Waiting, 'item' | 'request' | 'signal'>): Promise<Flight> {
    const { service } = asked.request;
    const { clock } = this.#options;
    const joined = new Promise<Flight>((take, fail) => {
      const there = this.#queues.get(service.name);
      const queue = there ?? { waiting: [], askedAt: 0 };
      this.#queues.set(service.name, queue);
      queue.waiting.push({ ...asked, take, fail });
      queue.askedAt = clock.now();
      if (there === undefined) void this.#gather(service, queue);
    });
    return unlessAborted(joined, asked.signal);
  }

  /** Submits the collected requests once no more arrive. */
  async #gather(service: BatchService, queue: Queue): Promise<void> {
    const { clock, lingerMs } = this.#options;
    try {
      for (;;) {
        const leftMs = queue.askedAt + lingerMs - clock.now();
        if (leftMs <= 0) break;
        await clock.sleep(leftMs, this.#signal);
      }
      this.#queues.delete(service.name);
      // Requests that were abandoned meanwhile are not submitted.
      const waiting = queue.waiting.filter(({ signal }) => !signal.aborted);
      for (const part of partsOf(waiting)) this.#begin(service, part);
    } catch (error) {
      this.#queues.delete(service.name);
      for (const { fail } of queue.waiting) fail(error);
    }
  }

  #begin(service: BatchService, waiting: readonly Waiting[]): void {
    const flight: Flight = {
      logged: {
        key: `espalier-${randomUUID().slice(0, 23)}`,
        service: service.name,
        at: this.#now(),
        items: waiting.map(({ item }) => item),
        samples: waiting.map(({ request }) => request.sample),
      },
    };
    this.#log.intend(flight.logged);
    this.#keep(flight);
    const bodies = waiting.map(({ request }) => request.body);
    flight.answers = this.#submitted(flight, service, bodies).then((id) =>
      this.#answered(flight, service, id),
    );
    // Every waiting request gets it.
    flight.answers.catch(() => {});
    for (const { take } of waiting) take(flight);
  }

  #keep(flight: Flight): void {
    for (const item of flight.logged.items) this.#flights.set(item, flight);
  }

  /** Forgets a batch that was not charged: its requests may be submitted in another one. */
  #drop({ logged }: Flight): void {
    this.#log.dropped(logged.key);
    for (const item of logged.items) this.#flights.delete(item);
  }

  /** Submits a batch until its submission is confirmed. */
  async #submitted(
    { logged }: Flight,
    service: BatchService,
    bodies: readonly object[],
  ): Promise<string> {
    return this.#patiently(`${service.name} accepted no batch`, async () => {
      try {
        const id = await service.submit(batchOf(logged), bodies, this.#signal);
        this.#log.submitted(logged.key, id);
        return id;
      } catch (error) {
        const isOpen = ModelCallError.isInstance(error) && mayBeThere(error);
        const found = isOpen ? await this.#found(logged, service) : undefined;
        if (found === undefined) throw error;
        return found;
      }
    });
  }

  /** Follows a batch of an earlier session. */
  async #followed(
    flight: Flight,
    service: BatchService,
  ): Promise<ReadonlyMap<string, BatchAnswer> | undefined> {
    const { logged } = flight;
    const id = logged.id ?? (await this.#found(logged, service));
    if (id !== undefined) return this.#answered(flight, service, id);
    this.#drop(flight);
    return undefined;
  }

  /** Finds the id of a batch whose submission was not confirmed. */
  async #found(logged: LoggedBatch, service: BatchService): Promise<string | undefined> {
    const { clock, settleMs } = this.#options;
    // Counted from now, because it is unknown when its submission ended.
    await clock.sleep(settleMs, this.#signal);
    for (let tries = 1; ; tries++) {
      const found = await this.#patiently(lists(service), () =>
        service.find(batchOf(logged), this.#signal),
      );
      if (found === undefined) return undefined;
      if (found !== 'later') {
        this.#log.submitted(logged.key, found.id);
        return found.id;
      }
      await clock.sleep(waitMs(tries), this.#signal);
    }
  }

  /** Waits until a batch has ended, or its deadline has passed. */
  async #answered(
    flight: Flight,
    service: BatchService,
    id: string,
  ): Promise<ReadonlyMap<string, BatchAnswer>> {
    const { clock, deadlineMs } = this.#options;
    const { at } = flight.logged;
    for (let looks = 1; ; looks++) {
      const state = await this.#patiently(lists(service), () => service.look(id, this.#signal));
      if (state === 'ended') break;
      if (state !== 'running') {
        this.#drop(flight);
        throw new EspalierError(
          'unavailable',
          `${service.name} refused the batch ${id} (${state.refused.replace(/\.$/, '')}). None of it is charged.`,
        );
      }
      const leftMs = at + deadlineMs - this.#now();
      if (leftMs <= -endingMs) {
        const message = `${service.name} was asked to end the batch ${id} an hour ago, but has not done so. Its answers are paid for: run again later, and the run continues with them.`;
        throw new EspalierError('unavailable', message);
      }
      if (leftMs <= 0) await this.#cancel(service, id);
      const pauseMs = waitMs(looks);
      await clock.sleep(leftMs <= 0 ? pauseMs : Math.min(pauseMs, leftMs), this.#signal);
    }
    return this.#patiently(lists(service), () => service.results(id, this.#signal));
  }

  /**
   * Requests the cancellation of a batch each time it is polled until it ends: it may have ended by itself, or may not
   * be ready to be cancelled.
   */
  async #cancel(service: BatchService, id: string): Promise<void> {
    try {
      await service.cancel(id, this.#signal);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!ModelCallError.isInstance(error)) throw error;
    }
  }

  /**
   * Asks a provider patiently: submitted work is not given up because a server is busy. @param failed - Describes the
   * failure.
   */
  async #patiently<Value>(failed: string, ask: () => Promise<Value>): Promise<Value> {
    const { clock } = this.#options;
    const since = clock.now();
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!ModelCallError.isInstance(error)) throw error;
        const pauseMs = Math.max(error.retryAfterMs ?? 0, waitMs(tries));
        const isLate = clock.now() + pauseMs - since > patienceMs;
        if (!error.retryable || isLate) throw given(failed, error);
        await clock.sleep(pauseMs, this.#signal);
      }
    }
  }
}

/** @throws EspalierError `usage` */
export function checkBatchOptions(options: BatchOptions): Required<BatchOptions> {
  expectOptions('batch', options, 'deadlineMs lingerMs settleMs clock');
  const { deadlineMs = 86_400_000, lingerMs = 1000 } = options;
  const { settleMs = 30_000, clock = systemClock } = options;
  for (const [name, ms] of Object.entries({ deadlineMs, lingerMs, settleMs })) {
    expectNumber(`batch.${name}`, ms, { min: 0 });
  }
  expectMethods('batch.clock', clock, ['now', 'sleep']);
  return { deadlineMs, lingerMs, settleMs, clock };
}

function batchOf({ key, at, items, ...logged }: LoggedBatch) {
  return { key, at, names: items.map((_, place) => nameOf({ key, items, ...logged }, place)) };
}

/** The name of a request in its batch. */
function nameOf({ key, samples }: Omit<LoggedBatch, 'at'>, place: number): string {
  return `${key}_${place}_s${samples[place] ?? 0}`;
}

/** Divides a submission into batches of sizes that providers accept. */
function* partsOf(waiting: readonly Waiting[]): Generator<readonly Waiting[]> {
  let part: Waiting[] = [];
  let bytes = 0;
  for (const each of waiting) {
    const size = Buffer.byteLength(JSON.stringify(each.request.body));
    if (part.length === mostItems || (part.length > 0 && bytes + size > mostBytes)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(each);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** Whether a batch may exist although its submission failed. */
function mayBeThere({ status, charged }: ModelCallError): boolean {
  return status === undefined ? charged : status >= 500 || status === 408;
}

/** The wait between polls: short at first, finally one minute. */
function waitMs(tries: number): number {
  return Math.min(200 * 1.25 ** (tries - 1), 60_000);
}

function lists({ name }: BatchService): string {
  return `${name} does not list its batches`;
}

/** The error if a provider is given up: each call fails without a charge, and is repeated when the run continues. */
function given(failed: string, { message, status }: ModelCallError): EspalierError {
  if (status === 404) {
    return new EspalierError(
      'unavailable',
      `${failed}: the batch or file no longer exists there, or there are no batches at its address (${message}). To send its requests again, and pay for them again, remove \`batches.jsonl\` from the run folder.`,
    );
  }
  return new EspalierError(
    'unavailable',
    `${failed}: ${message} Submitted batches stay there, and the run continues with them when it is started again.`,
  );
}
