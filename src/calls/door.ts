import { bindTakenOut } from '../base/taken-out.ts';
import { toolsInWords } from '../base/tools-in-words.ts';
import type { Clock } from '../contracts/clock.ts';
import type { CallContext, Random } from '../contracts/context.ts';
import type { Operation } from '../contracts/operation.ts';
import { decide } from './operations/decide.ts';
import { effect } from './operations/effect.ts';
import { embed } from './operations/embed.ts';
import { generate } from './operations/generate.ts';
import { score } from './operations/score.ts';

/** The members that differ between contexts: calls of all kinds go through `call`. */
type Own = Pick<CallContext, 'call' | 'clock' | 'random' | 'signal'>;

const conveniences: Omit<CallContext, keyof Own> & ThisType<CallContext> = {
  async generate(model, request) {
    const operation = generate(model);
    // Before anything is read from it. This check throws synchronously.
    void operation.check?.(request);
    const isAble = model.capabilities.tools === true;
    return this.call(operation, isAble ? request : toolsInWords(request));
  },
  async score(model, request) {
    return this.call(score(model), request);
  },
  async decide(model, request) {
    return this.call(decide(model), request);
  },
  async embed(model, texts) {
    return (await this.call(embed(model), texts)).embeddings;
  },
  async effect(named, input, run) {
    return this.call(effect(named, run), input);
  },
};

/** The base class of call contexts: a subclass says how calls are made. */
export abstract class Door implements CallContext {
  declare readonly generate: CallContext['generate'];
  declare readonly score: CallContext['score'];
  declare readonly decide: CallContext['decide'];
  declare readonly embed: CallContext['embed'];
  declare readonly effect: CallContext['effect'];
  abstract readonly signal: AbortSignal;
  abstract readonly random: Random;
  abstract readonly clock: Clock;
  abstract call<Request, Result>(
    operation: Operation<Request, Result>,
    request: Request,
  ): Promise<Result>;

  static {
    Object.assign(Door.prototype, conveniences);
    bindTakenOut(Door.prototype, Object.keys(conveniences).join(' '));
  }
}

/** A call context as a plain object that may be copied. */
export function contextFrom(own: Own): CallContext {
  const context: CallContext = { ...own, ...conveniences };
  // In a copy with another `call`, these methods must use that one, so each looks it up on `this`.
  const taken = Object.entries(conveniences).map(([name, method]) => [
    name,
    function (this: CallContext | undefined, ...given: never) {
      return (method as (...given: never) => unknown).apply(this ?? context, given);
    },
  ]);
  return Object.assign(context, Object.fromEntries(taken));
}

/** A call context with other random numbers, or with another way of making calls. */
export function contextWith(context: CallContext, parts: Partial<Own>): CallContext {
  const { signal, random, clock } = context;
  // Contexts have private fields, so their methods must be called on them.
  const call: CallContext['call'] = (operation, request) => context.call(operation, request);
  return contextFrom({ signal, random, clock, call, ...parts });
}
