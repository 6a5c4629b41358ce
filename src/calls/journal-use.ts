import type { EspalierError } from '../base/errors.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { type Journal, journalName } from './journal.ts';
import type { JournalLine } from './journal-lines.ts';

/** The journal of a running search. If it becomes unusable, the search ends. */
export class JournalUse {
  readonly #journal: Journal;
  readonly #signal: AbortSignal;
  #error: EspalierError | undefined;

  constructor(journal: Journal, signal: AbortSignal) {
    this.#journal = journal;
    this.#signal = signal;
  }

  /** Whether nothing may be added. */
  get isReplay(): boolean {
    return this.#journal.mode === 'replay';
  }

  /** The storage error that must end the search. */
  get error(): EspalierError | undefined {
    return this.#error;
  }

  /** Writes a line, unless the search has been aborted. @throws EspalierError `storage` */
  write(line: JournalLine): void {
    if (!this.#signal.aborted) this.with((journal) => journal.append(line));
  }

  /** Writes a line if possible; if not, no further call is made. */
  tryToWrite(line: JournalLine): void {
    try {
      this.write(line);
    } catch {
      // The error is kept.
    }
  }

  /** @throws EspalierError `storage`, and keeps it, because the search must end. */
  with<Value>(use: (journal: Journal) => Value): Value {
    try {
      return withStorageErrors(journalName(this.#journal), () => use(this.#journal));
    } catch (error) {
      this.#error ??= error as EspalierError;
      throw error;
    }
  }
}
