// The parts that the guide leaves to its reader.
import { type LanguageModel, mcts, type SearchTree, search } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { gameOf24 } from 'espalier/environments';
import { uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';

export const small: LanguageModel = tiny();
export const large: LanguageModel = tiny({ seed: 1 });

const environment = gameOf24.environment(gameOf24.parse('1 2 3 4'));
const found = await search(environment, {
  policy: uniform(environment.actions),
  evaluator: heuristic(({ numbers }) => 1 / numbers.length),
  algorithm: mcts(),
  budget: { simulations: 300 },
});
export const tree: SearchTree = found.tree;
