import type { JsonValue } from '../contracts/json.ts';
import type { GenerateRequest, LanguageModel } from '../contracts/language-model.ts';
import type { Provenance } from '../contracts/provenance.ts';
import { expectObject } from './expect.ts';
import { modelName } from './model-name.ts';

/** The provenance of several parts together; each stamp and each model once, in order. */
export function provenanceOf(...parts: readonly (Provenance | undefined)[]): Provenance {
  const stamps = [...new Set(parts.flatMap((part) => part?.stamps ?? []))];
  const needsNotation = [...new Set(parts.flatMap((part) => part?.needsNotation ?? []))];
  const prompts = Object.assign({}, ...parts.map((part) => part?.prompts)) as NonNullable<
    Provenance['prompts']
  >;
  const told = parts.flatMap((part) => part?.models ?? []);
  const models = [...new Map(told.map((model) => [JSON.stringify(model), model])).values()];
  return {
    ...(stamps.length > 0 && { stamps }),
    ...(needsNotation.length > 0 && { needsNotation }),
    ...(Object.keys(prompts).length > 0 && { prompts }),
    ...(models.length > 0 && { models }),
  };
}

/** The provenance of a part that calls a model. @param request - The settings common to all its requests. */
export function provenanceOfModel(
  model: Pick<LanguageModel, 'modelId' | 'provider' | 'settings'>,
  request: Partial<GenerateRequest> = {},
): Provenance {
  expectObject('model', model);
  expectObject('request', request);
  const { messages: _, schema: __, tools: ___, ...asked } = request;
  const settings = { ...model.settings, ...asked } as unknown as Readonly<
    Record<string, JsonValue>
  >;
  return { models: [{ model: modelName(model), settings }] };
}
