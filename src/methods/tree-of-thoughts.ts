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
  /** In which order the tree is searched. @defaultValue `'breadth-first'` */
  readonly order?: 'breadth-first' | 'depth-first';
  /** How thoughts come: `propose` lists different ones in one completion; `sample` draws each by itself. @defaultValue `'propose'` */
  readonly generate?: 'propose' | 'sample';
  /** How many thoughts a node is asked for: an integer from 1 up. @defaultValue 8, ours; 5 samples; 3 depth-first */
  readonly thoughts?: number;
  /** How states are judged: a `value` each; or by a `vote` on all of a level, breadth-first only. @defaultValue `'value'` */
  readonly evaluate?: 'value' | 'vote';
  /** Which states go on, breadth-first: the best ones, `greedy`; or a `sample` in proportion to their values. @defaultValue `'greedy'` */
  readonly select?: 'greedy' | 'sample';
  /** b, how many states of a level go on, breadth-first: an integer from 1 up. @defaultValue 5; with votes 1, as for creative writing */
  readonly width?: number;
  /** The value up to which a state is given up, depth-first: in [0, 1]. @defaultValue 0.0001: those are that all answers call impossible */
  readonly threshold?: number;
  /** T, the longest path, in thoughts: an integer from 1 up. @defaultValue 64: until an end; the paper has 4, and 2 for writing */
  readonly maxDepth?: number;
  /** The temperature of thoughts and values; votes are drawn at 1. @defaultValue 0.7 */
  readonly temperature?: number;
}

/**
 * Tree of Thoughts: thoughts are proposed in a list or sampled, judged one by one or voted on, and searched
 * breadth-first with b states a level, or depth-first with the best child first.
 *
 * - Value: three answers *sure*, *likely* or *impossible*, worth 20, 1 and 0.001, here divided by 20, and their mean in
 *   place of the sum; one answer where the model tells log-probabilities.
 * - Vote: five answers name the best of all states of a level; a state is worth its share.
 * - Depth-first: at most three children, and no state goes on that all answers call impossible. The 100 steps of the
 *   paper are `budget: { simulations: 100 }`.
 *
 * Differences from the reference code: prompts are the environment's own; the number of thoughts in a list is asked for;
 * equal thoughts are one; a sample of states is drawn without putting back; ends leave the beam and stay in the
 * tree; depth-first, thoughts are ordered by their values, where the crosswords of the paper order them by the
 * confidence that came with them.
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
  // Of two branches of a depth-first search no level is ever seen together.
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
