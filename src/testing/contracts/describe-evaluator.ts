import assert from 'node:assert/strict';
import { turn } from '#platform';
import { EspalierError } from '../../base/errors.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { seededRandom } from '../../base/random.ts';
import { Calls } from '../../calls/calls.ts';
import { type Journal, memoryJournal, replayed } from '../../calls/journal.ts';
import { Ledger } from '../../calls/ledger.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Policy } from '../../contracts/policy.ts';
import type { Budget } from '../../contracts/spend.ts';
import { openOutside } from '../../search/outside.ts';
import { PluginContext } from '../../search/plugin-context.ts';
import { SearchTree } from '../../tree/tree.ts';
import { manualClock } from '../manual-clock.ts';
import { plainContext } from '../plain-context.ts';
import { type Subject, subjectOf, type TestRunner } from '../test-runner.ts';
import { sampleTree, turns, unlimited } from './sampling.ts';

/** Options of {@link describeEvaluator}. */
export interface EvaluatorClaims<State, Action> {
  /** Makes the evaluator. */
  readonly create: () => Evaluator<State, Action>;
  /** An environment whose states it values. */
  readonly environment: Environment<State, Action>;
  /** Proposes actions there, for random walks. */
  readonly policy: Policy<State, Action>;
  /** A state that it cannot value, which must fail alone. @defaultValue not tested */
  readonly unfit?: State;
  /**
   * The number of calls per node or, if nodes share calls, per batch. The nodes of a batch have different states.
   *
   * @defaultValue not tested
   */
  readonly calls?: number | ((nodes: readonly SearchNode<State, Action>[]) => number);
  /** The names of tests that do not apply, each with the reason in one sentence for the report. @defaultValue none */
  readonly exempt?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The contract of an `Evaluator` as tests: one value in [0, 1] per node, in order, the same in a batch, alone and from
 * a journal; failures affect only their node; reservations are spent or returned.
 *
 * @example
 * ```ts
 * describeEvaluator('heuristic', { create: () => heuristic(estimate), ...problem }, { describe, test });
 * ```
 */
export function describeEvaluator<State, Action>(
  name: string,
  claims: EvaluatorClaims<State, Action>,
  runner: TestRunner,
): void {
  // Problems of this package can be spread into the claims.
  const ofProblem = 'environment policy evaluator best value rewardModel';
  expectOptions('describeEvaluator', claims, `create unfit calls exempt ${ofProblem}`);
  const subject = subjectOf(claims, runner);
  subject.runner.describe(`evaluator ${name}`, () => {
    describeValues(subject);
    describeBatches(subject);
    describeFailures(subject);
    describeCalls(subject);
  });
}

type EvaluatorSubject<State, Action> = Subject<EvaluatorClaims<State, Action>>;

function describeValues<State, Action>({ claims, runner }: EvaluatorSubject<State, Action>): void {
  runner.test('gives values in [0, 1]', async () => {
    const verdicts = await evaluate(claims, await sampleNodes(claims));
    const values = verdicts.flatMap((verdict) => ('failure' in verdict ? [] : [verdict.value]));
    assert.ok(values.length > 0, 'no node could be valued');
    for (const value of values) assert.ok(value >= 0 && value <= 1, `got ${value}`);
  });

  runner.test('gives returns of simulations in [0, 1], where it has them', async () => {
    const nodes = (await sampleNodes(claims)).filter(goesOn);
    const context = plainContext({ random: seededRandom('values') });
    const { environment } = claims;
    const request = { environment, context, remaining: unlimited };
    const returns = await claims.create().simulate?.(nodes, request);
    if (returns === undefined) return;
    assert.equal(returns.length, nodes.length);
    for (const verdict of returns) {
      const value = 'failure' in verdict ? 0 : verdict.value;
      assert.ok(value >= 0 && value <= 1, `got ${value}`);
    }
  });

  runner.test('names the range of a score that it has mapped', async () => {
    for (const verdict of await evaluate(claims, await sampleNodes(claims))) {
      if ('failure' in verdict || verdict.raw === undefined) continue;
      const { score, range } = verdict.raw;
      assert.ok(range[0] < range[1] && score >= range[0] && score <= range[1]);
    }
  });

  runner.test('gives the same values for the same random numbers', async () => {
    const nodes = await sampleNodes(claims);
    assert.deepEqual(await evaluate(claims, nodes), await evaluate(claims, nodes));
  });

  runner.test('leaves the tree as it was', async () => {
    const nodes = await sampleNodes(claims);
    const before = nodes.map(lookOf);
    await evaluate(claims, nodes);
    assert.deepEqual(nodes.map(lookOf), before);
  });
}

function describeBatches<State, Action>({ claims, runner }: EvaluatorSubject<State, Action>): void {
  runner.test('gives one result a node', async () => {
    const nodes = await sampleNodes(claims);
    for (const count of [0, 1, 2, nodes.length]) {
      const verdicts = await evaluate(claims, nodes.slice(0, count));
      assert.equal(verdicts.length, Math.min(count, nodes.length));
    }
  });

  runner.test('gives in a batch what it gives one by one, in the order of the nodes', async () => {
    const nodes = await sampleNodes(claims);
    const alone: (Evaluation | Failed)[] = [];
    for (const node of nodes) alone.push(...(await evaluate(claims, [node])));
    assert.deepEqual(await evaluate(claims, nodes), alone);
    const reversed = await evaluate(claims, nodes.toReversed());
    assert.deepEqual(reversed.toReversed(), alone);
  });
}

function describeFailures<State, Action>({
  claims,
  runner,
}: EvaluatorSubject<State, Action>): void {
  const { unfit, environment } = claims;
  if (unfit !== undefined) {
    runner.test('lets what it cannot value fail alone', async () => {
      const nodes = await sampleNodes(claims);
      const origin = { environment: environment.name, seed: 0 };
      const { root: broken } = new SearchTree<State, Action>(unfit, origin);
      const before = await evaluate(claims, nodes);
      const middle = Math.floor(nodes.length / 2);
      const verdicts = await evaluate(claims, nodes.toSpliced(middle, 0, broken));
      const failed = verdicts[middle];
      assert.ok(failed !== undefined && 'failure' in failed, 'it did not fail');
      assert.ok(failed.failure.message !== '', 'it does not say why');
      assert.deepEqual(verdicts.toSpliced(middle, 1), before);
    });
  }

  runner.test('does not go on for long once its search is aborted', async () => {
    const controller = new AbortController();
    const context = plainContext({ signal: controller.signal, random: seededRandom('values') });
    const evaluating = evaluate(claims, await sampleNodes(claims), context);
    controller.abort(new Error('changed my mind'));
    const outcome = await Promise.race([
      evaluating.then(
        () => 'settled',
        () => 'settled',
      ),
      turns(200).then(() => 'still going on'),
    ]);
    assert.equal(outcome, 'settled');
  });
}

function describeCalls<State, Action>({ claims, runner }: EvaluatorSubject<State, Action>): void {
  runner.test('gives the same values from a journal, and asks nobody', async () => {
    const nodes = await sampleNodes(claims);
    const journal = memoryJournal();
    const live = purse({ journal });
    const evaluations = await evaluate(claims, nodes, live.context);
    const lines = JSON.parse(JSON.stringify(journal.lines)) as Journal['lines'];
    const again = purse({ journal: replayed({ lines }) });
    assert.deepEqual(await evaluate(claims, nodes, again.context), evaluations);
    assert.equal(again.unrecorded, 0, 'it asked what it had not asked before');
    assert.deepEqual(again.ledger.spend, live.ledger.spend);
  });

  runner.test('gives back what it set aside and did not use', async () => {
    const { context, ledger } = purse({ budget: { calls: 1e6, tokens: 1e12 } });
    await evaluate(claims, await sampleNodes(claims), context);
    await atRest(ledger, { calls: 1e6, tokens: 1e12 });
  });

  const { calls } = claims;
  if (calls === undefined) return;
  const costOf = (nodes: readonly SearchNode<State, Action>[]) =>
    typeof calls === 'number' ? calls * nodes.length : calls(nodes);

  runner.test('costs the calls that it claims', async () => {
    const nodes = distinct(claims, await sampleNodes(claims));
    for (const batch of [nodes.slice(0, 1), nodes]) {
      const { context, ledger } = purse({ budget: { calls: costOf(batch) } });
      const verdicts = await evaluate(claims, batch, context);
      assert.equal(ledger.spend.calls, costOf(batch));
      assert.ok(
        verdicts.some((verdict) => !('failure' in verdict)),
        'nothing was valued',
      );
    }
  });

  runner.test('stops where the budget is too small, and spends no more than it holds', async () => {
    const nodes = distinct(claims, await sampleNodes(claims)).slice(0, 1);
    for (let held = 0; held < costOf(nodes); held++) {
      const { context, ledger } = purse({ budget: { calls: held } });
      const refusal = await refusalOf(async () => {
        await evaluate(claims, nodes, context);
        context.throwIfInterrupted();
      });
      assert.ok(EspalierError.isInstance(refusal) && refusal.code === 'budget', 'it went on');
      await atRest(ledger, { calls: held });
      assert.ok(ledger.spend.calls <= held);
    }
  });
}

/** What a search gives an evaluator: a context whose calls are charged and journaled. */
function purse({
  budget = {},
  journal = memoryJournal(),
}: {
  readonly budget?: Budget;
  readonly journal?: Journal;
}) {
  const clock = manualClock({ auto: true });
  const random = seededRandom('values');
  const nobody = () => undefined;
  const { gate, controller } = openOutside({
    journal,
    order: 'arrival',
    clock,
    random,
    ms: undefined,
    before: undefined,
    retryFailed: false,
    ready: nobody,
    onCall: nobody,
    onWarning: nobody,
  });
  const ledger = new Ledger({ budget, clock: { ...clock, now: () => 0 } });
  const calls = new Calls(gate, { prices: {}, ledger });
  const runtime = { calls, signal: controller.signal, clock, random };
  return {
    context: new PluginContext(runtime, 'evaluate'),
    ledger,
    get unrecorded() {
      return gate.coverage.unrecorded;
    },
  };
}

/** Waits until no call holds a reservation. */
async function atRest(ledger: Ledger, budget: Budget): Promise<void> {
  const held = () =>
    (Object.entries(budget) as [keyof Budget, number][]).filter(
      ([unit, limit]) => ledger.remaining[unit] + ledger.spend[unit] !== limit,
    );
  for (let left = 200; left > 0 && held().length > 0; left--) await turn();
  assert.deepEqual(held(), [], 'a part of the budget was not given back');
}

async function refusalOf(act: () => Promise<unknown>): Promise<unknown> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Without nodes whose states occur earlier. */
function distinct<State, Action>(
  { environment }: EvaluatorClaims<State, Action>,
  nodes: readonly SearchNode<State, Action>[],
): readonly SearchNode<State, Action>[] {
  const textOf = (state: State | undefined): string => {
    if (state === undefined) return '';
    return environment.key?.(state) ?? JSON.stringify(environment.codec?.encode(state) ?? state);
  };
  const lookOf = ({ kind, state, parent, action }: SearchNode<State, Action>) =>
    kind === 'proposed' ? `${textOf(parent.state)} ${JSON.stringify(action)}` : textOf(state);
  return [...new Map(nodes.map((node) => [lookOf(node), node])).values()];
}

/** Whether a search continues from a node, so that a simulation may start there. */
function goesOn({ kind, terminal, reward }: SearchNode): boolean {
  return kind !== 'proposed' && !(terminal && reward !== undefined);
}

/** Nodes of the kind that the evaluator needs. */
async function sampleNodes<State, Action>({
  create,
  environment,
  policy,
}: EvaluatorClaims<State, Action>): Promise<readonly SearchNode<State, Action>[]> {
  const tree = await sampleTree({ environment, policy, random: seededRandom('nodes') });
  const wanted = create().needs === 'proposed' ? 'proposed' : 'realised';
  const nodes = [...tree.nodes()].filter(({ kind }) => kind === wanted).slice(0, 12);
  assert.ok(nodes.length > 1, 'the policy proposes too little to try the evaluator with');
  return nodes;
}

async function evaluate<State, Action>(
  { create, environment }: EvaluatorClaims<State, Action>,
  nodes: readonly SearchNode<State, Action>[],
  context: CallContext = plainContext({ random: seededRandom('values') }),
): Promise<readonly (Evaluation | Failed)[]> {
  return create().evaluate(nodes, { environment, context, remaining: unlimited });
}

function lookOf({ id, visits, value, rawValue, status, children }: SearchNode): string {
  return JSON.stringify([id, visits, value, rawValue, status, children.length]);
}
