// What the guides take as given: a small problem, a model, and what proposes and values with it.
import type { Evaluator, LanguageModel, Policy } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { gameOf24 } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';

type Game = ReturnType<typeof gameOf24.environment>;

export const environment: Game = gameOf24.environment(gameOf24.parse('4 9 10 13'));
export const model: LanguageModel = tiny();
export const policy: Policy = fromModel({ model });
export const evaluator: Evaluator = judge({ model });
