import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import type { RewardRecipe, TextRecipe } from './recipe.ts';

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
