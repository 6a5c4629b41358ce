import { expectOptions } from '../base/expect-options.ts';
import type { Policy } from '../contracts/policy.ts';
import { expectParts } from '../prompting/prompt-parts.ts';
import { type PromptSet, type Texts, withTexts } from '../prompting/prompts.ts';
import { type FromModelOptions, fromModel } from './from-model/from-model.ts';
import { instruction } from './instruction.ts';
import { inNotation, withWholeSteps } from './whole-steps.ts';

const usual = {
  name: 'plan-step',
  version: 1,
  texts: {
    step: [
      'The steps are those of a plan. A step of the plan says in general words what is to be done next and why, as it',
      'would help with many problems of this kind; it calculates nothing and carries nothing out. When the plan needs',
      'no further step, write as the last step "Solution:" and behind it the whole solution, which carries out the',
      'plan from its beginning to the final answer.',
    ].join('\n'),
  },
} satisfies PromptSet;

/** Options of {@link planStep}. */
export interface PlanStepOptions<State = any, Action = any>
  extends Omit<FromModelOptions<State, Action>, 'samples' | 'prompts'> {
  /**
   * The number of samples drawn when an algorithm asks for all actions, at the root and elsewhere: integers from 1 up.
   *
   * @defaultValue 5 at the root, 3 elsewhere
   */
  readonly samples?: Partial<Readonly<Record<'others' | 'root', number>>>;
  /** The sampling temperature: a number from 0 up. @defaultValue 0.7 */
  readonly temperature?: number;
  /**
   * The maximum tokens of one action, including the solution: an integer from 1 up.
   *
   * @defaultValue 1024
   */
  readonly maxTokens?: number;
  /** Texts to replace: `step` describes a step. */
  readonly prompts?: Texts<'step'>;
}

/**
 * A policy for critical planning: actions are abstract plan steps, and the last one is the complete solution. It is
 * `fromModel` with an instruction after the prompt of the state, made for the notations of `reasoning`. Widths and
 * temperature are those of the paper.
 *
 * A solution, which begins with `Solution:`, may span several paragraphs. So the delimiter is not used as a stop text,
 * and only the first step of any other answer is read. Set `stop` for a model that writes on indefinitely.
 *
 * @see Wang et al., "CPL: Critical Plan Step Learning Boosts LLM Generalization in Reasoning Tasks", 2024.
 */
export function planStep<State = any, Action = any>(
  options: PlanStepOptions<State, Action>,
): Policy<State, Action> {
  expectOptions(
    'planStep',
    options,
    'samples temperature maxTokens prompts model topP stop seed promptParts repairs form vary prior',
  );
  const { temperature = 0.7, maxTokens = 1024, promptParts = [], samples = {} } = options;
  const { prompts, ...others } = options;
  expectOptions('samples', samples, 'root others');
  expectParts(promptParts);
  const set = withTexts(usual, prompts);
  const of = (count: number) =>
    fromModel<State, Action>({
      ...others,
      temperature,
      maxTokens,
      samples: count,
      promptParts: [instruction(set, () => 'step'), ...promptParts],
    });
  const root = of(samples.root ?? 5);
  const below = of(samples.others ?? 3);
  const policy: Policy<State, Action> = {
    ...root,
    propose: (node, request) => (node.kind === 'root' ? root : below).propose(node, request),
  };
  return inNotation(policy, (notation) => withWholeSteps(notation, isSolution));
}

function isSolution(text: string): boolean {
  return /^\W*solution\b\W*:/i.test(text);
}
