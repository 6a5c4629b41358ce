import { contextWith } from '../runtime/context-with.ts';
import { nameOf } from '../runtime/middleware/wrap.ts';
import type { CallContext } from '../spec/context.ts';

/**
 * The same context with other random numbers, in which each completion says who wrote it, where it does not
 * say so already.
 */
export function namingContext(context: CallContext, random: CallContext['random']): CallContext {
  return contextWith(context, {
    random,
    async generate(model, request) {
      const generation = await context.generate(model, request);
      const name = nameOf(model);
      const completions = generation.completions.map((completion) => ({
        ...completion,
        model: completion.model ?? name,
      }));
      return { ...generation, completions };
    },
  });
}
