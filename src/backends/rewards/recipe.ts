import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { Solution } from '../../contracts/reward-model.ts';

/** How questions and steps are formatted for a reward model, and where its scores are. */
export type RewardRecipe = TextRecipe | TurnsRecipe;

interface RecipeBase {
  /** The name in errors. */
  readonly name: string;
  /** What is scored. @defaultValue `'steps'` */
  readonly scores?: 'solution' | 'steps';
  /** Whether the score of a step is independent of later steps. @defaultValue false */
  readonly incremental?: boolean;
  /**
   * Texts that mark the end of a step or a turn. A solution that contains one would be ambiguous, and fails before any
   * call.
   */
  readonly marks: readonly string[];
  /** The tokens whose probabilities at the position of a score are the score; absent for models with a scoring head. */
  readonly labels?: {
    /** The token of a good step, as text. */
    readonly good: string;
    /** The token of a bad step, as text. */
    readonly bad: string;
    /** The ids of both in the vocabulary of the published model: good, bad. */
    readonly ids: readonly [good: number, bad: number];
  };
}

/** A solution as one text: the opening, the steps, the closing. */
export interface TextRecipe extends RecipeBase {
  /** Distinguishes kinds of recipes. */
  readonly kind: 'text';
  /** The text before the first step. */
  opening(prompt: string): string;
  /** The text of a step, up to the position of its score. `place` counts from 0. */
  step(text: string, place: number): string;
  /** The text after the last step. @defaultValue none */
  readonly closing?: string;
  /** The number of values that a score is read from: 1, or 2 for good and bad. */
  readonly columns: 1 | 2;
  /** The index of the value for good. */
  readonly good: 0 | 1;
  /**
   * The positions for which `/pooling` returns values: those of the scores, or all tokens. For all tokens the text is
   * sent as tokens, with each line and each line break tokenized separately.
   *
   * @defaultValue `'steps'`
   */
  readonly rows?: 'steps' | 'tokens';
  /** What the values are, for any server. @defaultValue the server's default */
  readonly activation?: 'logits' | 'probabilities';
}

/** A solution as a conversation that ends where the label is written. */
export interface TurnsRecipe extends RecipeBase {
  /** Distinguishes kinds of recipes. */
  readonly kind: 'turns';
  /** The conversation up to the label of the step at `place`, counted from 0. */
  turns(solution: Solution, place: number): readonly Message[];
  /** The tokens whose probabilities are the score. */
  readonly labels: NonNullable<RecipeBase['labels']>;
}

/** The whole text of a solution. */
export function textOf(recipe: TextRecipe, { prompt, steps }: Solution): string {
  return recipe.opening(prompt) + stepsText(recipe, steps) + (recipe.closing ?? '');
}

/** The text of a solution after its opening, up to the score position of one step. */
export function textUntil(recipe: TextRecipe, { steps }: Solution, place: number): string {
  return stepsText(recipe, steps.slice(0, place + 1));
}

function stepsText(recipe: TextRecipe, steps: readonly string[]): string {
  return steps.map((step, place) => recipe.step(step, place)).join('');
}

/** Why a solution does not fit a recipe; `undefined` if it does. */
export function faultOf(
  { name, marks }: RewardRecipe,
  { prompt, steps }: Solution,
): Failure | undefined {
  const texts = [prompt, ...steps];
  const place = texts.findIndex((text) => marks.some((mark) => text.includes(mark)));
  if (place < 0) return undefined;
  const mark = marks.find((candidate) => texts[place]?.includes(candidate));
  const where = place === 0 ? 'the question' : `step ${place}`;
  return {
    kind: 'invalid',
    message: `Expected ${where} not to contain ${JSON.stringify(mark)}, a mark of the recipe ${name}.`,
  };
}

/** Checks a recipe. @throws EspalierError `usage` if it is invalid. */
export function expectRecipe(recipe: unknown): asserts recipe is RewardRecipe {
  const kind: unknown =
    typeof recipe === 'object' && recipe !== null && Reflect.get(recipe, 'kind');
  if (kind === 'text' || kind === 'turns') return;
  throw expectation('recipe', 'a recipe, as in `recipes.qwenMathPrm`', recipe);
}

/** Checks that a recipe writes solutions as one text. @throws EspalierError `usage` if it does not. */
export function expectTextRecipe(recipe: RewardRecipe): asserts recipe is TextRecipe {
  expectRecipe(recipe);
  if (recipe.kind === 'text') return;
  throw new EspalierError(
    'usage',
    `Expected \`recipe\` to write a text, got \`${recipe.name}\`, which is a conversation; use logprobReward.`,
  );
}

/** The ids of the labels. @throws EspalierError `usage` if neither options nor recipe have them. */
export function labelIdsOf(options: {
  readonly recipe: RewardRecipe;
  readonly labelIds?: readonly [good: number, bad: number];
}): readonly [number, number] {
  const labelIds: unknown = options.labelIds ?? options.recipe.labels?.ids;
  const isSound =
    Array.isArray(labelIds) &&
    labelIds.length === 2 &&
    labelIds.every((id: unknown) => Number.isSafeInteger(id) && (id as number) >= 0);
  if (isSound) return labelIds as unknown as readonly [number, number];
  const expected = 'two token ids, because the recipe has no labels';
  throw expectation('labelIds', expected, options.labelIds);
}
