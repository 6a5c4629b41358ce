import type { Journal } from '../../src/calls/journal.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';
import { LineReader, sealLine } from '../../src/calls/journal-reader.ts';
import type { Random } from '../../src/index.ts';
import type { Witnessing } from '../support/witness.ts';

class Killed extends Error {}

/** A process, as far as it can be killed: before its n-th step, each line and each request being two. */
export class Life {
  #left: number;
  isDead = false;
  #die = (): void => {};
  readonly death: Promise<'killed'>;

  /** @param steps - How many steps it has; -1 for one that is never killed. */
  constructor(steps = -1) {
    this.#left = steps;
    this.death = new Promise((resolve) => {
      this.#die = () => resolve('killed');
    });
  }

  /** Whether the process is still there. */
  step(): boolean {
    if (!this.isDead && this.#left-- === 0) {
      this.isDead = true;
      this.#die();
    }
    return !this.isDead;
  }

  /** A way to the world outside, which ends with the process: what it asks later is never asked. */
  asking(ask: Witnessing): Witnessing {
    return async (asked) => {
      if (!this.step()) return never;
      const answer = await ask(asked);
      return this.step() ? answer : never;
    };
  }

  /** What comes of work, unless the process is killed before. */
  async live<Value>(work: () => Promise<Value>): Promise<'killed' | { readonly value: Value }> {
    const working = work();
    working.catch(() => {});
    const end = await Promise.race([this.death, working.then((value) => ({ value }))]);
    return this.isDead ? 'killed' : end;
  }
}

const never = new Promise<never>(() => {});

/** The bytes of a journal, which outlive processes. */
export class Disk {
  readonly #lines: string[] = [];
  #torn = '';

  /** The lines, as they are read. */
  read(): JournalLine[] {
    const reader = new LineReader();
    const lines = this.#lines.flatMap((line) => reader.read(Buffer.from(line)) ?? []);
    if (reader.readRest(Buffer.from(this.#torn)) !== undefined) {
      throw new Error('A line was read that had been cut off.');
    }
    this.#torn = '';
    return lines;
  }

  /** Opens the journal. Of a line in which the process is killed a part may stay. */
  journal(life: Life, random?: Random): Journal {
    const lines = this.read();
    const append = (line: JournalLine): void => {
      const text = sealLine(line);
      if (!life.step()) {
        if (this.#torn === '' && random?.integer(3) === 0) {
          this.#torn = text.slice(0, 1 + random.integer(text.length - 1));
        }
        throw new Killed();
      }
      this.#lines.push(text);
      lines.push(line);
      if (!life.step()) throw new Killed();
    };
    return { lines, mode: 'record', append };
  }
}
