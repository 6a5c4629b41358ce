import type { CallContext } from '../contracts/context.ts';

/**
 * A call context with some of its parts replaced. It passes the other calls on, one by one: contexts have private
 * fields, so that neither a copy nor a prototype would do.
 */
export function contextWith(context: CallContext, parts: Partial<CallContext>): CallContext {
  return {
    signal: context.signal,
    clock: context.clock,
    random: parts.random ?? context.random,
    generate: (model, request) => context.generate(model, request),
    score: (model, request) => context.score(model, request),
    decide: (model, request) => context.decide(model, request),
    embed: (model, texts) => context.embed(model, texts),
    effect: (effect, input, run) => context.effect(effect, input, run),
    ...parts,
  };
}
