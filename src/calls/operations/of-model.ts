import { expectMethods } from '../../base/expect.ts';
import { modelName } from '../../base/model-name.ts';
import type { Payee } from '../../contracts/language-model.ts';
import type { Answer, ModelOperation } from './model-operation.ts';

/** The common part of calls of all models. Throws if a model has no method for this kind of call. */
export function ofModel(
  kind: string,
  model: Payee,
): Pick<ModelOperation<unknown, Answer>, 'kind' | 'name' | 'payee' | 'repeatable' | 'usage'> {
  expectMethods('model', model, [kind]);
  const name = modelName(model);
  return { kind, name, payee: model, repeatable: true, usage: (_, { usage }) => usage };
}
