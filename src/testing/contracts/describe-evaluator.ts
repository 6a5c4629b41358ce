import assert from 'node:assert/strict';
import { turn } from '../../runtime/clock.ts';
import { seededRandom } from '../../runtime/random.ts';
import type { CallContext } from '../../spec/context.ts';
import type { Environment } from '../../spec/environment.ts';
import type { Evaluation, Evaluator } from '../../spec/evaluator.ts';
import type { Failure } from '../../spec/failure.ts';
import type { SearchNode } from '../../spec/node.ts';
import type { Policy } from '../../spec/policy.ts';
import { SearchTree } from '../../tree/tree.ts';
import { plainContext } from '../plain-context.ts';
import { type Exemption, type TestRunner, withExemptions } from '../test-runner.ts';
import { sampleTree, unlimited } from './sampling.ts';

/** What an evaluator claims, for {@link describeEvaluator}. */
export interface EvaluatorClaims<State, Action> {
  /** Makes the evaluator. */
  readonly create: () => Evaluator<State, Action>;
  /** An environment whose states it values. */
  readonly environment: Environment<State, Action>;
  /** Proposes actions there, for random walks. */
  readonly policy: Policy<State, Action>;
  /** A state that it cannot value, and that must fail alone. @defaultValue not tested */
  readonly unfit?: State;
  /** Tests that do not apply, by name, and why not. @defaultValue none */
  readonly exempt?: readonly Exemption[];
}

/**
 * The contract of an `Evaluator` as tests: one value in [0, 1] a node, in order, the same in a batch and
 * alone; what fails, fails alone.
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
  const subject = { claims, runner: withExemptions(runner, claims.exempt ?? []) };
  runner.describe(`evaluator ${name}`, () => {
    describeValues(subject);
    describeBatches(subject);
    describeFailures(subject);
  });
}

interface Subject<State, Action> {
  readonly claims: EvaluatorClaims<State, Action>;
  readonly runner: TestRunner;
}

function describeValues<State, Action>({ claims, runner }: Subject<State, Action>): void {
  runner.test('gives values in [0, 1]', async () => {
    const verdicts = await evaluate(claims, await sampleNodes(claims));
    const values = verdicts.flatMap((verdict) => ('kind' in verdict ? [] : [verdict.value]));
    assert.ok(values.length > 0, 'no node could be valued');
    for (const value of values) assert.ok(value >= 0 && value <= 1, `got ${value}`);
  });

  runner.test('names the range of a score that it has mapped', async () => {
    for (const verdict of await evaluate(claims, await sampleNodes(claims))) {
      if ('kind' in verdict || verdict.raw === undefined) continue;
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

function describeBatches<State, Action>({ claims, runner }: Subject<State, Action>): void {
  runner.test('gives one result a node', async () => {
    const nodes = await sampleNodes(claims);
    for (const count of [0, 1, 2, nodes.length]) {
      const verdicts = await evaluate(claims, nodes.slice(0, count));
      assert.equal(verdicts.length, Math.min(count, nodes.length));
    }
  });

  runner.test('gives in a batch what it gives one by one, in the order of the nodes', async () => {
    const nodes = await sampleNodes(claims);
    const alone: (Evaluation | Failure)[] = [];
    for (const node of nodes) alone.push(...(await evaluate(claims, [node])));
    assert.deepEqual(await evaluate(claims, nodes), alone);
    const reversed = await evaluate(claims, nodes.toReversed());
    assert.deepEqual(reversed.toReversed(), alone);
  });
}

function describeFailures<State, Action>({ claims, runner }: Subject<State, Action>): void {
  const { unfit, environment } = claims;
  if (unfit !== undefined) {
    runner.test('lets what it cannot value fail alone', async () => {
      const nodes = await sampleNodes(claims);
      const origin = { environment: environment.name, seed: 0 };
      const { root: broken } = new SearchTree<State, Action>(unfit, origin);
      const before = await evaluate(claims, nodes);
      const middle = Math.floor(nodes.length / 2);
      const verdicts = await evaluate(claims, nodes.toSpliced(middle, 0, broken));
      const failure = verdicts[middle];
      assert.ok(failure !== undefined && 'kind' in failure, 'it did not fail');
      assert.ok(failure.message !== '', 'it does not say why');
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

/** Nodes of the kind that the evaluator looks at. */
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
  { create }: EvaluatorClaims<State, Action>,
  nodes: readonly SearchNode<State, Action>[],
  context: CallContext = plainContext({ random: seededRandom('values') }),
): Promise<readonly (Evaluation | Failure)[]> {
  return create().evaluate(nodes, { context, remaining: unlimited });
}

function lookOf({ id, visits, value, rawValue, status, children }: SearchNode): string {
  return JSON.stringify([id, visits, value, rawValue, status, children.length]);
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn();
}
