import { expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import type { RewardModel, Solution } from '../../contracts/reward-model.ts';
import { Endpoint, type EndpointOptions, endpointOptions } from '../transport/endpoint.ts';
import { countOf, fieldsOf } from '../transport/json.ts';
import { type Asked, gathered, leaveForSteps, servedReward, stepsAsked } from './asking.ts';
import { expectTextRecipe, labelIdsOf, type TextRecipe, textOf, textUntil } from './recipe.ts';
import { invalid, type RowReading, scoreOfRow } from './rows.ts';
import { scoreLabels } from './score-labels.ts';
import { rangeOf, type VllmRewardOptions } from './vllm-reward.ts';

/** Options of {@link sglangReward}. */
export interface SglangRewardOptions
  extends EndpointOptions,
    Pick<VllmRewardOptions, 'labelIds' | 'recipe'> {
  /**
   * The endpoint: `/classify` for models with a scoring head, started with `--is-embedding`, or `/v1/score` for the
   * labels of a generative model.
   *
   * @defaultValue `'score'` if the recipe has labels, else `'classify'`
   */
  readonly endpoint?: 'classify' | 'score';
  /** The kind of values of `/classify`. @defaultValue that of the recipe, else `'logits'` */
  readonly activation?: 'logits' | 'probabilities';
}

/**
 * A reward model on SGLang. It scores the end of a text, so each step is sent with everything before it: `/classify`
 * for all solutions in one request, `/v1/score` in one request for each question.
 *
 * @throws EspalierError `usage` if an option is out of range.
 * @example
 * ```ts
 * const model = sglangReward({
 *   model: 'Skywork/Skywork-Reward-V2-Qwen3-8B',
 *   recipe: recipes.sequenceClassifier({ template: 'chatml' }),
 * });
 * ```
 */
export function sglangReward(options: SglangRewardOptions): RewardModel {
  expectOptions('sglangReward', options, `${endpointOptions} endpoint activation labelIds recipe`);
  const { recipe } = options;
  expectTextRecipe(recipe);
  const { endpoint: path = recipe.labels === undefined ? 'classify' : 'score' } = options;
  expectOneOf('endpoint', path, ['classify', 'score']);
  const { activation = recipe.activation ?? 'logits' } = options;
  expectOneOf('activation', activation, ['logits', 'probabilities']);
  const labelIds = path === 'score' ? labelIdsOf(options) : undefined;
  const usual = { provider: 'sglang', baseUrl: 'http://localhost:30000/v1', isFree: true };
  const endpoint = new Endpoint(usual, options);
  const reading: RowReading = { ...recipe, activation };
  return servedReward(endpoint, {
    recipe,
    settings: {
      ...{ endpoint: path, activation },
      ...(labelIds !== undefined && { labelIds: [...labelIds] }),
    },
    range: labelIds === undefined ? rangeOf(reading) : [0, 1],
    ask: (sound, call) =>
      labelIds === undefined
        ? classify(sound, { endpoint, recipe, reading, call })
        : scoreLabels(sound, { endpoint, recipe, labelIds, call, server: 'sglang' }),
  });
}

async function classify(
  solutions: readonly Solution[],
  {
    endpoint,
    recipe,
    reading,
    call,
  }: {
    readonly endpoint: Endpoint;
    readonly recipe: TextRecipe;
    readonly reading: RowReading;
    readonly call: ModelCall;
  },
): Promise<Asked> {
  const isWhole = recipe.scores === 'solution';
  const asked = isWhole
    ? solutions.map((solution, owner) => ({ solution, owner, place: solution.steps.length - 1 }))
    : stepsAsked(solutions, recipe);
  await leaveForSteps(asked, call);
  const text = asked.map(({ solution, place }) =>
    isWhole
      ? textOf(recipe, solution)
      : recipe.opening(solution.prompt) + textUntil(recipe, solution, place),
  );
  const reply = await endpoint.post('/classify', { model: endpoint.modelId, text }, call);
  // A single text may be answered without a list.
  const answers: unknown = Array.isArray(reply) ? reply : text.length === 1 ? [reply] : undefined;
  if (!Array.isArray(answers)) {
    throw endpoint.malformed('JSON with another structure: it is no list', call);
  }
  const scores =
    answers.length === text.length
      ? answers.map((answer) => scoreOfRow(fieldsOf(answer)['embedding'], reading))
      : text.map(() => invalid(`Expected ${text.length} answers, got ${answers.length}.`));
  return {
    scores: gathered(asked, scores, solutions.length),
    usages: answers.map((answer) => {
      const read = countOf(fieldsOf(fieldsOf(answer)['meta_info'])['prompt_tokens']);
      return read === undefined ? undefined : { inputTokens: read, outputTokens: 0 };
    }),
  };
}
