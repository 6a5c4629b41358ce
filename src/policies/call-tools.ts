import { expectOptions } from '../base/expect-options.ts';
import type { Policy } from '../contracts/policy.ts';
import { fromModel } from './from-model/from-model.ts';
import type { SamplingOptions } from './from-model/settings.ts';

/**
 * A policy that asks a language model for calls of the environment's tools: {@link fromModel} with room for a call, and
 * with one repair, in which the model sees what is wrong with its call as the result of it.
 *
 * A model that takes tools is offered those of the notation; others are told of them, and answer in JSON. Both ways
 * lead to the same actions.
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
