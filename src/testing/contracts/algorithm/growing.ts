import type { Environment } from '../../../contracts/environment.ts';
import type { SearchAlgorithm, SearchOptions, SearchResult } from '../../../search/contracts.ts';
import { search } from '../../../search/search.ts';
import { treeToJson } from '../../../tree/serialize.ts';
import type { SearchTree } from '../../../tree/tree.ts';
import { manualClock } from '../../manual-clock.ts';
import type { Problem } from '../../problem.ts';
import { type ScriptedModel, scriptedModel } from '../../scripted-model.ts';
import { hashedAnswer, throughModel } from '../../through-model.ts';

/** Searches with its own clock, so that no test depends on the machine. */
export function grow<State, Action>(
  problem: Problem<State, Action>,
  algorithm: SearchAlgorithm,
  settings: Omit<Partial<SearchOptions<State, Action>>, 'algorithm' | keyof Problem<State, Action>>,
): Promise<SearchResult<State, Action>> {
  const { environment, policy, evaluator } = problem;
  const clock = manualClock({ auto: true });
  return search(environment, { clock, policy, evaluator, algorithm, ...settings });
}

/** A tree as text: equal trees have equal texts. */
export function textOf<State, Action>(
  tree: SearchTree<State, Action>,
  { environment }: { readonly environment: Environment<State, Action> },
): string {
  return JSON.stringify(treeToJson(tree, environment), undefined, 1);
}

/** The concurrencies to try an algorithm with. */
export function concurrencies({ concurrency }: SearchAlgorithm): readonly number[] {
  return concurrency === 'any' ? [1, 4, 16] : [1];
}

/** A model whose calls take different times, determined by a seed and the request. */
export function unevenModel(seed = 0): ScriptedModel {
  return scriptedModel({
    answer: hashedAnswer,
    latencyMs: (request, call) =>
      1 + (Math.floor(Number(hashedAnswer(request)) * 97 + seed * call) % 89),
  });
}

/** A problem behind a model. */
export function asked<State, Action>(
  problem: Problem<State, Action>,
  model: ScriptedModel = unevenModel(),
): Problem<State, Action> {
  return throughModel(problem, { model });
}
