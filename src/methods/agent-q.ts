import { expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import * as pairRules from '../data/pairs/pair-rules.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { mcts } from '../search/algorithms/mcts.ts';
import { mixedWithEvaluation } from '../tree/qtransform.ts';
import { descend, uct } from '../tree/selection.ts';
import { criticRanking } from '../values/critic/critic-ranking.ts';
import { judge } from '../values/judge/judge.ts';
import { withSimulation } from '../values/rollout/with-simulation.ts';
import {
  type Method,
  type MethodEntry,
  methodOptions,
  type WideningMethodOptions,
} from './method.ts';

/**
 * Agent Q: tree search over the actions of an agent, guided by a critic that ranks proposals before they are
 * taken, with step-level preference pairs from both.
 *
 * - Selection: `argmax Q(h, a) + c · √(ln N(h) / (1 + N(h, a)))`.
 * - `Q(h, a) = α · Q̃(h, a) + (1 − α) · Q̂(h, a)`: the mean of the returns and the critic's rank. An untried action has
 *   only the rank.
 * - A simulation continues by policy and selection to the end; its return is R in [0, 1], the environment's reward,
 *   else a judge's value of the end. Backup: `Q̃ ← (N · Q̃ + R) / (N + 1)`.
 * - Pairs: at every node, any two actions whose Q differ by more than θ.
 *
 * The paper says that the critic guides the search, and gives the mixed Q for the pairs; using the same Q for selection
 * is our reading. So is the linear score, from 1 for rank 1 to 0 for rank K. The paper publishes no parameter values:
 * the defaults are ours.
 *
 * @see Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024
 * (arXiv 2408.07199), section 4.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function agentQ(
  options: WideningMethodOptions & {
    /** α, the share of the search in the mixed value: in [0, 1]. @defaultValue 0.5 */
    readonly alpha?: number;
    /** θ, the least margin of a pair: from 0 up. @defaultValue 0.1 */
    readonly theta?: number;
    /** c, the weight of exploration: from 0 up. @defaultValue 1 */
    readonly c?: number;
    /** K, actions per node: an integer from 1 up. @defaultValue 5 */
    readonly width?: number;
    /** The longest path, in actions: an integer from 1 up. @defaultValue 64 */
    readonly maxDepth?: number;
  },
): Method {
  expectOptions('agentQ', options, `${methodOptions} widening alpha theta c width maxDepth`);
  const { model, judgeModel = model, maxTokens = 256 } = options;
  const { alpha = 0.5, theta = 0.1, c = 1, width = 5, maxDepth = 64, widening } = options;
  expectNumber('alpha', alpha, { min: 0, max: 1 });
  expectNumber('theta', theta, { min: 0 });
  const selection = descend(
    uct({ c, pseudoVisits: 1, qtransform: mixedWithEvaluation(1 - alpha) }),
  );
  return {
    name: agentQEntry.name,
    policy: fromModel({ model, maxTokens }),
    evaluator: withSimulation(
      criticRanking({ model: judgeModel, by: 'best-of-remaining' }),
      judge({ model: judgeModel, form: 'yes-no' }),
    ),
    algorithm: mcts({
      ...{ selection, evaluate: 'all', rollout: true, width, maxDepth },
      widening,
    }),
    pairs: pairRules.agentQ({ alpha, minMargin: theta }),
  };
}

/** List entry of Agent Q. */
export const agentQEntry: MethodEntry = {
  name: 'agent-q',
  title: 'Agent Q',
  paper:
    'Putta et al., Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents, 2024, arXiv 2408.07199',
  create: agentQ,
  plain: ({ model }) => ({ evaluator: judge({ model }) }),
};
