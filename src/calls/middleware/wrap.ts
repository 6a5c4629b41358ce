import { expectObject } from '../../base/expect.ts';
import type { LanguageModel, ModelCall, Payee } from '../../contracts/language-model.ts';
import { askingMore } from '../asking-more.ts';
import { decide } from '../operations/decide.ts';
import { embed } from '../operations/embed.ts';
import { generate } from '../operations/generate.ts';
import type { Answer, ModelOperation } from '../operations/model-operation.ts';
import { score } from '../operations/score.ts';

/** A middleware for models of every kind. */
export type AnyMiddleware = <Model extends Payee>(next: Model) => Model;

/** A call of a model, of any kind. */
export interface Asked {
  readonly operation: ModelOperation<unknown, Answer>;
  readonly request: unknown;
}

/** Passes a call on, by default with the original request. */
export type Make = (call: ModelCall, request?: unknown) => Promise<Answer>;

/** Surrounds the calls of a model. */
export type Around = (asked: Asked, call: ModelCall, make: Make) => Promise<Answer>;

/**
 * The context of a call that others may wait for while they hold a part of the budget. Its further requests do not wait
 * until they give it back: they would wait for each other.
 */
export function withoutWaiting(call: ModelCall): ModelCall {
  return askingMore(call, () => ({ waits: false }));
}

/** Creates an operation of a model that has the method for it. */
type OperationOf = (model: Payee) => ModelOperation<unknown, Answer>;

/** The kinds of calls that models answer, by the method that a model has for each. */
const kinds = Object.entries({ generate, score, decide, embed }) as unknown as readonly (readonly [
  method: string,
  operationOf: OperationOf,
])[];

/** A middleware that treats calls of every kind alike. `surround` is called once per model. */
export function aroundCalls(surround: (next: Payee) => Around): AnyMiddleware {
  return (next) => {
    const around = surround(next);
    const methods = kinds
      .filter(([method]) => method in next)
      .map(([method, operationOf]) => [
        method,
        (request: unknown, call: ModelCall) => {
          const operation = operationOf(next);
          return around({ operation, request }, call, async (passed, part = request) => {
            const answer = await operation.run(part, passed);
            expectObject(`reply of ${operation.name}`, answer);
            return answer;
          });
        },
      ]);
    return inPlaceOf(next, { ...Object.fromEntries(methods), ...countOf(next) });
  };
}

/** Middleware does not change the length of a prompt. */
function countOf(model: Payee): Pick<LanguageModel, 'count'> {
  const { count } = model as LanguageModel;
  return count === undefined ? {} : { count: (request) => count.call(model, request) };
}

/**
 * A model with these methods replaced. All other members are read again each time, because a model may learn what it
 * supports only when it is called.
 */
function inPlaceOf<Model extends Payee>(model: Model, methods: object): Model {
  const described = kinds.flatMap(([method, operationOf]) =>
    method in model ? (operationOf(model).describedBy ?? []) : [],
  );
  const getters = ['provider', 'modelId', 'price', 'settings', ...described]
    .filter((name) => name in model || name === 'price')
    .map((name) => [name, { enumerable: true, get: () => Reflect.get(model, name) }]);
  return Object.defineProperties({ ...methods }, Object.fromEntries(getters)) as Model;
}
