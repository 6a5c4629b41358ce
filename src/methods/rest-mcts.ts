import { expectNumbers } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Policy } from '../contracts/policy.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { mcts } from '../search/algorithms/mcts.ts';
import { solved } from '../search/stop-conditions.ts';
import { visitWeighted } from '../tree/backup.ts';
import { descend, knownValue, uct } from '../tree/selection.ts';
import { judge } from '../values/judge/judge.ts';
import { rollout } from '../values/rollout/rollout.ts';
import { withSimulation } from '../values/rollout/with-simulation.ts';
import {
  type Method,
  type MethodEntry,
  methodOptions,
  type WideningMethodOptions,
} from './method.ts';

/**
 * Options of {@link restMcts}. The defaults are those of the reference code for evaluation. For making training data it
 * uses c 0.5, a bonus of 0.9, rollouts of 1 step and a gate of 0.8.
 */
export interface RestMctsOptions<State = any, Action = any> extends WideningMethodOptions {
  /** Proposes actions, in rollouts too. @defaultValue the model, at temperature 0.7 */
  readonly policy?: Policy<State, Action>;
  /** The process reward model: `prm({ model: vllmReward({ … }) })`, for example. @defaultValue a judge */
  readonly value?: Evaluator<State, Action>;
  /** c, the weight of exploration: from 0 up. @defaultValue 0.4 */
  readonly c?: number;
  /** The bonus added to the value of an untried action: from 0 up. @defaultValue 0.8 */
  readonly unvisitedBonus?: number;
  /** b, actions per node: an integer from 1 up. @defaultValue 3 */
  readonly width?: number;
  /** α, the weight of the rollout in the value of a new node: in [0, 1]. @defaultValue 0.5 */
  readonly alpha?: number;
  /** The length of a rollout, in steps: an integer from 1 up. @defaultValue 2 */
  readonly rollForward?: number;
  /** The least value of an accepted end: in [0, 1]. @defaultValue 0.9 */
  readonly gate?: number;
}

/**
 * ReST-MCTS*: tree search guided by the values of a process reward model, whose trees provide training targets for
 * policy and reward model.
 *
 * - Selection: `argmax V(s′) + c · √(2 ln N(s) / N(s′))`; an untried action scores `V + bonus`.
 * - All new nodes are valued. From the best one, a greedy rollout of a single branch continues for a few steps:
 *   `V ← (1 − α) · V + α · max V` over its states.
 * - Backup: `V(s) = Σ N(s′) · V(s′) / Σ N(s′)` over the children.
 * - The search ends with the first terminal state or answer with a value of at least `gate`.
 *
 * Differences from the reference code: only real ends are accepted, not partial solutions with a high value; terminal
 * nodes are not selected again; a rollout without a valid step leaves V unchanged, where the code mixes in 0; ties go
 * to the likelier action and then to the first, not to a random one.
 *
 * @see Zhang et al., "ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search", 2024
 * (arXiv 2406.03816), section 3.2.
 */
export function restMcts<State = any, Action = any>(
  options: RestMctsOptions<State, Action>,
): Method<State, Action> {
  expectOptions(
    'restMcts',
    options,
    `${methodOptions} widening policy value c unvisitedBonus width alpha rollForward gate`,
  );
  const { model, judgeModel = model, maxTokens = 256 } = options;
  const { gate = 0.9, widening } = options;
  const { c = 0.4, unvisitedBonus = 0.8, width = 3, alpha = 0.5, rollForward = 2 } = options;
  expectNumbers({ unvisitedBonus, gate });
  const { policy = fromModel({ model, maxTokens, temperature: 0.7 }) } = options;
  const { value = judge({ model: judgeModel }) } = options;
  const playing = rollout({
    policy,
    evaluator: value,
    maxDepth: rollForward,
    worth: 'best',
  });
  const unvisited = (...seen: Parameters<typeof knownValue>) =>
    knownValue(...seen) + unvisitedBonus;
  return {
    name: restMctsEntry.name,
    policy,
    evaluator: withSimulation(value, playing, { alpha }),
    algorithm: mcts({
      selection: descend(uct({ c: c * Math.SQRT2, unvisited })),
      backup: visitWeighted(),
      evaluate: 'all',
      width,
      widening,
    }),
    stopWhen: [solved({ score: gate })],
  };
}

/** List entry of ReST-MCTS*. */
export const restMctsEntry: MethodEntry = {
  name: 'rest-mcts',
  title: 'ReST-MCTS*',
  paper:
    'Zhang et al., ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search, 2024, arXiv 2406.03816',
  create: restMcts,
};
