import { expectation, expectMethods, expectOneOf } from '../../base/expect.ts';
import { failedBy, isFailure } from '../../base/failure.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { RewardModel, Solution } from '../../contracts/reward-model.ts';

/** How scores become values. */
export interface ScoreMap {
  /** A score as a value in [0, 1]. */
  toValue(score: number): number;
  /** A score as evaluations keep it; `undefined` where scores are values. */
  raw(score: number): Evaluation['raw'];
}

/**
 * How the scores of a model become values: as they are in [0, 1], from another range by
 * `(score − least) / (greatest − least)`, without bounds or if asked for by `1 / (1 + e^−score)`.
 *
 * @throws EspalierError `usage` where a range without bounds is to be mapped affinely.
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
  if (way === 'affine' && least === 0 && greatest === 1) {
    return { toValue: (score) => score, raw: () => undefined };
  }
  // JSON has no infinity, and trees are JSON.
  const { MAX_VALUE } = Number;
  const range = [Math.max(least, -MAX_VALUE), Math.min(greatest, MAX_VALUE)] as const;
  return {
    toValue: (score) =>
      way === 'sigmoid' ? 1 / (1 + Math.exp(-score)) : (score - least) / (greatest - least),
    raw: (score) => ({ score, range }),
  };
}

/** Checks a reward model, and what it scores. @throws EspalierError `usage` */
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

/** What a node comes to: a question for the reward model, or what is known without it. */
export type Prepared = Evaluation | Failed | Questioned;

/** A node whose solution is to be scored. */
export interface Questioned {
  /** What is asked. */
  readonly solution: Solution;
  /** The evaluation that its scores, as many as were asked for, come to. */
  readonly read: (scores: readonly number[]) => Evaluation | Failed;
}

/** How nodes are scored. */
export interface NodeScoring<State, Action> {
  /** The model. */
  readonly model: RewardModel;
  /** What a node comes to. What it throws fails this one node. */
  readonly prepare: (node: SearchNode<State, Action>) => Prepared;
  /** The door to the model. */
  readonly context: CallContext;
}

/** Evaluates nodes with one call for all of their solutions. */
export async function scoreNodes<State, Action>(
  nodes: readonly SearchNode<State, Action>[],
  { model, prepare, context }: NodeScoring<State, Action>,
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
