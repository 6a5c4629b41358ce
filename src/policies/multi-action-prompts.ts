import type { PromptSet } from '../prompting/prompts.ts';

/**
 * The kinds of actions of rStar, from A1 to A5: one thought, the remaining solution, a sub-question with its answer, a
 * second answer to the last sub-question, the problem rephrased.
 */
export type ActionKind = 'thought' | 'finish' | 'subQuestion' | 'answerAgain' | 'rephrase';

/** All kinds, from A1 to A5. */
export const actionKinds: readonly ActionKind[] = [
  'thought',
  'finish',
  'subQuestion',
  'answerAgain',
  'rephrase',
];

/** The texts that come with `multiAction`. */
export const multiActionPrompts: PromptSet<ActionKind | `${ActionKind}Label`> = {
  name: 'multi-action',
  version: 1,
  texts: {
    thought:
      'Write one single thought that brings the solution a little further. Do not solve the rest of the problem with it.',
    finish: [
      'Do not stop after one step: write the whole rest of the solution, from where it stands to the final answer,',
      'without an empty line.',
    ].join('\n'),
    subQuestion: [
      'Let the step be the next smaller question whose answer is needed, and its answer, on one line:',
      '<question> Reply: <answer>',
      'If nothing smaller is left to be asked, ask the problem itself and end with the final answer.',
    ].join('\n'),
    answerAgain: [
      'The reply to the last sub-question may be wrong. Let the step be that question once more with a new reply, on one',
      'line: think it through in small stages, without regard to the old reply, and then give the result.',
    ].join('\n'),
    rephrase: [
      'Solve nothing yet. Let the step put the problem into other words: first what is given, one condition after the',
      'other, then what is asked for. Leave nothing out and add nothing.',
    ].join('\n'),
    thoughtLabel: 'Thought:',
    finishLabel: 'Solution:',
    subQuestionLabel: 'Sub-question:',
    answerAgainLabel: 'Second reply:',
    rephraseLabel: 'Rephrased:',
  },
};
