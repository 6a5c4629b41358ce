import { canonicalJson } from '../base/canonical-json.ts';
import { expectArray, expectBounds, expectFunction, expectNumber } from '../base/expect.ts';
import { expectModel } from '../base/expect-capabilities.ts';
import { expectOptions } from '../base/expect-options.ts';
import { provenanceOf, provenanceOfModel } from '../base/provenance.ts';
import { mean } from '../base/stats/mean.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { SearchNode } from '../contracts/node.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { jsonAnswers, objectSchema } from '../prompting/object-schema.ts';
import { askBehind } from '../prompting/prompt-parts.ts';
import { fill, promptsOf } from '../prompting/prompts.ts';
import { fieldsIn, unreadable } from '../prompting/read-reply.ts';
import { astar } from '../search/algorithms/astar.ts';
import { actionsTo } from '../tree/summary.ts';
import { evaluateEach, subjectOf } from '../values/evaluate-each.ts';
import { judge } from '../values/judge/judge.ts';
import { requestSettings } from '../values/request-settings.ts';
import { type Method, type MethodEntry, type MethodOptions, methodOptions } from './method.ts';

/** Options of {@link toolChainStar}. The paper does not publish its parameter values: the defaults are ours. */
export interface ToolChainStarOptions<Action = any> extends MethodOptions {
  /**
   * M, plans known to work: demonstrations, or the `actions` of earlier solved results, added between searches.
   *
   * @defaultValue none
   */
  readonly plans?: readonly (readonly Action[])[];
  /**
   * The part of an action compared with the plans, such as its tool's name. @defaultValue the entire action, as JSON
   */
  readonly compareBy?: (action: Action) => string;
  /** α, the weight of the plans in the cost so far: in [0, 1]. @defaultValue 0.5 */
  readonly alpha?: number;
  /** β, the weight of the plans in the cost to come: in [0, 1]. @defaultValue 0.5 */
  readonly beta?: number;
  /** k, samples per node: an integer from 1 up. @defaultValue 5 */
  readonly samples?: number;
  /** The longest path, in edges: an integer from 1 up. @defaultValue 64 */
  readonly maxDepth?: number;
}

/**
 * ToolChain\*: A\* over the tool calls of an agent, with costs from plans that worked before, and from the model's own
 * agreement and foresight.
 *
 * - A step to node n costs `(1 − g₁)^α · (1 − g₂)^(1 − α)`: g₁ is the longest common subsequence of the actions to n
 *   and a plan, over the length of the shorter one, for the most similar plan; g₂ is the share of the samples at its
 *   parent that are this action.
 * - To come: `h = (1 − h₁)^β · (1 − h₂)^(1 − β)`: h₁ is the mean place of the action in the plans that have it, over their
 *   lengths; h₂ is the number of actions taken over that of the complete plan that the model imagines.
 *
 * h is not admissible, so results do not claim to be optimal, and costs add up, so short paths come first.
 * Without plans g₁ and h₁ are 0. An action in no plan has position 0, where the paper uses the most similar one; only
 * equal actions are merged, not similar ones; a state is kept on its cheapest path.
 *
 * @see Zhuang et al., "ToolChain*: Efficient Action Space Navigation in Large Language Models with A* Search", 2023
 * (arXiv 2310.13227).
 */
export function toolChainStar<State = any, Action = any>(
  options: ToolChainStarOptions<Action>,
): Method<State, Action> {
  const own = 'plans compareBy alpha beta samples maxDepth';
  expectOptions('toolChainStar', options, `${methodOptions} ${own}`);
  const { model, judgeModel = model, maxTokens = 256 } = options;
  const { plans = [], compareBy = jsonOf, alpha = 0.5, beta = 0.5 } = options;
  const { samples = 5, maxDepth = 64 } = options;
  expectArray('plans', plans);
  for (const plan of plans) expectArray('plans', plan);
  expectFunction('compareBy', compareBy);
  expectNumber('alpha', alpha, { min: 0, max: 1 });
  expectNumber('beta', beta, { min: 0, max: 1 });
  expectBounds({ samples, maxDepth });
  const known = plans.map((plan) => plan.map(compareBy));
  return {
    name: toolChainStarEntry.name,
    policy: fromModel({ model, maxTokens }),
    evaluator: imagination(judgeModel, (action, progress) => {
      const place = action === undefined ? 0 : placeIn(known, compareBy(action));
      return (1 - place) ** beta * (1 - progress) ** (1 - beta);
    }),
    algorithm: astar({
      width: samples,
      maxDepth,
      cost: (node) => {
        const actions = actionsTo(node as SearchNode<State, Action>).map(compareBy);
        const likeness = likenessTo(known, actions);
        return (1 - likeness) ** alpha * (1 - Math.min(1, node.prior)) ** (1 - alpha);
      },
    }),
  };
}

