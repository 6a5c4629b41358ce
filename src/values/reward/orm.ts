import { expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { RewardModel } from '../../contracts/reward-model.ts';
import { noState } from '../no-state.ts';
import { valueInRange } from '../value-in-range.ts';
import {
  type SolutionOptions,
  type SolutionText,
  solutionFrom,
  solutionNeeds,
} from './solution-of.ts';
import {
  expectRewardModel,
  type Prepared,
  type ScoreMap,
  scoreMapOf,
  scoreNodes,
} from './step-scores.ts';

/** Options of {@link orm}. */
export interface OrmOptions<State = any, Action = any> extends SolutionOptions<State, Action> {
  /** The reward model; it scores solutions as a whole. */
  readonly model: RewardModel;
  /**
   * How scores become values: by their range, `(score − least) / (greatest − least)`, or by
   * `1 / (1 + e^−score)`.
   *
   * @defaultValue `'affine'`; `'sigmoid'` for a model whose scores have no bounds, such as logits
   */
  readonly squash?: 'affine' | 'sigmoid';
  /**
   * Which nodes are scored: all of them, or those that nothing can follow or that hold a complete answer. An
   * outcome reward model was trained on the latter; what it says of others is a guess of its own.
   *
   * @defaultValue `'all'`
   */
  readonly at?: 'all' | 'terminal';
  /** The value of nodes that are not scored, for which nobody is asked: a number in [0, 1]. @defaultValue 0: nothing has come of them yet */
  readonly otherwise?: number;
}

interface Settings<State, Action> {
  readonly solutionOf: (node: SearchNode<State, Action>) => SolutionText;
  readonly map: ScoreMap;
  readonly at: 'all' | 'terminal';
  readonly otherwise: number;
}

/**
 * Values nodes by an outcome reward model (ORM), which gives a solution one score as a whole. All nodes of a
 * batch go out in one request; one solution is one call in the ledger. A score that is no value in [0, 1] is
 * mapped, and kept in `raw`; one that makes no sense fails alone.
 *
 * @throws EspalierError `usage` where an option is out of its range.
 * @see Cobbe et al., "Training Verifiers to Solve Math Word Problems", 2021.
 */
export function orm<State = any, Action = any>(
  options: OrmOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions('orm', options, 'model squash at otherwise solutionOf');
  const { model, squash, at = 'all', otherwise = 0 } = options;
  expectRewardModel(model, 'solution');
  expectOneOf('at', at, ['all', 'terminal']);
  expectNumber('otherwise', otherwise, { min: 0, max: 1 });
  const settings = { map: scoreMapOf(model, squash), at, otherwise };
  return {
    needs: 'realised',
    ...provenanceOf(solutionNeeds('orm', options), provenanceOfModel(model)),
    evaluate(nodes, request) {
      const { context } = request;
      const asked = { ...settings, solutionOf: solutionFrom(options, request) };
      return scoreNodes(nodes, { model, context, prepare: (node) => prepare(asked, node) });
    },
  };
}

function prepare<State, Action>(
  { solutionOf, map, at, otherwise }: Settings<State, Action>,
  node: SearchNode<State, Action>,
): Prepared {
  if (node.kind === 'proposed') return noState;
  if (at === 'terminal' && !node.terminal && !node.answer) return { value: otherwise };
  const { prompt, steps } = solutionOf(node);
  return { solution: { prompt, steps }, read: (scores) => evaluationOf(map, scores) };
}

function evaluationOf(map: ScoreMap, scores: readonly number[]): Evaluation | Failed {
  const [score] = scores;
  if (score === undefined || scores.length > 1) {
    const message = `Expected one score of a solution, got ${scores.length}.`;
    return { failure: { kind: 'invalid', message } };
  }
  const mapped = valueInRange('the score of a solution', map.toValue(score));
  const raw = map.raw(score);
  return 'value' in mapped && raw !== undefined ? { ...mapped, raw } : mapped;
}
