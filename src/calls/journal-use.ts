import type { EspalierError } from '../base/errors.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { type Journal, journalName } from './journal.ts';
import type { JournalLine } from './journal-lines.ts';

/** The journal of a running search: one that cannot be used any more ends it. */
export class JournalUse {
  readonly #journal: Journal;
  readonly #signal: AbortSignal;
  #error: EspalierError | undefined;

  constructor(journal: Journal, signal: AbortSignal) {
    this.#journal = journal;
    this.#signal = signal;
  }

  /** Whether nothing is to be added. */
  get isReplay(): boolean {
    return this.#journal.mode === 'replay';
  }

  /** Why nothing more can be written down: the search has to end. */
  get error(): EspalierError | undefined {
    return this.#error;
  }

  /** Writes a line down, unless the search has been aborted. @throws EspalierError `storage` */
  write(line: JournalLine): void {
    if (!this.#signal.aborted) this.with((journal) => journal.append(line));
  }

  /** Writes a line down if that is possible; if not, no call is made any more. */
  tryToWrite(line: JournalLine): void {
    try {
      this.write(line);
    } catch {
      // Remembered.
    }
  }

  /** @throws EspalierError `storage`, remembered: the search has to end. */
  with<Value>(use: (journal: Journal) => Value): Value {
    try {
      return withStorageErrors(journalName(this.#journal), () => use(this.#journal));
    } catch (error) {
      this.#error ??= error as EspalierError;
      throw error;
    }
  }
}
