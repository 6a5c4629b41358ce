import type { JsonValue } from '../contracts/json.ts';
import type { PromptSet } from '../prompting/prompts.ts';

/** The texts of {@link contrastive}. */
export interface ContrastiveTexts {
  /** Asks what a step will lead to, behind the prompt of the state: slot `{action}`. */
  readonly expect: string;
  /** Shows what it led to and asks for the lesson: slots `{outcome}`, `{end}`, `{words}`, `{form}`. */
  readonly learn: string;
  /**
   * Shows a judgement and what came of it, behind the prompt of the state: slots `{judgement}`, `{reason}`,
   * `{outcome}`, `{end}`, `{words}`, `{form}`.
   */
  readonly judged: string;
  /** What stands in for a reason where a judge gave none. */
  readonly noReason: string;
  /** Takes the place of what followed, where the task ended. */
  readonly ended: string;
  /** How it ended, where the outcome is above a half. */
  readonly solved: string;
  /** How it ended otherwise. */
  readonly unsolved: string;
  /** Asks for the lesson as JSON. */
  readonly asJson: string;
  /** Asks for the lesson as text. */
  readonly asText: string;
}

/** What a reflection is asked with. */
export const contrastivePrompts: PromptSet<keyof ContrastiveTexts> = {
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

/** The schema of a lesson. */
export const lessonSchema: JsonValue = {
  type: 'object',
  properties: { lesson: { type: 'string' } },
  required: ['lesson'],
  additionalProperties: false,
};
