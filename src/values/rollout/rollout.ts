import { expectInteger, expectMethods, expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { provenanceOf } from '../../base/provenance.ts';
import { mean } from '../../base/stats/mean.ts';
import { contextWith } from '../../calls/door.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { Policy } from '../../contracts/policy.ts';
import { expectEvaluator } from '../ask-evaluator.ts';
import { noState } from '../no-state.ts';
import { settleAll, type Waiting, wait } from '../settle.ts';
import { valueInRange } from '../value-in-range.ts';
import { detach } from './detached-node.ts';
import { type Play, playOut } from './play-out.ts';

/** Options of {@link rollout}. */
export interface RolloutOptions<State = any, Action = any> {
  /** The rollout policy, asked for one action at a time. */
  readonly policy: Policy<State, Action>;
  /**
   * Values the last state of a rollout that ends without a reward: cut off at `maxDepth`, without a proposal, or
   * terminal. If left out, such a state is worth 0.
   */
  readonly evaluator?: Evaluator<State, Action>;
  /** Rollouts per node: an integer from 1 up. @defaultValue 1 */
  readonly rollouts?: number;
  /** The longest rollout, in actions: an integer from 1 up. @defaultValue 32 */
  readonly maxDepth?: number;
  /** Whether the value is the mean or the maximum of the returns. @defaultValue 'mean' */
  readonly aggregate?: 'mean' | 'max';
  /**
   * The return of a rollout: its return at the `end`, or the `best` over its states of the rewards so far plus the
   * value by `evaluator`. With `best`, a rollout that cannot continue is not a failure, and one without states is worth
   * the node's own value.
   *
   * @defaultValue `'end'`
   */
  readonly worth?: 'best' | 'end';
  /** γ, the discount per action: a number from 0 to 1. @defaultValue 1 */
  readonly discount?: number;
}

/**
 * Values states by playing from them: v(s) is the mean, or maximum, of the returns
 * `r₁ + γ r₂ + γ² r₃ + …` of rollouts.
 *
 * The rollouts of a node are independent of one another, reproducible, and leave no trace in the tree. A rollout in
 * which the policy, the environment or the evaluator fails is left out, and noted in the rationale; if all fail, the
 * evaluation fails. It also fails if a return is not in [0, 1].
 *
 * @see Coulom, "Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function rollout<State = any, Action = any>(
  options: RolloutOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions('rollout', options, 'policy evaluator rollouts maxDepth aggregate worth discount');
  const { policy, evaluator } = options;
  const { rollouts = 1, maxDepth = 32, aggregate = 'mean', discount = 1 } = options;
  const { worth = 'end' } = options;
  expectMethods('policy', policy, ['propose']);
  if (evaluator !== undefined) expectEvaluator('evaluator', evaluator);
  expectInteger('rollouts', rollouts, { min: 1 });
  expectInteger('maxDepth', maxDepth, { min: 1 });
  expectOneOf('aggregate', aggregate, ['mean', 'max']);
  expectNumber('discount', discount, { min: 0, max: 1 });
  expectOneOf('worth', worth, ['end', 'best']);

  const play = { policy, evaluator, maxDepth, discount, worth };
  return {
    ...provenanceOf(policy, evaluator),
    needs: 'realised',
    evaluate(nodes, request) {
      const { environment } = request;
      const plan = { play: { ...play, environment }, rollouts, aggregate };
      return settleAll(nodes.map((node) => evaluateNode(plan, node, request)));
    },
  };
}

interface Plan<State, Action> {
  readonly play: Play<State, Action>;
  readonly rollouts: number;
  readonly aggregate: 'mean' | 'max';
}

function* evaluateNode<State, Action>(
  { play, rollouts, aggregate }: Plan<State, Action>,
  node: SearchNode<State, Action>,
  request: EvaluateRequest<State, Action>,
): Waiting<Evaluation | Failed> {
  if (node.kind === 'proposed') return noState;
  const start = detach(node);
  const isRewardedEnd = node.terminal && node.reward !== undefined;
  const plays = Array.from({ length: rollouts }, (_, offset) => {
    const random = request.context.random.split('rollout', node.id, offset);
    return playOut(play, start, {
      context: contextWith(request.context, { random }),
      offset,
      value: isRewardedEnd ? undefined : node.rawValue,
      get remaining() {
        return request.remaining;
      },
    });
  });
  return summarise(yield* wait(settleAll(plays)), aggregate);
}

function summarise(
  outcomes: readonly (number | Failed)[],
  aggregate: 'mean' | 'max',
): Evaluation | Failed {
  const values: number[] = [];
  const failures: Failed[] = [];
  for (const outcome of outcomes) {
    if (typeof outcome !== 'number') {
      failures.push(outcome);
      continue;
    }
    const checked = valueInRange('the return of a rollout', outcome);
    if ('failure' in checked) return checked;
    values.push(checked.value);
  }

  const [failure] = failures;
  if (values.length === 0 && failure !== undefined) return failure;
  return {
    value: aggregate === 'max' ? Math.max(...values) : Math.min(1, mean(values)),
    ...(values.length > 1 && {
      parts: Object.fromEntries(values.map((value, index) => [`rollout ${index + 1}`, value])),
    }),
    ...(failure !== undefined && {
      rationale: `${failures.length} of ${outcomes.length} rollouts failed: ${failure.failure.message}`,
    }),
  };
}
