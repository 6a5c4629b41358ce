/**
 * What every paid call needs around it: journals, prices, randomness, time.
 *
 * @module
 */

export type { CallReport } from './call-gate.ts';
export { systemClock } from './clock.ts';
export { isFailure } from './failure.ts';
export {
  type AttemptLine,
  type DeadlineLine,
  type FailureLine,
  type HeaderLine,
  type IntentLine,
  type Journal,
  type JournalLine,
  memoryJournal,
  type ParsedJournal,
  parseJournal,
  type ResultLine,
  type RunIdentity,
  replayed,
  type StartLine,
} from './journal.ts';
export {
  type JournalFile,
  type JournalFileOptions,
  openJournal,
  readJournal,
} from './journal-file.ts';
export type { CallSpend } from './ledger.ts';
export { defaultPrices, type PriceTable, pricesAsOf } from './prices.ts';
export { seededRandom } from './random.ts';
export type { Order } from './sequencer.ts';
