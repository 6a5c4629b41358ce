import { expectObject } from '../../base/expect.ts';
import { modelName } from '../../base/model-name.ts';
import type { DecisionModel, DecisionRequest } from '../../contracts/decision-model.ts';
import type { EmbeddingModel } from '../../contracts/embedding-model.ts';
import type {
  GenerateRequest,
  LanguageModel,
  Middleware,
  ModelCall,
  ModelPrice,
  Usage,
} from '../../contracts/language-model.ts';
import type { RewardModel, ScoreRequest } from '../../contracts/reward-model.ts';
import type { CallSpend } from '../ledger.ts';
import {
  worstCase,
  worstCaseOfDecision,
  worstCaseOfReading,
  worstCaseOfScores,
} from '../pricing.ts';

/** A model of any kind. */
export type AnyModel = LanguageModel | RewardModel | DecisionModel | EmbeddingModel;

/** A middleware for models of every kind. */
export type AnyMiddleware = Middleware &
  Middleware<RewardModel> &
  Middleware<DecisionModel> &
  Middleware<EmbeddingModel>;

/** What a model is asked, whatever its kind. */
export type Asked =
  | { readonly kind: 'generate'; readonly request: GenerateRequest }
  | { readonly kind: 'score'; readonly request: ScoreRequest }
  | { readonly kind: 'decide'; readonly request: DecisionRequest }
  | { readonly kind: 'embed'; readonly request: readonly string[] };

/** What all answers have in common. */
export interface Answer {
  readonly usage?: Usage;
}

/** Stands around the calls of a model: `make` hands a call on. */
export type Around = <Given extends Answer>(
  asked: Asked,
  call: ModelCall,
  make: (call: ModelCall) => Promise<Given>,
) => Promise<Given>;

/** A middleware that treats calls of every kind alike. `surround` is called once a model. */
export function aroundCalls(surround: (next: AnyModel) => Around): AnyMiddleware {
  const wrap = (next: AnyModel): AnyModel => {
    const surrounding = surround(next);
    const around: Around = (asked, call, make) =>
      surrounding(asked, call, async (passed) => {
        const answer = await make(passed);
        expectObject(`reply of ${modelName(next)}`, answer);
        return answer;
      });
    return inPlaceOf(next, {
      ...('generate' in next && {
        generate: (request, call) =>
          around({ kind: 'generate', request }, call, (passed) => next.generate(request, passed)),
      }),
      ...('score' in next && {
        score: (request, call) =>
          around({ kind: 'score', request }, call, (passed) => next.score(request, passed)),
      }),
      ...('decide' in next && {
        decide: (request, call) =>
          around({ kind: 'decide', request }, call, (passed) => next.decide(request, passed)),
      }),
      ...('embed' in next && {
        embed: (request, call) =>
          around({ kind: 'embed', request }, call, (passed) => next.embed(request, passed)),
      }),
    });
  };
  return wrap as AnyMiddleware;
}

type Methods = Partial<
  Pick<LanguageModel, 'generate'> &
    Pick<RewardModel, 'score'> &
    Pick<DecisionModel, 'decide'> &
    Pick<EmbeddingModel, 'embed'>
>;

/**
 * A model with these methods that is otherwise another one, read anew each time: a model may learn what it
 * honours only as it is called.
 */
export function inPlaceOf<Model extends AnyModel>(model: Model, methods: Methods): Model {
  const described = descriptions.filter((name) => name in model || name === 'price');
  const getters = described.map((name) => [
    name,
    { enumerable: true, get: () => Reflect.get(model, name) },
  ]);
  return Object.defineProperties({ ...methods }, Object.fromEntries(getters)) as Model;
}

/** What a model tells of itself; `price` also where it learns it later. */
const descriptions = [
  'settings',
  'provider',
  'modelId',
  'price',
  'capabilities',
  'scores',
  'incremental',
  'range',
];

/** The most that a call may cost. */
export function worstCaseOf(asked: Asked, price: ModelPrice | undefined): CallSpend {
  switch (asked.kind) {
    case 'generate':
      return worstCase(asked.request, asked.request.samples ?? 1, price);
    case 'score':
      return worstCaseOfScores(asked.request, price);
    case 'decide':
      return worstCaseOfDecision(asked.request, price);
    case 'embed':
      return worstCaseOfReading(asked.request, price);
  }
}
