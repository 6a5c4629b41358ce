import type { CallContext } from '../spec/context.ts';
import type { LanguageModel } from '../spec/language-model.ts';

/**
 * The same context with other random numbers, in which each completion says who wrote it, where it does not
 * say so already.
 */
export function namingContext(context: CallContext, random: CallContext['random']): CallContext {
  return {
    random,
    signal: context.signal,
    clock: context.clock,
    async generate(model, request) {
      const generation = await context.generate(model, request);
      const name = nameOf(model);
      const completions = generation.completions.map((completion) => ({
        ...completion,
        model: completion.model ?? name,
      }));
      return { ...generation, completions };
    },
    score: (model, request) => context.score(model, request),
    decide: (model, request) => context.decide(model, request),
    embed: (model, texts) => context.embed(model, texts),
    effect: (effect, input, run) => context.effect(effect, input, run),
  };
}

function nameOf({ provider, modelId }: LanguageModel): string {
  return `${provider}:${modelId}`;
}
