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

/** The record written before a deed is done. */
export type DeedBegin = Omit<
  Extract<DeedLine, { readonly stage: 'begin' }>,
  'type' | 'deed' | 'stage'
>;

/** A deed as recorded in a journal. */
export interface Deed extends DeedBegin {
  /** Its number in the journal. */
  readonly deed: number;
  /** The stage according to its last line. */
  readonly stage: DeedLine['stage'];
  /** The output, if it was done. An interrupted deed has none, although it may have happened. */
  readonly output?: JsonValue | undefined;
  /** Why it was not done or not taken back, if that was recorded last. */
  readonly message?: string | undefined;
}

const logs = new WeakMap<Journal, DeedLog>();

/**
 * The effects of tools on the outside world. Each deed is recorded before it is done, so that after a crash it can be
 * taken back, or is known to have happened. The log writes to the journal directly, even after the search was aborted.
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

  /** The log of a journal, shared by all its writers in this process. */
  static of(journal: Journal): DeedLog {
    expectMethods('journal', journal, ['append']);
    const log = logs.get(journal) ?? new DeedLog(journal);
    logs.set(journal, log);
    return log;
  }

  /**
   * Locks out other processes and reads the journal. The log must be held while deeds are done.
   *
   * @returns a function that releases it.
   * @throws EspalierError `usage` for a replay, `locked`, `storage`, or `invalid-journal`.
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
   * Holds the log for one commit or recovery at a time, so that none mistakes another's unfinished deeds for leftovers
   * of a crash.
   *
   * @param signal - Gives up waiting for the turn; the promise then rejects with its reason.
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
        'A replayed journal cannot record anything, so no tool can change the outside world with it. Open it with `openJournal`.';
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
      const message = `${journalName(this.#journal)} has the end of deed ${line.deed} without its beginning. Restore it from a copy.`;
      throw new EspalierError('invalid-journal', message);
    }
    const output = line.stage === 'done' ? line.output : deed.output;
    const message = line.stage === 'failed' ? line.message : undefined;
    this.#deeds[line.deed] = { ...deed, stage: line.stage, output, message };
  }

  /** A journal without a search gets a header of its own, so that no search mistakes it for the journal of its run. */
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
   * Records that something is about to be done. Once it returns, the record survives the death of the process.
   *
   * @param begin - What is to be done, with the `id` of an earlier attempt if the tool must see the same run.
   */
  begin({ id = randomUUID(), ...begin }: Omit<DeedBegin, 'id'> & { readonly id?: string }): Deed {
    this.#beginJournal(begin.environment);
    const deed = this.#deeds.length;
    this.#write({ type: 'deed', deed, stage: 'begin', ...begin, id });
    return this.#deeds[deed] as Deed;
  }

  /** Records that it is done, with its output if that is known. */
  done({ deed }: Deed, output?: JsonValue): Deed {
    this.#write({ type: 'deed', deed, stage: 'done', output });
    return this.#deeds[deed] as Deed;
  }

  /** Records that it was not done, or not taken back. */
  failed({ deed }: Deed, message: string): void {
    this.#write({ type: 'deed', deed, stage: 'failed', message });
  }

  /** Records that it has been taken back. */
  undone({ deed }: Deed): void {
    this.#write({ type: 'deed', deed, stage: 'undone' });
  }
}
