import { expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import { noState } from '../no-state.ts';
import type { PrmOptions } from './prm.ts';
import { solutionNeeds, usualSolutions } from './solution-of.ts';
import { expectRewardModel, type ScoreMap, scoreMapOf, scoreNodes } from './step-scores.ts';

/**
 * Values nodes by an outcome reward model (ORM), which gives each solution a single score. All nodes of a batch are
 * sent in one request; one solution is one call in the ledger. Scores on another range are mapped to [0, 1], and kept
 * in `raw`; a node with an invalid score fails alone.
 *
 * @throws EspalierError `usage` if an option is out of range.
 * @see Cobbe et al., "Training Verifiers to Solve Math Word Problems", 2021.
 */
export function orm<State = any, Action = any>(
  options: Pick<PrmOptions<State, Action>, 'model' | 'solutionOf' | 'squash'> & {
    /**
     * Which nodes are scored: all, or only terminal nodes and complete answers. Outcome reward models are trained on
     * the latter; their scores of other nodes are guesses.
     *
     * @defaultValue `'all'`
     */
    readonly at?: 'all' | 'terminal';
    /** The value of nodes that are not scored: a number in [0, 1]. @defaultValue 0 */
    readonly otherwise?: number;
  },
): Evaluator<State, Action> {
  expectOptions('orm', options, 'model squash at otherwise solutionOf');
  const { model, squash, at = 'all', otherwise = 0, solutionOf } = options;
  expectRewardModel(model, 'solution');
  expectOneOf('at', at, ['all', 'terminal']);
  expectNumber('otherwise', otherwise, { min: 0, max: 1 });
  const map = scoreMapOf(model, squash);
  return {
    needs: 'realised',
    ...provenanceOf(solutionNeeds('orm', solutionOf), provenanceOfModel(model)),
    evaluate(nodes, request) {
      const { context } = request;
      const textOf = solutionOf ?? usualSolutions(request);
      return scoreNodes<State, Action>(nodes, {
        model,
        context,
        prepare(node) {
          if (node.kind === 'proposed') return noState;
          if (at === 'terminal' && !node.terminal && !node.answer) return { value: otherwise };
          const { prompt, steps } = textOf(node);
          return { solution: { prompt, steps }, read: (scores) => evaluationOf(map, scores) };
        },
      });
    },
  };
}

function evaluationOf(map: ScoreMap, scores: readonly number[]): Evaluation | Failed {
  const [score] = scores;
  if (score !== undefined && scores.length === 1) return map('the score of a solution', score);
  const message = `Expected one score per solution, got ${scores.length}.`;
  return { failure: { kind: 'invalid', message } };
}
