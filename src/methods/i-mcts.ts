import { expectBounds, expectFunction, expectNumbers } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Policy } from '../contracts/policy.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { introspective } from '../policies/introspective.ts';
import { mcts } from '../search/algorithms/mcts.ts';
import { mixedValue } from '../tree/qtransform.ts';
import { flat, type WideningRule } from '../tree/selection.ts';
import { hybridWeight } from '../values/combine/hybrid-weight.ts';
import { judge } from '../values/judge/judge.ts';
import { rollout } from '../values/rollout/rollout.ts';
import { withSimulation } from '../values/rollout/with-simulation.ts';
import {
  type Method,
  type MethodEntry,
  methodOptions,
  type WideningMethodOptions,
} from './method.ts';

/** Options of {@link iMcts}. */
export interface IMctsOptions<State = any, Action = any> extends WideningMethodOptions {
  /** Proposes actions, in plays too. @defaultValue the model: with `introspective` in the tree, without it in plays */
  readonly policy?: Policy<State, Action>;
  /** V_llm, also used for plays that reach no end. @defaultValue a judge with the rubric */
  readonly value?: Evaluator<State, Action>;
  /** c, the weight of exploration: from 0 up. @defaultValue 2, the reference code's */
  readonly c?: number;
  /** c_v, how long the model's judgement outweighs trials: above 0. @defaultValue 0.2, the reference code's */
  readonly cv?: number;
  /** Actions per node, proposed one by one: an integer from 1 up. @defaultValue 5, the reference code's */
  readonly width?: number;
  /** The longest path, in actions: an integer from 1 up. @defaultValue 64 */
  readonly maxDepth?: number;
}

/**
 * I-MCTS: each new action is proposed given the solution so far and the actions and outcomes of its siblings, and the
 * model's judgement gradually gives way to the results of trials.
 *
 * - Selection, over all nodes of the tree that can grow: `argmax H + c · √(ln N(parent) / n)`, with n = N, or c_v
 *   before the first visit, and the logarithm never below 0.
 * - Hybrid reward: `H = w · V_llm + (1 − w) · W / N`, `w = c_v / (N + c_v)`: 1 at N = 0, 1/6 at N = 1, 1/11 at
 *   N = 2.
 * - V_llm: a rubric of seven criteria, `total / 100`. W: the rewards of plays from the node to the end.
 * - Expansion: {@link introspective}, one action per simulation. It is tried before the next one is proposed at the
 *   same node, given the outcomes of all earlier ones.
 *
 * In the paper a node is a staged machine-learning plan, and a trial runs the complete pipeline; here a trial plays to
 * an end with the model's own proposals, and takes its reward. The rubric generalises the paper's to any work.
 *
 * Differences from the reference code: siblings are shown with their outcomes and scores, as in the paper, and so are
 * proposed one by one, where the code shows bare ideas and proposes all at once before any is tried; an action yet to
 * be proposed at a node counts as untried, with the H of the node as its judgement; the root competes with all other
 * nodes; judgements are awaited; the node with the best reward is the answer, and rewards on hidden data are not used.
 *
 * @see Liang et al., "I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search", 2025
 * (arXiv 2502.14693), section 2.
 */
export function iMcts<State = any, Action = any>(
  options: IMctsOptions<State, Action>,
): Method<State, Action> {
  expectOptions('iMcts', options, `${methodOptions} widening policy value c cv width maxDepth`);
  const { model, judgeModel = model, maxTokens = 256 } = options;
  const { c = 2, cv = 0.2, width = 5, maxDepth = 64 } = options;
  expectNumbers({ c, cv }, { min: 0 });
  expectBounds({ width });
  const { value = judge({ model: judgeModel, form: 'criteria' }) } = options;
  if (options.widening !== undefined) expectFunction('widening', options.widening);
  const upToWidth: WideningRule = ({ children, samples }) =>
    Math.max(children.length, samples) < width;
  const widening: WideningRule = (node) => upToWidth(node) || options.widening?.(node) === true;
  const playing = rollout({
    policy: options.policy ?? fromModel({ model, maxTokens }),
    evaluator: value,
    maxDepth,
  });
  return {
    name: iMctsEntry.name,
    policy: options.policy ?? introspective({ model, maxTokens }),
    evaluator: withSimulation(value, playing),
    algorithm: mcts({
      selection: flat(introspectiveScore({ c, cv }), { widening }),
      widening,
      evaluate: 'all',
      width: 1,
      maxDepth,
    }),
  };
}

/**
 * The score of a node in I-MCTS: hybrid reward and exploration. For a node with children, it is the score of the next
 * child, yet to be proposed.
 */
export function introspectiveScore({
  c,
  cv,
}: {
  /** The weight of exploration. */
  readonly c: number;
  /** What an unvisited node counts as, and how fast trials outweigh the judgement. */
  readonly cv: number;
}): Parameters<typeof flat>[0] {
  const weight = hybridWeight({ c: cv });
  return (node, parent) => {
    const grows = node.children.length > 0;
    const visits = grows ? node.inFlight : node.visits + node.inFlight;
    const above = grows ? node : parent;
    const logVisits = Math.log(Math.max(1, above === undefined ? 1 : above.visits));
    return mixedValue(node, weight(node.visits)) + c * Math.sqrt(logVisits / (visits || cv));
  };
}

/** List entry of I-MCTS. */
export const iMctsEntry: MethodEntry = {
  name: 'i-mcts',
  title: 'I-MCTS',
  paper:
    'Liang et al., I-MCTS: Enhancing Agentic AutoML via Introspective Monte Carlo Tree Search, 2025, arXiv 2502.14693',
  create: iMcts,
  plain: (options) => ({
    policy: fromModel({ model: options.model, maxTokens: options.maxTokens ?? 256 }),
    evaluator: iMcts({ ...options, value: judge({ model: options.model }) }).evaluator,
  }),
};
