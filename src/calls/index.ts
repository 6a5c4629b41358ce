/**
 * The infrastructure of paid calls: journals, shared budgets, prices, model middleware.
 *
 * @module espalier/calls
 */

export { BudgetPool } from './budget-pool.ts';
export type { CallReport } from './call-in-flight.ts';
export type { CallSpend } from './call-spend.ts';
export { type Journal, memoryJournal, replayed } from './journal.ts';
export { type JournalFile, openJournal, readJournal } from './journal-file.ts';
export type { JournalLine } from './journal-lines.ts';
export { wrapModel } from './middleware/compose.ts';
export { type CacheOptions, withCache } from './middleware/with-cache.ts';
export { type LimitOptions, withLimit } from './middleware/with-limit.ts';
export { withRecording } from './middleware/with-recording.ts';
export { type RetryOptions, withRetry } from './middleware/with-retry.ts';
export { type TelemetryOptions, withTelemetry } from './middleware/with-telemetry.ts';
export type { AnyMiddleware } from './middleware/wrap.ts';
export { defaultPrices, type PriceTable, pricesAsOf } from './prices.ts';
export type { Order } from './sequencer.ts';
