import { expectArray, expectNode, expectNodes, expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { ignoreRejection } from '../base/is-thenable.ts';
import { bindTakenOut } from '../base/taken-out.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Failure } from '../contracts/failure.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Proposal } from '../contracts/policy.ts';
import type { Spend } from '../contracts/spend.ts';
import type { Conclusion } from '../tree/conclusion.ts';
import type {
  ExpandOptions,
  SearchContext,
  SearchOptions,
  SearchResult,
  SimulateOptions,
  Simulation,
  SimulationOutcome,
} from './contracts.ts';
import { turnedAway } from './crowd.ts';
import { elected } from './election.ts';
import { Evaluations } from './evaluations.ts';
import { Expansions } from './expansions.ts';
import { Filling } from './filling.ts';
import { PluginContext } from './plugin-context.ts';
import { Realisations } from './realisations.ts';
import { runRound } from './round.ts';
import type { SearchSession } from './session.ts';
import type { Simulations } from './simulations.ts';
import { Trial } from './trial.ts';

/** The context that an algorithm works with: a thin facade over the parts that do the work. */
export class AlgorithmContext<State, Action>
  extends PluginContext
  implements SearchContext<State, Action>
{
  readonly #session: SearchSession<State, Action>;
  readonly #simulations: () => Simulations<State, Action>;
  readonly #realisations: Realisations<State, Action>;
  readonly #expansions: Expansions<State, Action>;
  readonly #evaluations: Evaluations<State, Action>;
  readonly #trials: { readonly policy: Trial; readonly evaluator: Trial };
  /** Draws further samples, if that was requested. */
  readonly #filling: Filling<State, Action> | undefined;
  /** The names of the methods whose effects are in flight. */
  readonly #inFlight = new Map<Promise<unknown>, string>();
  #isOver = false;
  /** The number of effects that needed no waiting since simulation `at` began. */
  #instant = { effects: 0, at: 0 };

  /**
   * @param simulations - Returns the current ones: a retry of failed calls starts new ones. @param fills - Whether to
   * draw further samples when nothing is left to search.
   */
  constructor(
    session: SearchSession<State, Action>,
    simulations: () => Simulations<State, Action>,
    fills: boolean,
  ) {
    super(session.runtime, 'algorithm');
    this.#session = session;
    this.#simulations = simulations;
    this.#realisations = new Realisations(session);
    const giveUp = (failure: Failure): void => simulations().end({ reason: 'failed', failure });
    this.#trials = {
      policy: new Trial('policy', giveUp),
      evaluator: new Trial('evaluator', giveUp),
    };
    const { policy, evaluator } = this.#trials;
    this.#expansions = new Expansions(session, this.#realisations, policy);
    this.#evaluations = new Evaluations(session, this.#realisations, evaluator);
    this.#filling = fills
      ? new Filling(session.tree, this.#expansions, () => this.stopped)
      : undefined;
  }

  /** The current signal: after a batch of simulations is given up, work that follows gets a new one. */
  override get signal(): AbortSignal {
    return this.#session.runtime.signal;
  }

  get environment(): Environment<State, Action> {
    return this.#session.environment;
  }

  get stopped(): boolean {
    return this.#simulations().stopped;
  }

  /**
   * Why no answer of the evaluator could be used, or why nothing grew because no policy answered; `undefined` if one
   * could be used or none was requested.
   */
  get unusable(): Failure | undefined {
    const { tree } = this.#session;
    const { policy, evaluator } = this.#trials;
    const failed = evaluator.failed ?? (tree.size === 1 ? policy.failed : undefined);
    // A few failed calls are no reason to hide what was found without them.
    return failed?.kind === 'call' && !this.stopped && tree.best !== tree.root ? undefined : failed;
  }

  /** Draws a further sample, if that was requested. Returns whether there was one to draw. */
  async fill(isOver: boolean): Promise<boolean> {
    return (await this.#filling?.draw(isOver)) === true;
  }

  /** Starts retrying failed calls. */
  tryAgain(): void {
    this.#trials.policy.restart();
    this.#trials.evaluator.restart();
  }

  get remaining(): Spend {
    return this.#session.ledger.remaining;
  }

  simulate(
    run: (simulation: Simulation<State, Action>) => Promise<SimulationOutcome>,
    options?: SimulateOptions,
  ): Promise<void> {
    return this.#simulations().run(this.#filling?.after(run) ?? run, options);
  }

  round(
    name: string,
    nodes: readonly SearchNode<State, Action>[],
    run: (
      node: SearchNode<State, Action>,
      simulation: Simulation<State, Action>,
    ) => Promise<unknown>,
  ): Promise<'done' | 'stopped'> {
    return runRound(this, { name, nodes, run });
  }

  expand(
    node: SearchNode<State, Action>,
    options?: ExpandOptions,
  ): Promise<readonly SearchNode<State, Action>[]> {
    return this.#settled('expand', () => {
      expectNode('node', node);
      return this.#expansions.expand(node, options);
    });
  }

  isExpanding(node: SearchNode<State, Action>): boolean {
    return this.#expansions.isUnderWay(node);
  }

  graft(
    node: SearchNode<State, Action>,
    proposals: readonly Proposal<Action>[],
  ): Promise<readonly SearchNode<State, Action>[]> {
    return this.#settled('graft', () => {
      expectNode('node', node);
      expectArray('proposals', proposals);
      return this.#expansions.graft(node, proposals);
    });
  }

  realise(nodes: readonly SearchNode<State, Action>[]): Promise<void> {
    return this.#settled('realise', () => {
      expectNodes(nodes);
      return this.#realisations.realise(nodes);
    });
  }

  evaluate(
    nodes: readonly SearchNode<State, Action>[],
    options?: { readonly again?: boolean },
  ): Promise<void> {
    return this.#settled('evaluate', () => {
      expectNodes(nodes);
      if (options !== undefined) expectOptions('context.evaluate', options, 'again');
      return this.#evaluations.evaluate(nodes, options?.again === true);
    });
  }

  outcome(node: SearchNode<State, Action>): MaybePromise<number | undefined> {
    expectNode('node', node);
    const outcome = this.#evaluations.outcome(node);
    return outcome instanceof Promise ? this.#settled('outcome', () => outcome) : outcome;
  }

  key(node: SearchNode<State, Action>): string | undefined {
    expectNode('node', node);
    return this.#realisations.key(node);
  }

  conclude(conclusion: Parameters<SearchContext<State, Action>['conclude']>[0]): void {
    expectObject('conclusion', conclusion);
    const isVote = 'votes' in conclusion;
    expectOptions('context.conclude', conclusion, isVote ? 'votes' : 'node optimal');
    const { tree, environment } = this.#session;
    if (!isVote) expectNode('conclusion.node', conclusion.node);
    const found = isVote
      ? (this.#awaited() ?? elected(tree, environment, conclusion.votes))
      : conclusion;
    if (found === undefined) return;
    tree.conclude(found);
    this.#simulations().end({ reason: 'solved' });
  }

  /** The solution that the caller waited for: it is the result, whatever the votes. */
  #awaited(): Conclusion<State, Action> | undefined {
    const { reason, isAsked = false } = this.#simulations().stop ?? {};
    const node = this.#session.tree.bestTerminal;
    if (reason !== 'solved' || !isAsked || node === undefined) return undefined;
    return { node, optimal: false };
  }

  advance(node: SearchNode<State, Action>): void {
    this.#session.tree.advance(node);
    this.#session.emit?.({ type: 'cursor-advanced', node });
  }

  search<S, A>(
    environment: Environment<S, A>,
    options: NoInfer<SearchOptions<S, A>> & { readonly share: number },
  ): Promise<SearchResult<S, A>> {
    return this.#settled('search', () => this.#session.nested(environment, options));
  }

  /** Ends the search as failed if an effect is still in flight: the algorithm, which has ended, has not awaited it. */
  failUnlessAwaited(algorithm: string): void {
    // A method that works through another one comes after it.
    const method = [...this.#inFlight.values()].at(-1);
    if (method === undefined || this.stopped) return;
    for (const promise of this.#inFlight.keys()) ignoreRejection(promise);
    const message = `The algorithm \`${algorithm}\` ended while its call of \`context.${method}\` was under way: put \`await\` before that call.`;
    this.#simulations().end({ reason: 'failed', failure: { kind: 'invalid', message } });
  }

  /** Nothing has to handle that the end of the search rejects what is in flight. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * Turns a synchronous exception into a rejection: otherwise a caller that waits for several promises would never await
   * the others.
   */
  #settled<T>(name: string, run: () => MaybePromise<T>): Promise<T> {
    try {
      const result = run();
      if (result instanceof Promise) return this.#followed(name, result);
      return this.#takesTurn() ? this.#behindTurn(result) : Promise.resolve(result);
    } catch (error) {
      return this.#followed(name, Promise.reject<T>(error));
    }
  }

  /** Whether the event loop is to get a turn: an algorithm that starts no simulation would never let a timer run. */
  #takesTurn(): boolean {
    const { simulations } = this.#session.tree;
    if (simulations !== this.#instant.at) this.#instant = { effects: 0, at: simulations };
    return ++this.#instant.effects % effectsPerTurn === 0;
  }

  async #behindTurn<T>(result: T): Promise<T> {
    await this.#simulations().turn();
    return result;
  }

  #followed<T>(name: string, effect: Promise<T>): Promise<T> {
    const ended = effect.finally(() => this.#inFlight.delete(ended));
    this.#inFlight.set(ended, name);
    // A simulation that does not await what it asks for need not handle that it is handed back.
    const hear = (reason: unknown) => {
      if (this.#isOver || reason === turnedAway) ignoreRejection(ended);
    };
    effect.catch(hear);
    return ended;
  }

  static {
    for (const name of ['generate', 'score', 'decide', 'embed', 'effect', 'call']) {
      Object.defineProperty(AlgorithmContext.prototype, name, {
        configurable: true,
        get(this: AlgorithmContext<unknown, unknown>) {
          const make = Reflect.get(PluginContext.prototype, name, this);
          return (...given: unknown[]) => this.#settled(name, () => make(...given));
        },
      });
    }
    bindTakenOut(
      AlgorithmContext.prototype,
      'simulate round expand isExpanding graft realise evaluate outcome key conclude advance search',
    );
  }
}

/** The number of effects without waiting, and without a new simulation, after which the event loop gets a turn. */
const effectsPerTurn = 256;
