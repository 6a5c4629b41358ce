import { expectFunction, expectObject } from '../../base/expect.ts';
import type { Middleware, Payee } from '../../contracts/language-model.ts';

/**
 * Wraps a model in middleware. The first is outermost: it sees a call first, and the answer last.
 *
 * The recommended order: `withRecording`, `withCache`, `withRetry`, `withLimit`, `withTelemetry`.
 *
 * - The recording is outermost, like the journal of a search: it has what the caller asked for and received.
 * - The cache comes before anything that takes time: cached answers neither wait nor count.
 * - The retry is outside the limit: a call waiting for its next attempt takes no slot, and every attempt counts as a
 *   request. The limit then also sees every “too many requests”.
 * - Telemetry is innermost: one span is one request, without waiting time.
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
  for (const wrap of middleware) expectFunction('middleware', wrap);
  return middleware.reduceRight((next, wrap) => wrap(next), model);
}
