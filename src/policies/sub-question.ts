import { expectInteger } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Notation } from '../contracts/environment.ts';
import type { Policy } from '../contracts/policy.ts';
import { expectParts } from '../prompting/prompt-parts.ts';
import { type PromptSet, type Texts, withTexts } from '../prompting/prompts.ts';
import { type FromModelOptions, fromModel } from './from-model/from-model.ts';
import { instruction } from './instruction.ts';
import { inNotation, withWholeSteps } from './whole-steps.ts';

const closing = [
  'Begin that step with the words "Now we can answer the question:", repeat the question, and answer it without',
  'an empty line; end with the final answer in the form asked for above.',
].join('\n');

const usual = {
  name: 'sub-question',
  version: 1,
  texts: {
    step: [
      'Each step is one smaller question whose answer helps with the problem, and its answer, on one line:',
      'Sub-question: <question> Reply: <answer>',
      'It rests on the replies so far and asks for one thing that is not known yet. When the replies are enough, answer',
      `the problem itself. ${closing}`,
    ].join('\n'),
    last: `This is the last step: answer the problem itself from the replies so far. ${closing}`,
  },
} satisfies PromptSet;

/**
 * A policy that decomposes a problem: an action is a sub-question with its answer, and the last one, *Now we can answer
 * the question: …*, states the final answer. It is `fromModel` with an instruction after the prompt of the state, made
 * for the notations of `reasoning`. Width and temperature are those of the paper.
 *
 * Steps before the last are joined into one line, because `Answer: 4` on a separate line would count as the final
 * answer. The paper's confidence, the agreement of several answers to one sub-question, is a value: see
 * `selfConsistency`.
 *
 * @see Hao et al., "Reasoning with Language Model is Planning with World Model", 2023, its
 * settings for GSM8K.
 */
export function subQuestion<State = any>(
  options: Omit<FromModelOptions<State, string>, 'prompts'> & {
    /** The sampling temperature: a number from 0 up. @defaultValue 0.8 */
    readonly temperature?: number;
    /**
     * The depth at which solutions end: at the node above it, the original question is asked. An integer from 1 up.
     *
     * @defaultValue no depth: the model decides
     */
    readonly maxDepth?: number;
    /** Texts to replace: `step` describes a step, `last` the last one. */
    readonly prompts?: Texts<'last' | 'step'>;
  },
): Policy<State, string> {
  expectOptions(
    'subQuestion',
    options,
    'samples temperature maxDepth prompts model topP maxTokens stop seed promptParts repairs form vary prior',
  );
  const { samples = 4, temperature = 0.8, promptParts = [] } = options;
  const { prompts, maxDepth, ...others } = options;
  if (maxDepth !== undefined) expectInteger('maxDepth', maxDepth, { min: 1 });
  expectParts(promptParts);
  const set = withTexts(usual, prompts);
  const lastDepth = (maxDepth ?? Number.POSITIVE_INFINITY) - 1;
  const told = instruction<State, string, 'last' | 'step'>(set, ({ depth }) =>
    depth >= lastDepth ? 'last' : 'step',
  );
  const policy = fromModel({
    ...others,
    samples,
    temperature,
    promptParts: [told, ...promptParts],
  });
  return inNotation(policy, withLines);
}

/** Joins the non-empty lines. */
function oneLine(action: string): string {
  const lines = action.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

const isLast = (text: string) => /^\W*now (?:that )?we can answer\b/i.test(text);

/** Puts steps on one line, except those that answer the question itself. */
function withLines<State>(notation: Notation<State, string>): Notation<State, string> {
  const whole = withWholeSteps(notation, isLast, notation.delimiter);
  return {
    ...whole,
    parse(text, state) {
      const parsed = whole.parse(text, state);
      if ('failure' in parsed || isLast(parsed.action)) return parsed;
      return { action: oneLine(parsed.action) };
    },
  };
}
