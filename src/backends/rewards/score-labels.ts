import type { Failure } from '../../contracts/failure.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import type { Solution } from '../../contracts/reward-model.ts';
import type { Endpoint } from '../transport/endpoint.ts';
import { labelScores } from '../transport/label-scores.ts';
import { type Asked, gathered, leaveForSteps, type StepAsked, stepsAsked } from './asking.ts';
import { type TextRecipe, textUntil } from './recipe.ts';
import { invalid, probability } from './rows.ts';

interface LabelScoring {
  readonly endpoint: Endpoint;
  readonly recipe: TextRecipe;
  readonly labelIds: readonly [good: number, bad: number];
  readonly call: ModelCall;
  readonly server: 'sglang' | 'vllm';
}

/**
 * The probability of the good label, relative to both labels, after each step: one request for all steps of all
 * solutions with the same question.
 */
export async function scoreLabels(
  solutions: readonly Solution[],
  scoring: LabelScoring,
): Promise<Asked> {
  const { recipe, call } = scoring;
  const asked = stepsAsked(solutions, recipe);
  await leaveForSteps(asked, call);
  const openings = [...new Set(asked.map(({ solution }) => recipe.opening(solution.prompt)))];
  const groups = openings.map((query) => ({
    query,
    steps: asked.filter(({ solution }) => recipe.opening(solution.prompt) === query),
  }));
  const replies = await Promise.all(groups.map((group) => ask(group, scoring)));
  const scores = new Map<StepAsked, Failure | number>();
  for (const [index, { steps }] of groups.entries()) {
    for (const [place, step] of steps.entries()) {
      scores.set(step, replies[index]?.scores[place] ?? invalid('Expected a score, got none.'));
    }
  }
  const inOrder = asked.map((step) => scores.get(step) as Failure | number);
  return {
    scores: gathered(asked, inOrder, solutions.length),
    usages: replies.map(({ usage }) => usage),
  };
}

interface Group {
  readonly query: string;
  readonly steps: readonly StepAsked[];
}

async function ask({ query, steps }: Group, scoring: LabelScoring) {
  const { endpoint, recipe, labelIds: ids, call, server } = scoring;
  const items = steps.map(({ solution, place }) => textUntil(recipe, solution, place));
  const { rows, usage } = await labelScores(endpoint, { query, items, ids, server, call });
  // Without indices it is unknown whose score is missing.
  const scores =
    rows.length === steps.length
      ? rows.map((row) => labelScore(row, server === 'vllm' ? 1 : 2))
      : steps.map(() => invalid(`Expected ${steps.length} scores, got ${rows.length}.`));
  return { scores, usage };
}

function labelScore(numbers: readonly unknown[], columns: number): Failure | number {
  const isSound =
    numbers.length === columns &&
    numbers.every((number) => typeof number === 'number' && Number.isFinite(number));
  if (!isSound) return invalid('Expected the probability of a label to be a number, got none.');
  return probability(numbers as readonly number[], 0);
}
