import type { ModelCall } from '../../contracts/language-model.ts';
import type { Solution } from '../../contracts/reward-model.ts';
import type { Endpoint } from '../transport/endpoint.ts';
import { fieldsOf } from '../transport/json.ts';
import type { TextRecipe } from './recipe.ts';

const lineBreak = '\n';

/**
 * Solutions as tokens, each line and each line break separately: otherwise a tokenizer may join the end of a step with
 * the text before it, and the position of its score is lost. `places` has the index of the score token of each step.
 */
export async function tokenised(
  recipe: TextRecipe,
  solutions: readonly Solution[],
  asking: { readonly endpoint: Endpoint; readonly call: ModelCall },
): Promise<readonly { readonly input: readonly number[]; readonly places: readonly number[] }[]> {
  const known = new Map<string, Promise<readonly number[]>>();
  const tokensOf = (text: string): Promise<readonly number[]> => {
    const found = known.get(text) ?? tokenise(text, asking);
    known.set(text, found);
    return found;
  };
  return Promise.all(
    solutions.map(async ({ prompt, steps }) => {
      const opening = await tokensOf(recipe.opening(prompt));
      const parts = await Promise.all(
        steps.map((step, place) => tokensOfLines(recipe.step(step, place), tokensOf)),
      );
      const input = [...opening];
      const places: number[] = [];
      for (const part of parts) {
        for (const token of part) input.push(token);
        places.push(input.length - 1);
      }
      return { input, places };
    }),
  );
}

async function tokensOfLines(
  text: string,
  tokensOf: (text: string) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const pieces = text.split(/(\n)/).filter((piece) => piece !== '');
  return (await Promise.all(pieces.map(tokensOf))).flat();
}

async function tokenise(
  prompt: string,
  { endpoint, call }: { readonly endpoint: Endpoint; readonly call: ModelCall },
): Promise<readonly number[]> {
  const body = { model: endpoint.modelId, prompt, add_special_tokens: false };
  const { tokens } = fieldsOf(await endpoint.post('/tokenize', body, call));
  const isSound =
    Array.isArray(tokens) &&
    tokens.length > 0 &&
    tokens.every((token) => Number.isSafeInteger(token)) &&
    (prompt !== lineBreak || tokens.length === 1);
  if (isSound) return tokens as readonly number[];
  throw endpoint.malformed('no tokens for a text', call);
}
