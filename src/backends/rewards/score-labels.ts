import type { Failure } from '../../contracts/failure.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import type { Solution } from '../../contracts/reward-model.ts';
import { type Endpoint, usageOf } from '../transport/endpoint.ts';
import { fieldsOf, itemsOf } from '../transport/json.ts';
import { byIndex } from '../transport/numbered.ts';
import { type Asked, gathered, leaveForSteps, type StepAsked, stepsAsked } from './asking.ts';
import { type TextRecipe, textUntil } from './recipe.ts';
import { invalid, probability } from './rows.ts';

/** How labels are scored. */
export interface LabelScoring {
  readonly endpoint: Endpoint;
  readonly recipe: TextRecipe;
  readonly labelIds: readonly [good: number, bad: number];
  readonly call: ModelCall;
  readonly server: 'sglang' | 'vllm';
}

/**
 * The probability of the good label beside that of the bad one behind each step: one request for all steps of
 * all solutions with the same question.
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
  const { endpoint, recipe, labelIds, call, server } = scoring;
  const body = {
    model: endpoint.modelId,
    query,
    items: steps.map(({ solution, place }) => textUntil(recipe, solution, place)),
    label_token_ids: labelIds,
    apply_softmax: true,
    item_first: false,
  };
  const path = server === 'vllm' ? '/generative_scoring' : '/v1/score';
  const reply = await endpoint.post(path, body, call);
  const field = server === 'vllm' ? 'data' : 'scores';
  const told = fieldsOf(reply)[field];
  if (!Array.isArray(told)) {
    throw endpoint.malformed(`JSON of another shape: it has no \`${field}\``, call);
  }
  const rows: readonly unknown[] =
    server === 'vllm'
      ? byIndex(itemsOf(told), steps.length).map((item) => fieldsOf(item)['score'])
      : told;
  // Without indices nobody can tell whose score is missing.
  const isWhole = rows.length === steps.length;
  const scores = isWhole
    ? rows.map((row) => labelScore(row, server))
    : steps.map(() => invalid(`Expected ${steps.length} scores, got ${rows.length}.`));
  return { scores, usage: usageOf(reply) };
}

function labelScore(row: unknown, server: LabelScoring['server']): Failure | number {
  const numbers: readonly unknown[] = server === 'vllm' ? [row] : itemsOf(row);
  const isSound =
    numbers.length === (server === 'vllm' ? 1 : 2) &&
    numbers.every((number) => typeof number === 'number' && Number.isFinite(number));
  if (!isSound) return invalid('Expected the probability of a label to be a number, got none.');
  return probability(numbers as readonly number[], 0);
}
