import type { Clock } from '../contracts/clock.ts';
import type { CallContext, EffectName, Random } from '../contracts/context.ts';
import type { DecisionModel, DecisionRequest, Decisions } from '../contracts/decision-model.ts';
import type { Embedding, EmbeddingModel } from '../contracts/embedding-model.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Failure } from '../contracts/failure.ts';
import type { JsonValue, MaybePromise } from '../contracts/json.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
} from '../contracts/language-model.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { RewardModel, ScoreRequest, StepScores } from '../contracts/reward-model.ts';
import type { Spend } from '../contracts/spend.ts';
import type {
  ExpandOptions,
  SearchContext,
  SearchOptions,
  SearchResult,
  SimulateOptions,
  Simulation,
  SimulationOutcome,
} from './contracts.ts';
import { Evaluations } from './evaluations.ts';
import { Expansions } from './expansions.ts';
import { PluginContext } from './plugin-context.ts';
import { Realisations } from './realisations.ts';
import type { SearchSession } from './session.ts';
import type { Simulations } from './simulations.ts';

/** The context that an algorithm works with: a thin face of the parts that do the work. */
export class AlgorithmContext<State, Action> implements SearchContext<State, Action> {
  readonly #session: SearchSession<State, Action>;
  readonly #simulations: () => Simulations<State, Action>;
  readonly #calls: CallContext;
  readonly #realisations: Realisations<State, Action>;
  readonly #expansions: Expansions<State, Action>;
  readonly #evaluations: Evaluations<State, Action>;

  /** @param simulations - Those of the moment: what failed before is searched again by others. */
  constructor(
    session: SearchSession<State, Action>,
    simulations: () => Simulations<State, Action>,
  ) {
    this.#session = session;
    this.#simulations = simulations;
    this.#calls = new PluginContext(session.runtime, 'algorithm');
    this.#realisations = new Realisations(session);
    this.#expansions = new Expansions(session, this.#realisations);
    this.#evaluations = new Evaluations(session, this.#realisations, (failure) =>
      simulations().end({ reason: 'failed', failure }),
    );
  }

  get signal(): AbortSignal {
    return this.#calls.signal;
  }

  get random(): Random {
    return this.#calls.random;
  }

  get clock(): Clock {
    return this.#calls.clock;
  }

  get environment(): Environment<State, Action> {
    return this.#session.environment;
  }

  get stopped(): boolean {
    return this.#simulations().stopped;
  }

  generate(model: LanguageModel, request: GenerateRequest): Promise<Generation> {
    return this.#calls.generate(model, request);
  }

  score(model: RewardModel, request: ScoreRequest): Promise<StepScores> {
    return this.#calls.score(model, request);
  }

  decide(model: DecisionModel, request: DecisionRequest): Promise<Decisions> {
    return this.#calls.decide(model, request);
  }

  embed(model: EmbeddingModel, texts: readonly string[]): Promise<readonly Embedding[]> {
    return this.#calls.embed(model, texts);
  }

  effect<T>(
    effect: EffectName,
    input: JsonValue,
    run: (call: ModelCall) => Promise<T>,
  ): Promise<T> {
    return this.#calls.effect(effect, input, run);
  }

  /** Why no answer of the evaluator could be used; `undefined` where one could, or none was asked for. */
  get unusable(): Failure | undefined {
    return this.#evaluations.unusable;
  }

  get remaining(): Spend {
    return this.#session.ledger.remaining;
  }

  simulate(
    run: (simulation: Simulation<State, Action>) => Promise<SimulationOutcome>,
    options?: SimulateOptions,
  ): Promise<void> {
    return this.#simulations().run(run, options);
  }

  expand(
    node: SearchNode<State, Action>,
    options?: ExpandOptions,
  ): Promise<readonly SearchNode<State, Action>[]> {
    return this.#expansions.expand(node, options);
  }

  realise(nodes: readonly SearchNode<State, Action>[]): Promise<void> {
    return this.#realisations.realise(nodes) ?? done;
  }

  evaluate(nodes: readonly SearchNode<State, Action>[]): Promise<void> {
    return this.#evaluations.evaluate(nodes) ?? done;
  }

  outcome(node: SearchNode<State, Action>): MaybePromise<number | undefined> {
    return this.#evaluations.outcome(node);
  }

  key(node: SearchNode<State, Action>): string | undefined {
    return this.#realisations.key(node);
  }

  advance(node: SearchNode<State, Action>): void {
    this.#session.tree.advance(node);
    this.#session.emit?.({ type: 'cursor-advanced', node });
  }

  search<S, A>(
    environment: Environment<S, A>,
    options: NoInfer<SearchOptions<S, A>> & { readonly share: number },
  ): Promise<SearchResult<S, A>> {
    return this.#session.nested(environment, options);
  }
}

const done: Promise<void> = Promise.resolve();
