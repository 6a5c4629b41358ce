import { expectOptions } from '../base/expect-options.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { siblings } from '../policies/siblings.ts';
import { type DepthFirstOptions, depthFirst } from '../search/algorithms/depth-first.ts';
import { judge } from '../values/judge/judge.ts';
import { type Method, type MethodEntry, type MethodOptions, methodOptions } from './method.ts';

const prompts = {
  known:
    'These steps were tried at this very place before, and did not lead to the end:\n{siblings}\nTake a step that differs from all of them.',
  sibling: '- {action}\n  Outcome: {outcome}',
};

/**
 * DFSDT, the depth-first search over tool calls of ToolLLM: one call at a time, as deep as it leads; on backtracking, a
 * node gets another call that must differ from the earlier ones: the model sees those, with their results, but not in
 * prompts further below. It ends with the first answer, and needs no values.
 *
 * A branch that gives up is a terminal node with reward 0, as when `done` of a `toolEnvironment` returns `'failed'`.
 * From an end the search backtracks two levels, from a path that is too long one.
 *
 * Unlike in the reference code, which counts thoughts, names and inputs separately, a turn of the model is one edge;
 * the prompt's wording is ours. Its variant that compares siblings pairwise is `bestFirst({ order: 'depth', width: 2
 * })` with `pairwise`.
 *
 * @see Qin et al., "ToolLLM: Facilitating Large Language Models to Master 16000+ Real-world APIs", 2023 (arXiv
 * 2307.16789), section 3, and its reference code.
 */
export function dfsdt(
  options: MethodOptions & Pick<DepthFirstOptions, 'answers' | 'maxDepth' | 'width'>,
): Method {
  expectOptions('dfsdt', options, `${methodOptions} width maxDepth answers`);
  const { model, judgeModel = model, maxTokens = 256, ...shape } = options;
  // The code keeps 1,024 characters of what a tool returned.
  const promptParts = [siblings({ prompts, characters: 1_024 })];
  return {
    name: dfsdtEntry.name,
    policy: fromModel({ model, maxTokens, promptParts }),
    // Only used if another algorithm replaces the method's own.
    evaluator: judge({ model: judgeModel }),
    algorithm: depthFirst(shape),
  };
}

/** List entry of DFSDT. */
export const dfsdtEntry: MethodEntry = {
  name: 'dfsdt',
  title: 'DFSDT (ToolLLM)',
  paper:
    'Qin et al., ToolLLM: Facilitating Large Language Models to Master 16000+ Real-world APIs, 2023, arXiv 2307.16789',
  create: dfsdt,
};
