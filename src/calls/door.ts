import type { Clock } from '../contracts/clock.ts';
import type { CallContext, EffectName, Random } from '../contracts/context.ts';
import type { DecisionModel, DecisionRequest, Decisions } from '../contracts/decision-model.ts';
import type { Embedding, EmbeddingModel } from '../contracts/embedding-model.ts';
import type { JsonValue } from '../contracts/json.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
} from '../contracts/language-model.ts';
import type { Operation } from '../contracts/operation.ts';
import type { RewardModel, ScoreRequest, StepScores } from '../contracts/reward-model.ts';
import { decide } from './operations/decide.ts';
import { effect } from './operations/effect.ts';
import { embed } from './operations/embed.ts';
import { generate } from './operations/generate.ts';
import { score } from './operations/score.ts';

/** A call context: whoever extends it says how a call is made, and all kinds of calls go that way. */
export abstract class Door implements CallContext {
  abstract readonly signal: AbortSignal;
  abstract readonly random: Random;
  abstract readonly clock: Clock;

  abstract call<Request, Result>(
    operation: Operation<Request, Result>,
    request: Request,
  ): Promise<Result>;

  async generate(model: LanguageModel, request: GenerateRequest): Promise<Generation> {
    return this.call(generate(model), request);
  }

  async score(model: RewardModel, request: ScoreRequest): Promise<StepScores> {
    return this.call(score(model), request);
  }

  async decide(model: DecisionModel, request: DecisionRequest): Promise<Decisions> {
    return this.call(decide(model), request);
  }

  async embed(model: EmbeddingModel, texts: readonly string[]): Promise<readonly Embedding[]> {
    return (await this.call(embed(model), texts)).embeddings;
  }

  async effect<T>(
    named: EffectName,
    input: JsonValue,
    run: (call: ModelCall) => Promise<T>,
  ): Promise<T> {
    return this.call(effect(named, run), input);
  }
}

const {
  generate: text,
  score: scores,
  decide: decisions,
  embed: vectors,
  effect: deed,
} = Door.prototype;

/** What of a context is its own. */
type Own = Pick<CallContext, 'call' | 'clock' | 'random' | 'signal'>;

/** A call context as an object that may be copied. */
export function contextFrom({ signal, random, clock, call }: Own): CallContext {
  const methods = {
    generate: text,
    score: scores,
    decide: decisions,
    embed: vectors,
    effect: deed,
  };
  return { signal, random, clock, call, ...methods };
}

/** A call context with other random numbers, or one that makes calls in another way. */
export function contextWith(context: CallContext, parts: Partial<Own>): CallContext {
  const { signal, random, clock } = context;
  // Contexts have private fields: their methods are called on them.
  const call: CallContext['call'] = (operation, request) => context.call(operation, request);
  return contextFrom({ signal, random, clock, call, ...parts });
}
