import { EspalierError } from '../base/errors.ts';
import { describeValue } from '../base/expect.ts';
import { failureFrom } from '../base/failure.ts';
import { asNative, isThenable } from '../base/is-thenable.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { Ledger } from '../calls/ledger.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../contracts/evaluator.ts';
import type { Failed, Failure } from '../contracts/failure.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Spend } from '../contracts/spend.ts';
import { isOut } from '../tree/selection.ts';
import { failNode, withLost } from './failing.ts';
import { PluginContext } from './plugin-context.ts';
import type { Realisations } from './realisations.ts';
import type { SearchSession } from './session.ts';
import type { Trial } from './trial.ts';
import { failureToldAs, unfit } from './unfit.ts';

type Verdict = Evaluation | Failed;

/** Asks the evaluator for the values of nodes, and writes them into the tree. */
export class Evaluations<State, Action> {
  readonly #session: SearchSession<State, Action>;
  readonly #realisations: Realisations<State, Action>;
  readonly #underWay = new Map<SearchNode<State, Action>, Promise<void>>();
  readonly #simulating = new Map<SearchNode<State, Action>, Promise<void>>();
  readonly #trial: Trial;

  constructor(
    session: SearchSession<State, Action>,
    realisations: Realisations<State, Action>,
    trial: Trial,
  ) {
    this.#session = session;
    this.#realisations = realisations;
    this.#trial = trial;
  }

