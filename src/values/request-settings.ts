import { expectInteger, expectNumber } from '../base/expect.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { GenerateRequest, LanguageModel } from '../contracts/language-model.ts';

/** Settings for drawing answers. */
export interface Sampling {
  /** Their number. */
  readonly samples: number;
  /** The maximum tokens of each. */
  readonly maxTokens: number;
  /** The temperature, for models that take one. @defaultValue 0 for one sample, else 1 */
  readonly temperature?: number | undefined;
  /** The probability mass to sample from, for models that take a temperature. */
  readonly topP?: number | undefined;
  /** The schema of an answer, for models that support one. */
  readonly schema?: JsonValue | undefined;
  /** Whether log-probabilities are read. */
  readonly readsTokens?: boolean;
}

/** A request without its messages. */
export type RequestSettings = Omit<GenerateRequest, 'messages'>;

/** The settings of a request, as far as the model supports them. */
export function requestSettings(
  { capabilities }: LanguageModel,
  { samples, maxTokens, topP, schema, readsTokens = false, ...others }: Sampling,
): RequestSettings {
  const { temperature = samples === 1 ? 0 : 1 } = others;
  expectInteger('samples', samples, { min: 1 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  expectNumber('temperature', temperature, { min: 0 });
  if (topP !== undefined) expectNumber('topP', topP, { min: 0, max: 1 });
  return {
    samples,
    maxTokens,
    ...(capabilities.temperature === true && { temperature }),
    ...(capabilities.temperature === true && topP !== undefined && { topP }),
    ...(readsTokens && { logprobs: true, topLogprobs: 20 }),
    ...(capabilities.schema === true && schema !== undefined && { schema }),
  };
}
