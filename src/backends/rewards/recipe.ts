import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { Solution } from '../../contracts/reward-model.ts';

/** How questions and steps become what a reward model reads, and where its scores stand. */
export type RewardRecipe = TextRecipe | TurnsRecipe;

interface RecipeBase {
  /** What it is called in errors. */
  readonly name: string;
  /** What gets a score. @defaultValue `'steps'` */
  readonly scores?: 'solution' | 'steps';
  /** Whether the score of a step depends on nothing behind it. @defaultValue false */
  readonly incremental?: boolean;
  /**
   * Texts that mark where a step or a turn ends. A solution that holds one cannot be told from another one,
   * and fails before anybody is asked.
   */
  readonly marks: readonly string[];
  /** The tokens whose probabilities at the place of a score are the score; none where the model has a head of its own. */
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
  /** Tells kinds of recipes apart. */
  readonly kind: 'text';
  /** What stands before the first step. */
  opening(prompt: string): string;
  /** A step as it stands behind what comes before it, up to the place of its score. `place` counts from 0. */
  step(text: string, place: number): string;
  /** What stands behind the last step. @defaultValue nothing */
  readonly closing?: string;
  /** How many numbers a score is read from: 1, or 2 that are about good and bad. */
  readonly columns: 1 | 2;
  /** Which of them is about good. */
  readonly good: 0 | 1;
  /**
   * For which places `/pooling` gives numbers: those of the scores, or all tokens. For all tokens the text is
   * sent as tokens, each line and the end of each line by itself.
   *
   * @defaultValue `'steps'`
   */
  readonly rows?: 'steps' | 'tokens';
  /** What the numbers are, whatever the server. @defaultValue as the server does */
  readonly activation?: 'logits' | 'probabilities';
}

/** A solution as a conversation that ends where the label is to be written. */
export interface TurnsRecipe extends RecipeBase {
  /** Tells kinds of recipes apart. */
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

/** The text of a solution behind its opening, up to the place of the score of one step. */
export function textUntil(recipe: TextRecipe, { steps }: Solution, place: number): string {
  return stepsText(recipe, steps.slice(0, place + 1));
}

function stepsText(recipe: TextRecipe, steps: readonly string[]): string {
  return steps.map((step, place) => recipe.step(step, place)).join('');
}

/** Why a solution cannot be written down by a recipe; `undefined` where it can. */
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
    message: `Expected ${where} not to hold ${JSON.stringify(mark)}, a mark of the recipe ${name}.`,
  };
}

/** Checks a recipe. @throws EspalierError `usage` where it is none. */
export function expectRecipe(recipe: unknown): asserts recipe is RewardRecipe {
  const kind: unknown =
    typeof recipe === 'object' && recipe !== null && Reflect.get(recipe, 'kind');
  if (kind === 'text' || kind === 'turns') return;
  throw expectation('recipe', 'a recipe, as in `recipes.qwenMathPrm`', recipe);
}

/** Checks that a recipe writes a solution as one text. @throws EspalierError `usage` where it does not. */
export function expectTextRecipe(recipe: RewardRecipe): asserts recipe is TextRecipe {
  expectRecipe(recipe);
  if (recipe.kind === 'text') return;
  throw new EspalierError(
    'usage',
    `Expected \`recipe\` to write a text, got \`${recipe.name}\`, which is a conversation; use logprobReward.`,
  );
}

/** The ids of the labels. @throws EspalierError `usage` where neither options nor recipe have them. */
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
