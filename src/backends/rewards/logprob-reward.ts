import { ModelCallError } from '../../base/errors.ts';
import { expectation, expectInteger, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { shortened } from '../../base/failure.ts';
import { leastMass } from '../../base/stats/least-mass.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { ModelCall, TokenAlternative } from '../../contracts/language-model.ts';
import type { RewardModel, Solution } from '../../contracts/reward-model.ts';
import { logprobsOf } from '../transport/chat-logprobs.ts';
import { chatMessages, type JsonBody } from '../transport/chat-request.ts';
import { Endpoint, type EndpointOptions, endpointOptions } from '../transport/endpoint.ts';
import { fieldsOf } from '../transport/json.ts';
import { byIndex } from '../transport/numbered.ts';
import {
  type Asked,
  gathered,
  leaveForSteps,
  type StepAsked,
  servedReward,
  stepsAsked,
} from './asking.ts';
import {
  expectRecipe,
  type RewardRecipe,
  type TextRecipe,
  type TurnsRecipe,
  textUntil,
} from './recipe.ts';
import { invalid } from './rows.ts';

/** The maximum uncertainty of a score whose label was not among the reported tokens. */
const mostDoubt = 0.01;

/**
 * A process reward model on any server that completes text and reports log-probabilities. The score of a step is
 * `p(good) / (p(good) + p(bad))` of the next token: by `/v1/completions`, or by `/v1/chat/completions` for recipes that
 * are conversations.
 *
 * A token matches a label ignoring a leading space. If only one label was reported, the other is less likely than every
 * reported token; if that leaves the score uncertain by more than 0.01, if neither was reported, or if both have less
 * than 0.1 in total, the solution fails.
 *
 * @throws EspalierError `usage` if an option is out of range, or the recipe has no labels.
 */
export function logprobReward(
  options: EndpointOptions & {
    /** The model's prompt format; it must have labels. */
    readonly recipe: TextRecipe | TurnsRecipe;
    /**
     * The number of likeliest tokens to check: an integer from 2 up. Many servers report at most 20, OpenAI's text
     * completions 5.
     *
     * @defaultValue 20
     */
    readonly topLogprobs?: number;
    /** Whether to send several texts in one request. Conversations are always sent separately. @defaultValue true */
    readonly batches?: boolean;
  },
): RewardModel {
  expectOptions('logprobReward', options, `${endpointOptions} recipe topLogprobs batches`);
  const { recipe, topLogprobs = 20, batches = true } = options;
  expectRecipe(recipe);
  const { labels } = recipe;
  if (labels === undefined) {
    throw expectation('recipe', 'one with labels, as in `recipes.mathShepherd`', recipe.name);
  }
  expectInteger('topLogprobs', topLogprobs, { min: 2 });
  expectOneOf('batches', String(batches), ['true', 'false']);
  const endpoint = new Endpoint({ provider: 'openai-compatible' }, options);
  return servedReward(endpoint, {
    recipe,
    settings: { topLogprobs },
    ask: (sound, call) => ask(sound, { endpoint, recipe, labels, topLogprobs, batches, call }),
  });
}

type Labels = NonNullable<RewardRecipe['labels']>;

interface Asking {
  readonly endpoint: Endpoint;
  readonly recipe: RewardRecipe;
  readonly labels: Labels;
  readonly topLogprobs: number;
  readonly batches: boolean;
  readonly call: ModelCall;
}

async function ask(solutions: readonly Solution[], asking: Asking): Promise<Asked> {
  const asked = stepsAsked(solutions, asking.recipe);
  await leaveForSteps(asked, asking.call);
  const together = asking.recipe.kind === 'text' && asking.batches;
  const groups = together ? [asked] : asked.map((step) => [step]);
  const replies = await Promise.all(groups.map((steps) => complete(steps, asking)));
  return {
    scores: gathered(
      asked,
      replies.flatMap(({ scores }) => scores),
      solutions.length,
    ),
    usages: replies.map(({ usage }) => usage),
  };
}

async function complete(steps: readonly StepAsked[], asking: Asking) {
  const { endpoint, labels, topLogprobs, call } = asking;
  const { path, body } = requestOf(steps, asking);
  const { items, usage } = await endpoint.list(path, body, { field: 'choices', call });
  const scores = byIndex(items, steps.length).map((choice) => {
    if (choice === undefined)
      return invalid('Expected one completion per step, got none or several.');
    const request = { messages: [], topLogprobs };
    const tokens = logprobsOf(fieldsOf(choice)['logprobs'], { request, warn: () => {} });
    const [first] = tokens ?? [];
    if (first === undefined) throw withoutLogprobs(endpoint);
    return shareOfGood(first.top ?? [first], labels);
  });
  return { scores, usage };
}

function requestOf(
  steps: readonly StepAsked[],
  { endpoint, recipe, topLogprobs }: Asking,
): { readonly path: string; readonly body: JsonBody } {
  const common = { model: endpoint.modelId, max_tokens: 1, temperature: 0 };
  if (recipe.kind === 'text') {
    const prompts = steps.map(
      ({ solution, place }) => recipe.opening(solution.prompt) + textUntil(recipe, solution, place),
    );
    const [first = ''] = prompts;
    const prompt = prompts.length === 1 ? first : prompts;
    return { path: '/v1/completions', body: { ...common, prompt, logprobs: topLogprobs } };
  }
  const messages = steps.flatMap(({ solution, place }) =>
    chatMessages(recipe.turns(solution, place)),
  );
  const wanted = { logprobs: true, top_logprobs: topLogprobs };
  return { path: '/v1/chat/completions', body: { ...common, messages, ...wanted } };
}

function withoutLogprobs({ name }: Endpoint): ModelCallError {
  return new ModelCallError({
    kind: 'capability',
    message: `${name} reported no log-probabilities, which its scores are read from.`,
    parameter: 'logprobs',
  });
}

/** `p(good) / (p(good) + p(bad))`, or why it is unknown. */
function shareOfGood(told: readonly TokenAlternative[], { good, bad }: Labels): Failure | number {
  const massOf = (label: string) =>
    told
      .filter(({ token }) => bare(token) === bare(label))
      .reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
  const [right, wrong] = [massOf(good), massOf(bad)];
  const least = Math.exp(Math.min(0, ...told.map(({ logprob }) => logprob)));
  const doubt = right > 0 && wrong > 0 ? 0 : least / (right + wrong + least);
  if (doubt <= mostDoubt && right + wrong >= leastMass) return right / (right + wrong);
  const tokens = told.slice(0, 5).map(({ token }) => JSON.stringify(shortened(token, 60)));
  return {
    kind: 'parse',
    message: `Expected ${JSON.stringify(good)} and ${JSON.stringify(bad)} with a probability of ${leastMass} or more, got ${tokens.join(', ')}.`,
  };
}

/** A token without the mark of a leading space. */
function bare(token: string): string {
  return token.replaceAll('▁', ' ').trim();
}
