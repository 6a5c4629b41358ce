import { turn } from '#platform';
import { expectOptions } from '../base/expect-options.ts';
import type { Clock } from '../contracts/clock.ts';

/** A clock that only moves when told. */
export interface ManualClock extends Clock {
  /** The number of current sleepers. */
  readonly sleepers: number;
  /**
   * Advances the time by `ms` and wakes sleepers whose time comes, earliest first, each at its own time. Resolves when
   * everything they triggered has settled.
   */
  advance(ms: number): Promise<void>;
}

/** The event loop is at rest when nothing new has come up in this number of turns. */
const quietTurns = 4;

/** A clock for tests: exact, and independent of the machine. */
export function manualClock(
  options: {
    /**
     * Whether the clock advances automatically: whenever the event loop is idle, it jumps to the end of the next sleep.
     * Only sleeps take time then, so a search over a model with latency can be timed exactly on any machine. It does
     * not wait for real timers and sockets.
     *
     * @defaultValue false
     */
    readonly auto?: boolean;
    /** The time at the start, in milliseconds. @defaultValue 0 */
    readonly startAt?: number;
  } = {},
): ManualClock {
  expectOptions('manualClock', options, 'auto startAt');
  const { auto = false, startAt = 0 } = options;
  const sleepers = new Sleepers();
  let now = startAt;
  let isDriven = false;

  const wakeNext = (limit: number): boolean => {
    const next = sleepers.next;
    if (next === undefined || next > limit) return false;
    now = Math.max(now, next);
    sleepers.wake(now);
    return true;
  };
  const drive = async (): Promise<void> => {
    isDriven = true;
    do await rest(sleepers);
    while (wakeNext(Number.POSITIVE_INFINITY));
    isDriven = false;
  };

  return {
    now: () => now,
    get sleepers() {
      return sleepers.size;
    },
    sleep(ms, signal) {
      const sleeping = sleepers.add(now + Math.max(0, ms), signal);
      if (auto && !isDriven) void drive();
      return sleeping;
    },
    async advance(ms) {
      const end = now + ms;
      do await rest(sleepers);
      while (wakeNext(end));
      now = end;
    },
  };
}

/** The sleepers, ordered by when they wake. */
class Sleepers {
  /** The number of sleeps started. */
  added = 0;
  #sleepers: readonly { readonly until: number; readonly wake: () => void }[] = [];

  get size(): number {
    return this.#sleepers.length;
  }

  /** When the first of them wakes. */
  get next(): number | undefined {
    return this.#sleepers[0]?.until;
  }

  add(until: number, signal: AbortSignal | undefined): Promise<void> {
    this.added++;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const sleeper = {
        until,
        wake() {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      // The sort is stable: those that sleep until the same time wake in the order in which they fell asleep.
      this.#sleepers = [...this.#sleepers, sleeper].toSorted((a, b) => a.until - b.until);
    });
  }

  wake(now: number): void {
    const due = this.#sleepers.filter(({ until }) => until <= now);
    this.#sleepers = this.#sleepers.slice(due.length);
    for (const { wake } of due) wake();
  }
}

/**
 * The number of clocks that wait for rest. Each of them waits for the next turn, which does not count as work for the
 * others.
 */
let resting = 0;

/** Resolves when the event loop turns without anything new happening. */
async function rest(sleepers: Sleepers): Promise<void> {
  let added = sleepers.added;
  resting++;
  for (let quiet = 0; quiet < quietTurns; quiet++) {
    await turn();
    if (sleepers.added !== added || isBusy()) {
      added = sleepers.added;
      quiet = -1;
    }
  }
  resting--;
}

/** Whether anything but a clock waits for the next turn, or for a file. */
function isBusy(): boolean {
  let turns = 0;
  for (const resource of process.getActiveResourcesInfo()) {
    if (resource.startsWith('FSReq')) return true;
    if (resource === 'Immediate') turns++;
  }
  return turns > resting - 1;
}