function jsonOf(action: unknown): string {
  return canonicalJson('action', action);
}

/** g₁: the similarity of the actions to the most similar plan. */
function likenessTo(plans: readonly (readonly string[])[], actions: readonly string[]): number {
  const likenesses = plans.map(
    (plan) => commonLength(plan, actions) / Math.max(1, Math.min(plan.length, actions.length)),
  );
  return Math.max(0, ...likenesses);
}

/** The length of the longest common subsequence. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let before = b.map(() => 0);
  for (const item of a) {
    const row: number[] = [];
    for (const [place, other] of b.entries()) {
      const [left = 0, above = 0, diagonal = 0] = [row.at(-1), before[place], before[place - 1]];
      row.push(item === other ? diagonal + 1 : Math.max(left, above));
    }
    before = row;
  }
  return before.at(-1) ?? 0;
}

/** h₁: the mean relative position of the action in the plans that contain it, 1 at their end. */
function placeIn(plans: readonly (readonly string[])[], action: string): number {
  const places = plans.flatMap((plan) => {
    const place = plan.indexOf(action);
    return place < 0 ? [] : [(place + 1) / plan.length];
  });
  return places.length === 0 ? 0 : mean(places);
}

const prompts = {
  name: 'tool-chain-star',
  version: 1,
  texts: {
    plan: [
      'Do not take a step. Imagine the whole plan from here to the end: every step that is still to be taken, in order,',
      'each in a few words; none where nothing is left to do.',
    ].join(' '),
    answer: jsonAnswers('"steps": ["<text>"]').answer,
  },
};

/** Values a state by 1 − h, from its action and the progress according to the imagined plan. */
function imagination<State, Action>(
  model: MethodOptions['model'],
  costToCome: (action: Action | undefined, progress: number) => number,
): Evaluator<State, Action> {
  expectModel('judgeModel', model);
  const schema = objectSchema({ steps: { type: 'array', items: { type: 'string' } } });
  const settings = requestSettings(model, { samples: 1, maxTokens: 256, schema });
  const { plan, answer } = prompts.texts;
  return {
    ...provenanceOf({ needsNotation: ['toolChainStar'] }, provenanceOfModel(model, settings), {
      prompts: promptsOf(prompts),
    }),
    ...evaluateEach<State, Action>('state', (request) => async (sight) => {
      const { depth, terminal, action } = sight.place;
      // Whether an end is good is up to the environment: this is the cost to come, not a score.
      if (terminal) return { value: 1 - costToCome(action, 1), about: 'action' };
      const { messages, tools } = await subjectOf(sight, [], request);
      const asked = askBehind(messages, `${plan}\n\n${fill(answer, {})}`);
      const { completions } = await request.context.generate(model, {
        ...settings,
        ...tools,
        messages: asked,
      });
      const steps = completions[0] && fieldsIn(completions[0], 'steps')?.['steps'];
      if (!Array.isArray(steps)) return unreadable('a plan under `steps`', completions);
      return { value: 1 - costToCome(action, depth / Math.max(1, depth + steps.length)) };
    }),
  };
}

/** List entry of ToolChain*. */
export const toolChainStarEntry: MethodEntry = {
  name: 'tool-chain-star',
  title: 'ToolChain*',
  paper:
    'Zhuang et al., ToolChain*: Efficient Action Space Navigation in Large Language Models with A* Search, 2023, arXiv 2310.13227',
  create: toolChainStar,
  plain: ({ model }) => ({ evaluator: judge({ model }) }),
};
