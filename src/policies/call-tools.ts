import { expectOptions } from '../base/expect-options.ts';
import type { Policy } from '../contracts/policy.ts';
import { fromModel } from './from-model/from-model.ts';
import type { SamplingOptions } from './from-model/settings.ts';

/**
 * A policy that asks a language model for calls of the environment's tools: {@link fromModel} with enough tokens for a
 * call, and one repair, in which the model gets the error as the result of its call.
 *
 * A model that supports tools is offered those of the notation; other models get them in the prompt, and answer in
 * JSON. Both yield the same actions.
 */
export function callTools<State = any, Action = any>(
  options: SamplingOptions<State, Action>,
): Policy<State, Action> {
  expectOptions(
    'callTools',
    options,
    'model samples repairs maxTokens temperature topP stop seed promptParts',
  );
  return fromModel<State, Action>({ samples: 4, repairs: 1, maxTokens: 512, ...options });
}