  /**
   * Evaluates the nodes that need it; with `again`, draws a further sample for each. Returns no promise if the
   * evaluator is synchronous.
   */
  evaluate(nodes: readonly SearchNode<State, Action>[], again: boolean): Promise<void> | undefined {
    const realising =
      this.#session.evaluator?.needs === 'proposed' ? undefined : this.#realisations.realise(nodes);
    if (realising !== undefined) return realising.then(() => this.evaluate(nodes, again));
    if (!again) return this.#evaluate(nodes);
    // Samples have indices: each is drawn after the previous one has arrived, together with others of the same index.
    const underWay = nodes.flatMap((node) => this.#underWay.get(node) ?? []);
    if (underWay.length > 0) return Promise.all(underWay).then(() => this.evaluate(nodes, again));
    const distinct = [...new Set(nodes)];
    const rounds = new Set(distinct.map((node) => this.#roundOf(node)));
    const asking = [...rounds].flatMap((round) => {
      const alike = distinct.filter((node) => this.#roundOf(node) === round);
      return this.#evaluate(alike, true) ?? [];
    });
    return asking.length === 0 ? undefined : Promise.all(asking).then(() => {});
  }

  /** The index of a node's next sample. A failed sample is not drawn again. */
  #roundOf(node: SearchNode<State, Action>): number {
    return node.failedEvaluations.reduce((sum, { count }) => sum + count, node.evaluations.length);
  }

  #evaluate(nodes: readonly SearchNode<State, Action>[], again = false): Promise<void> | undefined {
    const batch: SearchNode<State, Action>[] = [];
    let waiting: Promise<void>[] | undefined;
    for (const node of nodes.length > 1 ? new Set(nodes) : nodes) {
      const underWay = this.#underWay.get(node);
      if (underWay !== undefined) {
        waiting ??= [];
        waiting.push(underWay);
      } else if (needsEvaluation(node, again)) {
        batch.push(node);
      }
    }
    const asking = batch.length === 0 ? undefined : this.#ask(batch);
    if (asking !== undefined) {
      const tracked = asking.finally(() => {
        for (const node of batch) this.#underWay.delete(node);
      });
      for (const node of batch) this.#underWay.set(node, tracked);
      waiting ??= [];
      waiting.push(tracked);
    }
    return waiting === undefined ? undefined : Promise.all(waiting).then(() => {});
  }

  /**
   * The return of a simulation from a node, if the evaluator can give one and the node is not a rewarded end. It is
   * requested once per node and saved with the tree.
   */
  outcome(node: SearchNode<State, Action>): MaybePromise<number | undefined> {
    if (this.#session.evaluator?.simulate === undefined || !canBePlayed(node)) return undefined;
    const known = node.outcome?.value;
    if (known !== undefined) return known;
    const underWay = this.#simulating.get(node);
    const asking = underWay ?? this.#ask([node], 'simulate');
    if (asking === undefined) return node.outcome?.value;
    if (underWay === undefined) {
      const tracked = asking.finally(() => this.#simulating.delete(node));
      this.#simulating.set(node, tracked);
      return tracked.then(() => node.outcome?.value);
    }
    return underWay.then(() => node.outcome?.value);
  }

  #ask(
    batch: readonly SearchNode<State, Action>[],
    purpose: 'evaluate' | 'simulate' = 'evaluate',
  ): Promise<void> | undefined {
    const { runtime } = this.#session;
    const evaluator = this.#evaluator();
    const [first] = batch;
    // A node that was never evaluated is at its first sample.
    const isFurther = purpose === 'evaluate' && first?.rawValue !== undefined;
    const offset = isFurther ? this.#roundOf(first) : 0;
    const context = new PluginContext(runtime, purpose, {
      node: first?.id ?? 0,
      offset,
      round: offset,
    });
    const asked = { batch, purpose, context, offset };
    try {
      const request = new Request(context, this.#session, offset);
      const verdicts = asNative(evaluator[purpose]?.(batch, request) ?? []);
      if (verdicts instanceof Promise) {
        return verdicts
          .then((settled) => this.#apply(asked, settled))
          .catch((error: unknown) => this.#fail(asked, error));
      }
      this.#apply(asked, verdicts);
    } catch (error) {
      this.#fail(asked, error);
    }
    return undefined;
  }

  #fail(asked: Asked<State, Action>, error: unknown): void {
    asked.context.note(error);
    asked.context.throwIfInterrupted();
    const failure = failureFrom(error, 'call');
    for (const node of asked.batch) this.#lose(node, failure, asked);
    this.#trial.fail(failure);
  }

  /** A node without a value fails. A node that has a value keeps it, and the failure of the further sample is noted. */
  #lose(
    node: SearchNode<State, Action>,
    failure: Failure,
    { offset }: Pick<Asked<State, Action>, 'offset'>,
  ): void {
    if (offset === 0) {
      failNode(this.#session, node, failure);
      return;
    }
    const failedEvaluations = withLost(node.failedEvaluations, [failure]);
    this.#session.tree.noteFailures(node, { failedEvaluations });
  }

  #evaluator(): Evaluator<State, Action> {
    const { evaluator } = this.#session;
    if (evaluator === undefined) {
      throw new EspalierError(
        'usage',
        'Expected an evaluator, because the algorithm reached a state without a reward. In code, pass `evaluator: judge({ model })` or a function of a node; on the command line, `--value` or `--model`.',
      );
    }
    return evaluator;
  }

  #apply(asked: Asked<State, Action>, verdicts: readonly Verdict[]): void {
    const { batch, purpose, context } = asked;
    context.throwIfInterrupted();
    const { tree, emit } = this.#session;
    if (!Array.isArray(verdicts) || verdicts.length !== batch.length) {
      const got = describeValue(verdicts);
      const message = `Expected \`${purpose}\` to return an array of ${batch.length}, one evaluation for each node, got ${got}.`;
      for (const node of batch) this.#reject(node, { kind: 'invalid', message }, asked);
      return;
    }
    let index = 0;
    for (const node of batch) {
      const evaluation = verdictFrom(verdicts[index++]);
      if ('failure' in evaluation) {
        this.#reject(node, evaluation.failure, asked);
        continue;
      }
      this.#trial.pass();
      if (purpose === 'simulate') {
        tree.setOutcome(node, evaluation);
        continue;
      }
      tree.addEvaluation(node, evaluation);
      emit?.({ type: 'node-evaluated', node, evaluation });
    }
  }

  #reject(node: SearchNode<State, Action>, failure: Failure, asked: Asked<State, Action>): void {
    this.#lose(node, failure, asked);
    this.#trial.fail(failure);
  }
}

interface Asked<State, Action> {
  readonly batch: readonly SearchNode<State, Action>[];
  readonly purpose: 'evaluate' | 'simulate';
  readonly context: PluginContext;
  /** The number of evaluations that the nodes have. */
  readonly offset: number;
}

/** Whether a simulation can be played from a node: it has a state, and its outcome is not known already. */
function canBePlayed({ kind, status, terminal, reward }: SearchNode): boolean {
  if (kind === 'proposed' || isOut({ status })) return false;
  return !(terminal && reward !== undefined);
}

/** Whether a node needs an evaluation: rewarded ends, failed nodes and nodes that were set aside do not. */
function needsEvaluation(node: SearchNode, again: boolean): boolean {
  if (isOut(node)) return false;
  if (node.terminal && node.reward !== undefined) return false;
  return again || node.rawValue === undefined;
}

function verdictFrom(told: unknown): Verdict {
  try {
    return soundVerdict(told);
  } catch (error) {
    // A getter may throw anything.
    return { failure: failureFrom(error, 'invalid') };
  }
}

const fields: readonly string[] = [
  'value',
  'about',
  'raw',
  'parts',
  'rationale',
  'unscored',
] satisfies readonly (keyof Evaluation)[];

const rawFields: readonly string[] = ['score', 'range'] satisfies readonly (keyof NonNullable<
  Evaluation['raw']
>)[];

/** The sentence about a field that looks like a missing one. Others may be there: an evaluation may say more. */
function misspeltIn(
  told: object,
  known: readonly string[] = fields,
  prefix = '',
): string | undefined {
  for (const field in told) {
    if (known.includes(field)) continue;
    const meant = nearestName(field, known);
    if (meant === undefined || meant in told) continue;
    return `The evaluation has an unknown \`${prefix}${field}\`. Did you mean \`${prefix}${meant}\`?`;
  }
  return undefined;
}

/** A copy of a usable verdict: the evaluator may reuse its object. */
function soundVerdict(told: unknown): Verdict {
  if (typeof told !== 'object' || told === null || isThenable(told)) {
    return invalid(
      `Expected each evaluation to be an object with a \`value\`, got ${describeValue(told)}.`,
    );
  }
  if ('failure' in told) return { failure: failureToldAs('failure', told.failure) };
  const { raw } = told as Evaluation;
  const misspelt = misspeltIn(told) ?? misspeltIn(Object(raw), rawFields, 'raw.');
  if (misspelt !== undefined) return invalid(misspelt);
  const { value, about = 'state' } = told as Evaluation;
  if (!(Number.isFinite(value) && value >= 0 && value <= 1)) {
    return invalid(`Expected \`value\` to be a number from 0 to 1, got ${describeValue(value)}.`);
  }
  // Also for callers without types.
  if (about !== 'action' && (about as unknown) !== 'state') {
    return invalid(`Expected \`about\` to be 'action' or 'state', got ${describeValue(about)}.`);
  }
  const verdict: Evaluation = { ...told, value };
  const fault = unfit('evaluation', verdict);
  return fault === undefined ? verdict : { failure: fault };
}

function invalid(message: string): Failed {
  return { failure: { kind: 'invalid', message } };
}

/** The request given to the evaluator. The remaining budget is computed only when it is read. */
class Request<State, Action> implements EvaluateRequest<State, Action> {
  readonly context: PluginContext;
  readonly environment: Environment<State, Action>;
  readonly offset: number;
  readonly #ledger: Ledger;

  constructor(
    context: PluginContext,
    { environment, ledger }: Pick<SearchSession<State, Action>, 'environment' | 'ledger'>,
    offset: number,
  ) {
    this.context = context;
    this.offset = offset;
    this.environment = environment;
    this.#ledger = ledger;
  }

  get remaining(): Spend {
    return this.#ledger.remaining;
  }
}
