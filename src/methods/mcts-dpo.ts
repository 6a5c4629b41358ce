import { expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import * as pairRules from '../data/pairs/pair-rules.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { sequenceProbability } from '../policies/sequence-probability.ts';
import { mcts } from '../search/algorithms/mcts.ts';
import { stepwise } from '../search/algorithms/stepwise.ts';
import { visitWeighted } from '../tree/backup.ts';
import { descend, knownValue, puct } from '../tree/selection.ts';
import { judge } from '../values/judge/judge.ts';
import { selfEval } from '../values/judge/self-eval.ts';
import {
  type Method,
  type MethodEntry,
  methodOptions,
  type WideningMethodOptions,
} from './method.ts';

/**
 * MCTS-DPO: self-evaluated tree search that commits one step at a time, and makes step-level preference pairs from
 * siblings.
 *
 * - Selection: `argmax Q(s, a) + w · p(a | s) · √N(s) / (1 + N(s, a))`, with `p = exp(Σ ln p(token) / length^λ)`,
 *   which is not normalised over siblings.
 * - A simulation expands and selects down to a terminal state or the horizon; there is no separate rollout.
 * - `r(s, a) = v(s′) − v(s)`, with v the self-evaluation {@link selfEval}, or the reward of an end. A new action
 *   starts at `Q = V(s) + r`.
 * - Backup: `V(s) = Σ max(1, N) · Q / Σ max(1, N)`, `Q = r + V`.
 * - Pairs: on the committed path, the sibling with the highest Q against the one with the lowest.
 *
 * The tree holds `Q + v(s)` in place of Q. It lies in [0, 1]; the difference is the same for all siblings, so
 * that selection, choice and margins are the paper's. V(s) is 0 when the children of s are made, because a simulation
 * expands each node on its first visit: a new action then starts at `v(s′)` here.
 *
 * Differences from the reference code: the root counts a simulation once, not twice; v is not divided by the depth;
 * the most visited action is taken, ties going to the higher Q, where the code multiplies N by 1 plus the spread of
 * visits among its children; an end is worth its reward, not the self-evaluation ± 1; the model is not shown the known
 * solution; fully explored nodes are not revisited, and are chosen by value; the rejected sibling is the
 * worst, as in the paper, where the code's defaults draw one at random; and the first root gets no fourfold
 * simulations.
 *
 * @see Xie et al., "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning", 2024
 * (arXiv 2405.00451), section 2.1.
 */
export function mctsDpo(
  options: WideningMethodOptions & {
    /** w, the weight of the prior: from 0 up. @defaultValue 1, the paper's */
    readonly w?: number;
    /** λ, the exponent of the length in the prior: from 0 up. @defaultValue 1.25, the reference code's */
    readonly lengthPenalty?: number;
    /** Actions per node: an integer from 1 up. @defaultValue 2, the scripts' for mathematics */
    readonly width?: number;
    /** Simulations for each committed step: an integer from 1 up. @defaultValue 64, the scripts' */
    readonly simulations?: number;
    /** The lookahead of a simulation, in steps: an integer from 1 up. @defaultValue 3, the scripts' for mathematics */
    readonly horizon?: number;
  },
): Method {
  const own = 'lengthPenalty w width simulations horizon';
  expectOptions('mctsDpo', options, `${methodOptions} widening ${own}`);
  const { model, judgeModel = model, maxTokens = 256 } = options;
  const { lengthPenalty = 1.25, w = 1, widening } = options;
  expectNumber('w', w, { min: 0 });
  const { width = 2, simulations = 64, horizon = 3 } = options;
  const prior = sequenceProbability({ lengthPenalty });
  return {
    name: mctsDpoEntry.name,
    policy: fromModel({ model, prior, maxTokens }),
    evaluator: selfEval({ model: judgeModel }),
    algorithm: stepwise(
      mcts({
        selection: descend(puct({ cInit: w, cBase: Number.POSITIVE_INFINITY })),
        backup: visitWeighted({ unvisited: knownValue }),
        evaluate: 'all',
        rollout: true,
        width,
        horizon,
        widening,
      }),
      { simulations },
    ),
    pairs: pairRules.mctsDpo(),
  };
}

/** List entry of MCTS-DPO. */
export const mctsDpoEntry: MethodEntry = {
  name: 'mcts-dpo',
  title: 'MCTS-DPO',
  paper:
    'Xie et al., Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning, 2024, arXiv 2405.00451',
  create: mctsDpo,
  plain: ({ model }) => ({ evaluator: judge({ model }) }),
};
