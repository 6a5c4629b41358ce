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

/** How rollouts are played. */
export interface RolloutOptions<State = any, Action = any> {
  /** The rollout policy. It is asked for one action at a time. */
  readonly policy: Policy<State, Action>;
  /**
   * Values the state in which a rollout ends without a word from the environment: cut off at `maxDepth`,
   * without a proposal, or terminal without a reward. Left out, such a state is worth 0.
   */
  readonly evaluator?: Evaluator<State, Action>;
  /** How many rollouts are played from each node: an integer from 1 up. @defaultValue 1 */
  readonly rollouts?: number;
  /** The longest rollout, in actions: an integer from 1 up. @defaultValue 32 */
  readonly maxDepth?: number;
  /** Whether a node is worth what its rollouts returned on average, or at best. @defaultValue 'mean' */
  readonly aggregate?: 'mean' | 'max';
  /**
   * What one rollout is worth: its return to the `end`, or the `best` that a state on its way was worth, by
   * `evaluator` and with the rewards up to it. Then a rollout that cannot go on is no failure, and one that met
   * no state is worth the value of the node itself.
   *
   * @defaultValue `'end'`
   */
  readonly worth?: 'best' | 'end';
  /** γ, what a reward loses with each further action: a number from 0 to 1. @defaultValue 1 */
  readonly discount?: number;
}

/**
 * Values states by playing on from them: v(s) is the mean, or maximum, of the returns
 * `r₁ + γ r₂ + γ² r₃ + …` of rollouts.
 *
 * The rollouts of a node are independent of one another, reproducible, and leave no trace in the tree. A
 * rollout in which the policy, the environment or the evaluator fails is left out, and the rationale says
 * so; where all of them fail, so does the evaluation. So it does where a return is not in [0, 1].
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
