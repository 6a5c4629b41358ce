import { randomUUID } from 'node:crypto';
import { EspalierError } from '../base/errors.ts';
import { expectMethods } from '../base/expect.ts';
import { frozen } from '../base/frozen.ts';
import { takeLock } from '../base/lock.ts';
import { settledOrLeft } from '../base/unless-aborted.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import type { JsonValue } from '../contracts/json.ts';
import { type Journal, journalName } from './journal.ts';
import { type JournalLine, journalVersion, type LineOf } from './journal-lines.ts';

type DeedLine = LineOf<'deed'>;

/** What is written down before a deed is done. */
export type DeedBegin = Omit<
  Extract<DeedLine, { readonly stage: 'begin' }>,
  'type' | 'deed' | 'stage'
>;

/** A deed as a journal tells it. */
export interface Deed extends DeedBegin {
  /** Its number in the journal. */
  readonly deed: number;
  /** What the last line about it says. */
  readonly stage: DeedLine['stage'];
  /** What came out, where it was done. A deed that was cut off has none, although it may have happened. */
  readonly output?: JsonValue | undefined;
  /** Why it was not done, or not taken back, where that was written down last. */
  readonly message?: string | undefined;
}

const logs = new WeakMap<Journal, DeedLog>();

/**
 * What tools do outside of a search: each deed is written down before it is done, so that it can be taken back, or is
 * known to have happened, after a crash too. It writes to the journal itself, also when the search was aborted.
 */
export class DeedLog {
  readonly #journal: Journal;
  #deeds: Deed[] = [];
  #holders = 0;
  #unlock = (): void => {};
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The log in a journal: one for all who write to it in this process. */
  static of(journal: Journal): DeedLog {
    expectMethods('journal', journal, ['append']);
    const log = logs.get(journal) ?? new DeedLog(journal);
    logs.set(journal, log);
    return log;
  }

  /**
   * Keeps other processes out and reads what the journal says. Whoever does deeds holds the log.
   *
   * @returns how to let go of it.
   * @throws EspalierError `usage` where it is a replay, `locked`, `storage`, or `invalid-journal`.
   */
  hold(): () => void {
    if (this.#holders === 0) this.#open();
    this.#holders += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#unlock();
    };
  }

  /**
   * Holds the log for one commit or recovery after the other: what one has under way, none has left behind.
   *
   * @param signal - Gives up the turn, as long as it has not come. Rejects with its reason then.
   */
  inTurn<Result>(signal: AbortSignal, run: () => Promise<Result>): Promise<Result> {
    return settledOrLeft(signal, ({ resolve, reject }) => {
      let isWaiting = true;
      const held = async (): Promise<void> => {
        if (signal.aborted) return;
        isWaiting = false;
        const release = this.hold();
        try {
          resolve(await run());
        } finally {
          release();
        }
      };
      this.#turn = this.#turn.then(held).catch(reject);
      return () => {
        if (isWaiting) reject(signal.reason);
      };
    });
  }

  #open(): void {
    const { mode, path } = this.#journal;
    if (mode === 'replay') {
      const message =
        'A journal that is replayed holds nothing new, so no tool can act on the outside with it. Open it with `openJournal`.';
      throw new EspalierError('usage', message);
    }
    this.#unlock = path === undefined ? () => {} : takeLock(`${path}.lock`);
    try {
      this.#read();
    } catch (error) {
      this.#unlock();
      throw error;
    }
  }

  #read(): void {
    this.#deeds = [];
    for (const line of this.#journal.lines) if (line.type === 'deed') this.#add(frozen(line));
  }

  #add({ type: _type, ...line }: DeedLine): void {
    if (line.stage === 'begin') {
      this.#deeds[line.deed] = line;
      return;
    }
    const deed = this.#deeds[line.deed];
    if (deed === undefined) {
      const message = `${journalName(this.#journal)} tells the end of deed ${line.deed}, and not its beginning. Restore it from a copy.`;
      throw new EspalierError('invalid-journal', message);
    }
    const output = line.stage === 'done' ? line.output : deed.output;
    const message = line.stage === 'failed' ? line.message : undefined;
    this.#deeds[line.deed] = { ...deed, stage: line.stage, output, message };
  }

  /** A journal of no search has a header of its own, so that no search takes it for the journal of its run. */
  #beginJournal(environment: string): void {
    if (this.#deeds.length > 0) return;
    for (const _line of this.#journal.lines) return;
    const run = { kind: 'deeds', environment };
    this.#append({ type: 'journal', version: journalVersion, run });
  }

  #append(line: JournalLine): void {
    withStorageErrors(journalName(this.#journal), () => this.#journal.append(line));
  }

  #write(told: DeedLine): void {
    const line = frozen(told);
    this.#append(line);
    this.#add(line);
  }

  /** All deeds of an environment, oldest first. */
  of(environment: string): readonly Deed[] {
    return this.#deeds.filter((deed) => deed.environment === environment);
  }

  /**
   * Writes down that something is about to be done. When it returns, a killed process cannot lose that.
   *
   * @param begin - What is to be done. Its `id` is that of an earlier attempt where it must be the same run to the tool.
   */
  begin({ id = randomUUID(), ...begin }: Omit<DeedBegin, 'id'> & { readonly id?: string }): Deed {
    this.#beginJournal(begin.environment);
    const deed = this.#deeds.length;
    this.#write({ type: 'deed', deed, stage: 'begin', ...begin, id });
    return this.#deeds[deed] as Deed;
  }

  /** Writes down that it is done, and what came out where that is known. */
  done({ deed }: Deed, output?: JsonValue): Deed {
    this.#write({ type: 'deed', deed, stage: 'done', output });
    return this.#deeds[deed] as Deed;
  }

  /** Writes down that it was not done, or not taken back, as it should have been. */
  failed({ deed }: Deed, message: string): void {
    this.#write({ type: 'deed', deed, stage: 'failed', message });
  }

  /** Writes down that it has been taken back. */
  undone({ deed }: Deed): void {
    this.#write({ type: 'deed', deed, stage: 'undone' });
  }
}
