import { expectBounds, expectNumber, expectOneOf } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { beam } from '../search/algorithms/beam.ts';
import { bestFirst } from '../search/algorithms/best-first.ts';
import { vote } from '../values/critic/vote.ts';
import { judge } from '../values/judge/judge.ts';
import { type Method, type MethodEntry, type MethodOptions, methodOptions } from './method.ts';

/** Options of {@link treeOfThoughts}. The defaults are those for the Game of 24, unless they say otherwise. */
export interface TreeOfThoughtsOptions extends MethodOptions {
  /** The search order. @defaultValue `'breadth-first'` */
  readonly order?: 'breadth-first' | 'depth-first';
  /**
   * How thoughts are generated: `propose` lists different ones in one completion; `sample` draws each separately.
   * @defaultValue `'propose'`
   */
  readonly generate?: 'propose' | 'sample';
  /** Thoughts per node: an integer from 1 up. @defaultValue 8, ours; 5 samples; 3 depth-first */
  readonly thoughts?: number;
  /**
   * How states are judged: by a `value` each, or by a `vote` on all states of a level, breadth-first only.
   * @defaultValue `'value'`
   */
  readonly evaluate?: 'value' | 'vote';
  /**
   * Which states are kept, breadth-first: the best ones, `greedy`; or a `sample` in proportion to their values.
   * @defaultValue `'greedy'`
   */
  readonly select?: 'greedy' | 'sample';
  /**
   * b, the number of states kept per level, breadth-first: an integer from 1 up. @defaultValue 5; with votes 1, as for
   * creative writing
   */
  readonly width?: number;
  /**
   * States with at most this value are pruned, depth-first: in [0, 1]. @defaultValue 0.0001: states that all answers
   * call impossible
   */
  readonly threshold?: number;
  /** T, the longest path, in thoughts: an integer from 1 up. @defaultValue 64; the paper uses 4, and 2 for writing */
  readonly maxDepth?: number;
  /** The temperature of thoughts and values; votes are drawn at 1. @defaultValue 0.7 */
  readonly temperature?: number;
}

/**
 * Tree of Thoughts: thoughts are proposed in a list or sampled, judged one by one or voted on, and searched
 * breadth-first with b states per level, or depth-first with the best child first.
 *
 * - Value: three answers *sure*, *likely* or *impossible*, worth 20, 1 and 0.001, here divided by 20, and averaged
 *   instead of summed; one answer if the model reports log-probabilities.
 * - Vote: five answers name the best state of a level; the value of a state is its share.
 * - Depth-first: at most three children per node; states that all answers call impossible are pruned. The 100 steps of
 * the paper are `budget: { simulations: 100 }`.
 *
 * Differences from the reference code: prompts come from the environment; the prompt asks for a number of thoughts;
 * equal thoughts are merged; states are sampled without replacement; ends leave the beam and stay in the tree;
 * depth-first, thoughts are ordered by value, where the paper's crosswords order them by their stated confidence.
 *
 * @see Yao et al., "Tree of Thoughts: Deliberate Problem Solving with Large Language Models", 2023 (arXiv
 * 2305.10601), section 3 and algorithms 1 and 2.
 */
export function treeOfThoughts(options: TreeOfThoughtsOptions): Method {
  const own = 'order generate thoughts evaluate select width threshold maxDepth temperature';
  expectOptions('treeOfThoughts', options, `${methodOptions} ${own}`);
  const { model, judgeModel = model, maxTokens = 256, temperature = 0.7, maxDepth = 64 } = options;
  const { order = 'breadth-first', generate = 'propose', select = 'greedy' } = options;
  const { evaluate = 'value', threshold = 1e-4 } = options;
  expectOneOf('order', order, ['breadth-first', 'depth-first']);
  expectOneOf('generate', generate, ['propose', 'sample']);
  expectOneOf('select', select, ['greedy', 'sample']);
  const isDeep = order === 'depth-first';
  // A depth-first search never sees all states of a level together, so they cannot be voted on.
  expectOneOf('evaluate', evaluate, isDeep ? ['value'] : ['value', 'vote']);
  expectNumber('threshold', threshold, { min: 0, max: 1 });
  const { width = evaluate === 'vote' ? 1 : 5 } = options;
  const { thoughts = isDeep ? 3 : generate === 'sample' ? 5 : 8 } = options;
  expectBounds({ thoughts, width, maxDepth });
  const form = generate === 'propose' ? 'several' : 'text';
  const scale = { sure: 1, likely: 1 / 20, impossible: 0.001 / 20 };
  return {
    name: treeOfThoughtsEntry.name,
    policy: fromModel({ model, maxTokens, temperature, form }),
    evaluator:
      evaluate === 'vote'
        ? vote({ model: judgeModel })
        : judge({ model: judgeModel, temperature, scale }),
    algorithm: isDeep
      ? bestFirst({ order: 'depth', width: thoughts, threshold, maxDepth })
      : beam({
          ...{ width, samples: thoughts, maxDepth },
          select: select === 'greedy' ? 'best' : 'sample',
          batch: evaluate === 'vote' ? 'level' : 'node',
        }),
  };
}

/** List entry of Tree of Thoughts. */
export const treeOfThoughtsEntry: MethodEntry = {
  name: 'tree-of-thoughts',
  title: 'Tree of Thoughts',
  paper:
    'Yao et al., Tree of Thoughts: Deliberate Problem Solving with Large Language Models, 2023, arXiv 2305.10601',
  create: treeOfThoughts,
  plain: (options) => ({
    policy: treeOfThoughts({ ...options, generate: 'sample' }).policy,
    evaluator: judge({ model: options.model }),
  }),
};
