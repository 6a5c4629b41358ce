import type { DecisionModel } from '../../contracts/decision-model.ts';
import type { EmbeddingModel } from '../../contracts/embedding-model.ts';
import type { LanguageModel, Middleware } from '../../contracts/language-model.ts';
import type { RewardModel } from '../../contracts/reward-model.ts';
import type { AnyModel } from './wrap.ts';

/**
 * A model with middleware around it. The first is outermost: it sees a call first, and the answer last.
 *
 * The order that does most: `withRecording`, `withCache`, `withRetry`, `withLimit`, `withTelemetry`.
 *
 * - The recording is outermost, as the journal of a search is: it holds what the caller asked and got.
 * - The cache comes before whatever costs time: what is known neither waits nor counts.
 * - The retry is outside the limit: while a call waits for its next attempt it takes nobody's place, and
 *   every attempt counts as a request. The limit then also hears of every “too many requests”.
 * - Telemetry is innermost: one span is one request, without the time spent waiting for leave.
 *
 * @example
 * ```ts
 * const model = wrapModel(server, withCache(), withRetry(), withLimit({ concurrency: 8 }));
 * ```
 */
export function wrapModel(
  model: LanguageModel,
  ...middleware: readonly Middleware[]
): LanguageModel;
/** A reward model with middleware around it. The first is outermost. */
export function wrapModel(
  model: RewardModel,
  ...middleware: readonly Middleware<RewardModel>[]
): RewardModel;
/** A decision model with middleware around it. The first is outermost. */
export function wrapModel(
  model: DecisionModel,
  ...middleware: readonly Middleware<DecisionModel>[]
): DecisionModel;
/** An embedding model with middleware around it. The first is outermost. */
export function wrapModel(
  model: EmbeddingModel,
  ...middleware: readonly Middleware<EmbeddingModel>[]
): EmbeddingModel;
export function wrapModel(
  model: AnyModel,
  ...middleware: readonly ((next: never) => AnyModel)[]
): AnyModel {
  return middleware.reduceRight((next, wrap) => wrap(next as never), model);
}
