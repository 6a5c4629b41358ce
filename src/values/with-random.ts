import type { CallContext, Random } from '../spec/context.ts';

/**
 * A call context with another source of random numbers. It passes calls on, one by one: contexts have
 * private fields, so that neither a copy nor a prototype would do.
 */
export function withRandom(context: CallContext, random: Random): CallContext {
  return {
    signal: context.signal,
    clock: context.clock,
    random,
    generate: (model, request) => context.generate(model, request),
    score: (model, request) => context.score(model, request),
    decide: (model, request) => context.decide(model, request),
    embed: (model, texts) => context.embed(model, texts),
    effect: (effect, input, run) => context.effect(effect, input, run),
  };
}
