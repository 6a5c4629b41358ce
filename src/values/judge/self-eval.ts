import { expectOptions } from '../../base/expect-options.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Completion } from '../../contracts/language-model.ts';
import { likelyEnough } from '../../prompting/answer-words.ts';
import { fill, type PromptSet, type Texts, withTexts } from '../../prompting/prompts.ts';
import { answerOf, type Reading } from '../../prompting/read-reply.ts';
import type { JudgingOptions } from '../judging-options.ts';
import { byForm } from './by-form.ts';
import { shareOf } from './forms.ts';

const choices = [
  '(A) incorrect',
  '(B) correct',
  'Answer with one letter and nothing else: A or B.',
].join('\n');

const selfEvalPrompts = {
  name: 'self-eval',
  version: 1,
  texts: {
    state: [
      'Do not write a step. Look at the work so far, its last step above all: does each step follow from what',
      `stands before it, and does the work head for the goal?\n${choices}`,
    ].join(' '),
    action: [
      'Proposed step: {step}\n\nDo not write a step. Look at the proposed one: does it follow from what stands',
      `before it, and does the work head for the goal with it?\n${choices}`,
    ].join(' '),
  },
} satisfies PromptSet;

/**
 * Values nodes by a model's confidence in its own work, P(True): it is asked whether the work is (A) incorrect
 * or (B) correct, and the value is
 *
 * `C = P(B) / (P(A) + P(B))`,
 *
 * where P(B) is the mass of all variants of the letter, such as `B` and ` B`, at the first position where one of the
 * letters was written. Without log-probabilities, C is the share of B among the samples. An answer without a letter, or
 * whose letters have a probability below 0.1 in all, is ignored and counted in `unscored`; if none counts, the node
 * fails.
 *
 * MCTS-DPO shows the known solution beside the question, divides C by the depth and adds ±1 at a right or wrong
 * end; here the solution is unknown, and the use of C is up to the method.
 *
 * @see Kadavath et al., "Language Models (Mostly) Know What They Know", 2022.
 * @see Xie et al., "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning", 2024
 * @throws EspalierError `usage` if an option is out of range.
 */
export function selfEval<State = any, Action = any>(
  options: JudgingOptions<State, Action> & {
    /**
     * The number of answers to average: an integer from 1 up.
     *
     * @defaultValue 1 if the model reports log-probabilities, else 8
     */
    readonly samples?: number;
    /** Texts to replace: `state`, and `action` with the slot `{step}`. A is for wrong, B for right. */
    readonly prompts?: Texts<'action' | 'state'>;
  },
): Evaluator<State, Action> {
  expectOptions(
    'selfEval',
    options,
    'model about samples maxTokens temperature promptParts prompts',
  );
  return byForm('selfEval', options, (readsTokens) => {
    const prompts = withTexts(selfEvalPrompts, options.prompts);
    const { texts } = prompts;
    return {
      prompts,
      readsTokens,
      reason: false,
      samples: readsTokens ? 1 : 8,
      maxTokens: 4,
      expected: readsTokens ? `A or B ${likelyEnough}` : 'A or B',
      request: (step) =>
        step === undefined ? fill(texts.state, {}) : fill(texts.action, { step }),
      read: readConfidence,
    };
  });
}

const letters = ['A', 'B'];

function readConfidence(completion: Completion): Reading | undefined {
  if (completion.logprobs !== undefined) return shareOf('B', letters, completion);
  const read = answerOf(completion, 'answer', { answers: letters });
  return read && { score: read.answer === 'B' ? 1 : 0 };
}
