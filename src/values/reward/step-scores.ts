import { expectation, expectMethods, expectOneOf } from '../../base/expect.ts';
import { failedBy, isFailure } from '../../base/failure.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { RewardModel, Solution } from '../../contracts/reward-model.ts';
import { valueInRange } from '../value-in-range.ts';

/** Maps a score to a value, or a failure if it is invalid. A mapped score is kept in `raw`. */
export type ScoreMap = (source: string, score: number) => Evaluation | Failed;

/**
 * How the scores of a model become values: scores in [0, 1] unchanged; scores on another range by `(score − least) /
 * (greatest − least)`; scores without bounds, or on request, by `1 / (1 + e^−score)`.
 *
 * @throws EspalierError `usage` if a range without bounds is to be mapped affinely.
 */
export function scoreMapOf(
  { range: [least, greatest] = [0, 1] }: Pick<RewardModel, 'range'>,
  squash: 'affine' | 'sigmoid' | undefined,
): ScoreMap {
  const isBound = Number.isFinite(least) && Number.isFinite(greatest);
  const way = squash ?? (isBound ? 'affine' : 'sigmoid');
  expectOneOf('squash', way, ['affine', 'sigmoid']);
  if (way === 'affine' && !isBound) {
    throw expectation('squash', "'sigmoid' for a model whose scores have no bounds", squash);
  }
  if (way === 'affine' && least === 0 && greatest === 1) return valueInRange;
  // JSON has no infinity, and trees are saved as JSON.
  const { MAX_VALUE } = Number;
  const range = [Math.max(least, -MAX_VALUE), Math.min(greatest, MAX_VALUE)] as const;
  return (source, score) => {
    const value =
      way === 'sigmoid' ? 1 / (1 + Math.exp(-score)) : (score - least) / (greatest - least);
    const mapped = valueInRange(source, value);
    return 'value' in mapped ? { ...mapped, raw: { score, range } } : mapped;
  };
}

/** Checks a reward model and its kind of scores. @throws EspalierError `usage` */
export function expectRewardModel(model: RewardModel, scores: 'solution' | 'steps'): void {
  expectMethods('model', model, ['score']);
  const given = model.scores ?? 'steps';
  if (given === scores) return;
  const other = given === 'solution' ? 'use orm' : 'use prm';
  throw expectation('model', `one that scores ${word(scores)}`, `${word(given)}; ${other}`);
}

function word(scores: 'solution' | 'steps'): string {
  return scores === 'steps' ? 'steps' : 'solutions';
}

/** A node whose solution is to be scored. */
interface Questioned {
  /** The solution. */
  readonly solution: Solution;
  /** Makes the evaluation from its scores, whose number is that requested. */
  readonly read: (scores: readonly number[]) => Evaluation | Failed;
}

/** A prepared node: a question for the reward model, or a result that needs no call. */
export type Prepared = Evaluation | Failed | Questioned;

/**
 * Evaluates nodes with one call for all of their solutions.
 *
 * @param prepare - Prepares a node. An error fails only this node.
 */
export async function scoreNodes<State, Action>(
  nodes: readonly SearchNode<State, Action>[],
  {
    model,
    prepare,
    context,
  }: {
    readonly model: RewardModel;
    readonly prepare: (node: SearchNode<State, Action>) => Prepared;
    readonly context: CallContext;
  },
): Promise<readonly (Evaluation | Failed)[]> {
  const prepared = nodes.map((node) => {
    try {
      return prepare(node);
    } catch (error) {
      return failedBy(error, 'invalid', context);
    }
  });
  const questions = prepared.filter(isQuestion);
  if (questions.length === 0) return prepared as readonly (Evaluation | Failed)[];
  const solutions = questions.map(({ solution }) => solution);
  const scores = await scoresOf(model, solutions, context);
  let next = 0;
  return prepared.map((one) => (isQuestion(one) ? readScores(one, scores[next++]) : one));
}

async function scoresOf(
  model: RewardModel,
  solutions: readonly Solution[],
  context: CallContext,
): Promise<readonly unknown[]> {
  try {
    return (await context.score(model, { solutions })).scores;
  } catch (error) {
    const { failure } = failedBy(error, 'call', context);
    return solutions.map(() => failure);
  }
}

function isQuestion(prepared: Prepared): prepared is Questioned {
  return 'solution' in prepared;
}

function readScores({ read }: Questioned, scores: unknown): Evaluation | Failed {
  if (isFailure(scores)) return { failure: scores };
  const isSound = Array.isArray(scores) && scores.every((score: unknown) => Number.isFinite(score));
  if (isSound) return read(scores as readonly number[]);
  return {
    failure: { kind: 'invalid', message: 'Expected scores that are numbers, got something else.' },
  };
}
