/**
 * What every paid call needs around it: journals, budgets shared by searches, prices, middleware for models.
 *
 * @module
 */

export { BudgetPool, type PoolBudget } from './budget-pool.ts';
export type { CallReport } from './call-in-flight.ts';
export type { CallSpend } from './call-spend.ts';
export {
  type Journal,
  type JournalLines,
  type MemoryJournal,
  memoryJournal,
  replayed,
} from './journal.ts';
export {
  type JournalFile,
  type JournalFileOptions,
  openJournal,
  readJournal,
} from './journal-file.ts';
export {
  type AttemptLine,
  type CallLine,
  type ChargedLine,
  type DeadlineLine,
  type FailureLine,
  type GrantLine,
  type HeaderLine,
  type IntentLine,
  type JournalLine,
  type ParsedJournal,
  parseJournal,
  type ResultLine,
  type ResumeLine,
  type RetryLine,
  type ReuseLine,
  type RunIdentity,
  type StartLine,
} from './journal-lines.ts';
export type { Overdraft } from './ledger.ts';
export type { BreakerOptions } from './middleware/breaker.ts';
export { wrapModel } from './middleware/compose.ts';
export { type CacheOptions, type CacheStore, withCache } from './middleware/with-cache.ts';
export { type LimitOptions, withLimit } from './middleware/with-limit.ts';
export { type RecordingOptions, withRecording } from './middleware/with-recording.ts';
export { type RetryOptions, withRetry } from './middleware/with-retry.ts';
export {
  type TelemetryOptions,
  type TelemetrySpan,
  type TelemetrySpanOptions,
  type TelemetryTracer,
  withTelemetry,
} from './middleware/with-telemetry.ts';
export type { AnyMiddleware } from './middleware/wrap.ts';
export type { Attributes } from './operations/model-operation.ts';
export { defaultPrices, type PriceTable, pricesAsOf } from './prices.ts';
export type { Order } from './sequencer.ts';
