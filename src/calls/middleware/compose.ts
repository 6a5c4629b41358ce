import { expectObject } from '../../base/expect.ts';
import type { Middleware, Payee } from '../../contracts/language-model.ts';

/**
 * A model with middleware around it. The first is outermost: it sees a call first, and the answer last.
 *
 * The order that does most: `withRecording`, `withCache`, `withRetry`, `withLimit`, `withTelemetry`.
 *
 * - The recording is outermost, as the journal of a search is: it holds what the caller asked and got.
 * - The cache comes before whatever costs time: what is known neither waits nor counts.
 * - The retry is outside the limit: while a call waits for its next attempt it takes nobody's place, and
 *   every attempt counts as a request. The limit then also sees every “too many requests”.
 * - Telemetry is innermost: one span is one request, without the time spent waiting for leave.
 *
 * @example
 * ```ts
 * const model = wrapModel(server, withCache(), withRetry(), withLimit({ concurrency: 8 }));
 * ```
 */
export function wrapModel<Model extends Payee>(
  model: Model,
  ...middleware: readonly Middleware<Model>[]
): Model {
  expectObject('model', model);
  return middleware.reduceRight((next, wrap) => wrap(next), model);
}
