/** One search for all models: the same puzzle, the same 64 simulations. */

import type { LanguageModel } from '../../../src/contracts/language-model.ts';
import { gameOf24 } from '../../../src/environments/index.ts';
import { mcts, renderTree, type Spend, search, valueWidening } from '../../../src/index.ts';
import { fromModel } from '../../../src/policies/index.ts';
import { judge } from '../../../src/values/index.ts';

const environment = gameOf24.environment(gameOf24.parse('2 4 6 7'));
const { notation } = environment;

/** What the model that comes with the package answers with ten tokens and more, and not always the same. */
export const prompt: string = notation
  .prompt(environment.reset().state)
  .map(({ content }) => content)
  .join('\n\n');

/** What a search found, as far as tests look at it. */
export interface Found {
  readonly stopReason: string;
  readonly exceeded: string | undefined;
  readonly spend: Spend;
  /** The whole tree as text. */
  readonly tree: string;
  /** How many steps the model proposed that the rules allow. */
  readonly legal: number;
}

/** Searches with a model as its policy and its judge. */
export async function searchWith(model: LanguageModel, concurrency: number): Promise<Found> {
  const { tree, stopReason, exceeded, spend } = await search(environment, {
    policy: fromModel({ model }),
    evaluator: judge({ model }),
    algorithm: mcts({ width: 2, evaluate: 'all', widening: valueWidening() }),
    budget: { simulations: 64 },
    seed: 3,
    order: 'issued',
    concurrency,
  });
  const nodes = [...tree.nodes()];
  return {
    ...{ stopReason, exceeded, spend },
    tree: renderTree(tree, { format: notation.format }),
    legal: nodes.filter((node) => node.depth > 0 && node.failure === undefined).length,
  };
}
