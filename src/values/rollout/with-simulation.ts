import { expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { provenanceOf } from '../../base/provenance.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { askEvaluator, expectEvaluator } from '../ask-evaluator.ts';
import { isScored, joined, nameless } from '../evaluator-parts.ts';
import { settle, type Waiting } from '../settle.ts';
import { valueInRange } from '../value-in-range.ts';

/**
 * Adds simulations to an evaluator: nodes are valued by the first, v, and when a simulation continues from one, its
 * return is the second's value, z, or a mix: `(1 − α) · v + α · z`. v is the node's existing value; if it has none, it
 * is valued then. The parts of the return are `value` and `simulation`.
 *
 * @example Rollouts in addition to a value.
 * ```ts
 * withSimulation(prmValue, rollout({ policy, maxDepth: 3, aggregate: 'max' }), { alpha: 0.5 });
 * ```
 * @see Zhang et al., "ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search", 2024, algorithm 2; Silver
 * et al., "Mastering the game of Go with deep neural networks and tree search", 2016, equation 6.
 * @throws EspalierError `usage` if `alpha` is out of range, or one of the two is not an evaluator.
 */
export function withSimulation<State = any, Action = any>(
  value: Evaluator<State, Action>,
  simulation: Evaluator<State, Action>,
  options: {
    /**
     * α, the weight of the simulation in the return: a number from 0 to 1. ReST-MCTS* takes 0.5, and so does
     * AlphaGo, which calls it λ.
     *
     * @defaultValue 1: the simulation alone
     */
    readonly alpha?: number;
  } = {},
): Evaluator<State, Action> {
  expectOptions('withSimulation', options, 'alpha');
  const { alpha = 1 } = options;
  expectEvaluator('value', value);
  expectEvaluator('simulation', simulation);
  expectNumber('alpha', alpha, { min: 0, max: 1 });
  const mix = { value, simulation, alpha };
  return {
    ...provenanceOf(value, simulation),
    needs: value.needs,
    evaluate: (nodes, request) => value.evaluate(nodes, request),
    simulate: (nodes, request) =>
      alpha === 1 ? simulation.evaluate(nodes, request) : settle(simulate(mix, nodes, request)),
  };
}

interface Mix<State, Action> {
  readonly value: Evaluator<State, Action>;
  readonly simulation: Evaluator<State, Action>;
  readonly alpha: number;
}

function* simulate<State, Action>(
  { value, simulation, alpha }: Mix<State, Action>,
  nodes: readonly SearchNode<State, Action>[],
  request: EvaluateRequest<State, Action>,
): Waiting<readonly (Evaluation | Failed)[]> {
  const unvalued = nodes.filter(({ rawValue }) => rawValue === undefined);
  const missing = { name: 'value', evaluator: value, method: 'evaluate', nodes: unvalued } as const;
  const asked = yield* askEvaluator(missing, request);
  const values = new Map(unvalued.map((node, place) => [node, asked[place]]));
  const played = { name: 'simulation', evaluator: simulation, method: 'evaluate', nodes } as const;
  const returns = yield* askEvaluator(played, request);
  return nodes.map((node, place) => {
    const { rawValue } = node;
    const v = rawValue === undefined ? values.get(node) : { value: rawValue };
    return mixed(alpha, v ?? nameless, returns[place] ?? nameless);
  });
}

function mixed(
  alpha: number,
  value: Evaluation | Failed,
  simulation: Evaluation | Failed,
): Evaluation | Failed {
  const answers = [
    { name: 'value', verdict: value },
    { name: 'simulation', verdict: simulation },
  ];
  const [v, z] = answers.filter(isScored);
  if (v === undefined || z === undefined) return 'failure' in value ? value : simulation;
  const blend = (1 - alpha) * v.verdict.value + alpha * z.verdict.value;
  const checked = valueInRange('the mixed return', blend);
  return 'failure' in checked ? checked : { ...checked, ...joined(answers) };
}
