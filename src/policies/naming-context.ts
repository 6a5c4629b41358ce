import { contextWith } from '../calls/door.ts';
import type { CallContext } from '../contracts/context.ts';
import type { Generation } from '../contracts/language-model.ts';

/**
 * The same context with other random numbers, in which each completion says who wrote it, where it does not
 * say so already.
 */
export function namingContext(context: CallContext, random: CallContext['random']): CallContext {
  return contextWith(context, {
    random,
    async call(operation, request) {
      const result = await context.call(operation, request);
      if (operation.kind !== 'generate') return result;
      const generation = result as Generation;
      const completions = generation.completions.map((completion) => ({
        ...completion,
        model: completion.model ?? operation.name,
      }));
      return { ...result, completions };
    },
  });
}
