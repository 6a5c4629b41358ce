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
 * DFSDT, the depth-first search over tool calls of ToolLLM: one call at a time, as deep as it leads; on the way back a
 * node gets another one, which is to differ from those before it: the model is shown them, with what came of each, and
 * nothing below is told of that. It ends with the first answer, and asks for no values.
 *
 * A branch that gives up is an end with the reward 0, such as `done` of a `toolEnvironment` tells by `'failed'`. From an
 * end the search goes up two levels, and from a path that is too long one.
 *
 * Otherwise than in the reference code a turn of the model is one edge, where that counts thoughts, names and inputs;
 * the words of the prompt are ours. Its variant that compares siblings two by two is
 * `bestFirst({ order: 'depth', width: 2 })` with `pairwise`.
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
    // It is not asked, unless by an algorithm that is given beside it.
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
