import { modelName } from '../base/model-name.ts';
import { contextWith } from '../calls/context-with.ts';
import type { CallContext } from '../contracts/context.ts';

/**
 * The same context with other random numbers, in which each completion says who wrote it, where it does not
 * say so already.
 */
export function namingContext(context: CallContext, random: CallContext['random']): CallContext {
  return contextWith(context, {
    random,
    async generate(model, request) {
      const generation = await context.generate(model, request);
      const name = modelName(model);
      const completions = generation.completions.map((completion) => ({
        ...completion,
        model: completion.model ?? name,
      }));
      return { ...generation, completions };
    },
  });
}
