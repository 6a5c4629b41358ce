import { expectation, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isFailure } from '../../base/failure.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import type { RewardModel, Solution } from '../../contracts/reward-model.ts';
import { Endpoint, type EndpointOptions, endpointOptions } from '../transport/endpoint.ts';
import { fieldsOf } from '../transport/json.ts';
import { byIndex } from '../transport/numbered.ts';
import { type Asked, type Scores, servedReward } from './asking.ts';
import { expectTextRecipe, labelIdsOf, type TextRecipe, textOf } from './recipe.ts';
import { invalid, type RowReading, rowsOf, scoreOfRow, scoresOfRows } from './rows.ts';
import { scoreLabels } from './score-labels.ts';
import { tokenised } from './tokenised.ts';

/** Options of {@link vllmReward}. */
export interface VllmRewardOptions extends EndpointOptions {
  /** The model's prompt format. */
  readonly recipe: TextRecipe;
  /**
   * The endpoint: `/pooling` for one score per step, `/classify` for one per solution, or `/generative_scoring` for the
   * labels of a generative model.
   *
   * @defaultValue `'pooling'` or `'classify'`, by what the recipe scores
   */
  readonly endpoint?: 'classify' | 'generative_scoring' | 'pooling';
  /** The values requested from the server. @defaultValue that of the recipe, else `'probabilities'` */
  readonly activation?: 'logits' | 'probabilities';
  /** The encoding of values: JSON numbers, or 32-bit floats as Base64, which is shorter. @defaultValue `'float'` */
  readonly encoding?: 'base64' | 'float';
  /** The pooling task, if the server has several. @defaultValue the server's */
  readonly task?: string;
  /** The token ids of the labels, good and bad, if the endpoint needs them. @defaultValue those of the recipe */
  readonly labelIds?: readonly [good: number, bad: number];
}

/**
 * A reward model on vLLM. All solutions are sent in one request.
 *
 * There must be one row per step: a solution with more or fewer fails alone, and so does one with a non-number, or a
 * probability outside [0, 1].
 *
 * @throws EspalierError `usage` if an option is out of range.
 * @example
 * ```ts
 * const model = vllmReward({ model: 'Qwen/Qwen2.5-Math-PRM-7B', recipe: recipes.qwenMathPrm });
 * ```
 * @see {@link recipes} for how the server must be started.
 */
export function vllmReward(options: VllmRewardOptions): RewardModel {
  expectOptions(
    'vllmReward',
    options,
    `${endpointOptions} recipe endpoint activation encoding task labelIds`,
  );
  const { recipe, encoding, task } = options;
  expectTextRecipe(recipe);
  const { endpoint: path = recipe.scores === 'solution' ? 'classify' : 'pooling' } = options;
  expectOneOf('endpoint', path, ['classify', 'generative_scoring', 'pooling']);
  if (encoding !== undefined) expectOneOf('encoding', encoding, ['base64', 'float']);
  if (task !== undefined && typeof task !== 'string') throw expectation('task', 'a name', task);
  const { activation = recipe.activation ?? 'probabilities' } = options;
  expectOneOf('activation', activation, ['logits', 'probabilities']);
  const labelIds = path === 'generative_scoring' ? labelIdsOf(options) : undefined;
  const usual = { provider: 'vllm', baseUrl: 'http://localhost:8000/v1', isFree: true };
  const endpoint = new Endpoint(usual, options);
  const reading = { ...recipe, activation };
  return servedReward(endpoint, {
    recipe,
    settings: {
      ...{ endpoint: path, activation },
      ...(task !== undefined && { task }),
      ...(labelIds !== undefined && { labelIds: [...labelIds] }),
    },
    range: rangeOf(reading),
    ask(sound, call) {
      if (labelIds !== undefined) {
        return scoreLabels(sound, { endpoint, recipe, labelIds, call, server: 'vllm' });
      }
      return (path === 'pooling' ? pool : classify)(sound, { endpoint, options, reading, call });
    },
  });
}

interface Asking {
  readonly endpoint: Endpoint;
  readonly options: VllmRewardOptions;
  readonly reading: RowReading;
  readonly call: ModelCall;
}

/** The logit of a whole solution has no bounds; anything else is a probability. */
export function rangeOf({ activation, columns, scores }: RowReading): readonly [number, number] {
  const isBare = activation === 'logits' && columns === 1 && scores === 'solution';
  return isBare ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] : [0, 1];
}

async function pool(solutions: readonly Solution[], asking: Asking): Promise<Asked> {
  const { endpoint, options, reading, call } = asking;
  const { recipe, encoding = 'float', task } = options;
  const texts =
    recipe.rows === 'tokens'
      ? await tokenised(recipe, solutions, { endpoint, call })
      : solutions.map((solution) => ({ input: textOf(recipe, solution), places: undefined }));
  const body = {
    ...{ model: endpoint.modelId, input: texts.map(({ input }) => input) },
    ...{ encoding_format: encoding, use_activation: reading.activation === 'probabilities' },
    ...(task !== undefined && { task }),
  };
  const { items, usage } = await endpoint.list('/pooling', body, { field: 'data', call });
  const answers = byIndex(items, texts.length);
  const scores = solutions.map((solution, place): Scores => {
    const data = fieldsOf(answers[place])['data'];
    if (data === undefined)
      return invalid('Expected one answer per solution, got none or several.');
    const rows = rowsOf(data, recipe.columns);
    return isFailure(rows) ? rows : read({ rows, places: texts[place]?.places, solution }, reading);
  });
  return { scores, usages: [usage] };
}

interface Rows {
  readonly rows: readonly unknown[];
  /** The score positions, if there is a row for each token. */
  readonly places: readonly number[] | undefined;
  readonly solution: Solution;
}

function read({ rows, places, solution }: Rows, reading: RowReading): Scores {
  const { steps, from = 0 } = solution;
  if (reading.scores === 'solution') {
    const scores = scoresOfRows(rows.slice(-1), 1, reading);
    return rows.length === 0 ? invalid('Expected a score, got none.') : scores;
  }
  const tokens = places?.at(-1);
  if (tokens !== undefined && rows.length !== tokens + 1) {
    return invalid(`Expected one row per token, ${tokens + 1} in all, got ${rows.length}.`);
  }
  const told = places === undefined ? rows : places.map((place) => rows[place]);
  const scores = scoresOfRows(told, steps.length, reading);
  return isFailure(scores) ? scores : scores.slice(from);
}

async function classify(solutions: readonly Solution[], asking: Asking): Promise<Asked> {
  const { endpoint, options, reading, call } = asking;
  const body = {
    model: endpoint.modelId,
    input: solutions.map((solution) => textOf(options.recipe, solution)),
    use_activation: reading.activation === 'probabilities',
  };
  const { items, usage } = await endpoint.list('/classify', body, { field: 'data', call });
  const answers = byIndex(items, solutions.length);
  const scores = answers.map((answer): Scores => {
    if (answer === undefined)
      return invalid('Expected one answer per solution, got none or several.');
    const score = scoreOfRow(fieldsOf(answer)['probs'], reading);
    return isFailure(score) ? score : [score];
  });
  return { scores, usages: [usage] };
}
