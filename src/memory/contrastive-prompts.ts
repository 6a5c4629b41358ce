import type { PromptSet } from '../prompting/prompts.ts';

/** The texts of the requests for reflections. */
export const contrastivePrompts: PromptSet<
  'asJson' | 'asText' | 'ended' | 'expect' | 'judged' | 'learn' | 'noReason' | 'solved' | 'unsolved'
> = {
  name: 'contrastive-reflection',
  version: 1,
  texts: {
    expect: [
      'The next step that will be taken here is:',
      '{action}',
      '',
      'Do not write a step now. Say in two or three sentences what you expect it to lead to, and whether it brings the goal nearer.',
    ].join('\n'),
    learn: [
      'The step was taken. What it led to:',
      '{outcome}',
      '',
      '{end}',
      '',
      'Compare this with what you expected. What did you not foresee, and what should be done differently in situations like this one?',
      'Write one lesson of at most {words} words for other problems of this kind: general, without naming a particular step, number or name from above.',
      '{form}',
    ].join('\n'),
    judged: [
      'Earlier the chance to reach the goal from here was judged to be {judgement} %.',
      'The reason given: {reason}',
      '',
      'What came of it:',
      '{outcome}',
      '',
      '{end}',
      '',
      'Do not write a step now. Which part of the judgement was misleading, and what should a judge look for in situations like this one?',
      'Write one lesson for judges, of at most {words} words: general, without naming a particular step, number or name from above.',
      '{form}',
    ].join('\n'),
    noReason: 'none',
    ended: 'The task ended here.',
    solved: 'In the end the task was solved.',
    unsolved: 'In the end the task was not solved.',
    asJson: 'Answer in JSON, and write nothing else: {{"lesson": "<text>"}}',
    asText: 'Write it on one line that begins with "LESSON:", as the last line of your answer.',
  },
};
