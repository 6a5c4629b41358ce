import type { JsonValue } from '../../contracts/json.ts';
import type { Completion } from '../../contracts/language-model.ts';
import { fill, type PromptSet } from '../../prompting/prompts.ts';
import type { Reading } from '../../prompting/read-reply.ts';

/** What a form is made for. */
export interface FormSettings {
  /** Whether the model tells log-probabilities. */
  readonly logprobs: boolean;
  /** Whether a reason is wanted, where the caller says. */
  readonly reason: boolean | undefined;
  /** What is judged by, in words. */
  readonly rubric: string | undefined;
}

/** A way to ask for a judgement, and to read it. */
export interface JudgeForm {
  /** The texts it asks with. */
  readonly prompts: PromptSet;
  /** Whether the value is read from log-probabilities. */
  readonly readsTokens: boolean;
  /** Whether the reply gives a reason. */
  readonly reason: boolean;
  /** The limit on the tokens of a reply, unless the caller says otherwise. */
  readonly maxTokens: number;
  /** The schema of a reply that is JSON. */
  readonly schema?: JsonValue;
  /** The least and the greatest score. @defaultValue none: scores are values */
  readonly range?: readonly [number, number];
  /** What a reply is expected to be, for error messages. */
  readonly expected: string;
  /** What is asked behind a state, or behind the state in which a step is proposed. */
  request(step: string | undefined): string;
  /** What a reply says, or nothing where it cannot be read. */
  read(completion: Completion): Reading | undefined;
}

/** The texts with which the request of most forms begins. */
export type JudgedText = 'action' | 'rubric' | 'state';

/** Texts with which most forms begin. */
export const judgedTexts: Readonly<Record<JudgedText, string>> = {
  state: [
    'Do not write a step. Judge the work above as it stands: whether what was done so far is right, and how far',
    'it leads towards the goal.',
  ].join(' '),
  action: [
    'Proposed step: {step}',
    '',
    [
      'Do not write a step. Judge the work above as it will stand once the proposed step is taken: whether it is',
      'right, and how far it leads towards the goal.',
    ].join(' '),
  ].join('\n'),
  rubric: 'Judge by this:\n{rubric}',
};

/** What a request is made of besides its prompts. */
export interface RequestParts {
  /** The step that is judged, where it is not the state. */
  readonly step: string | undefined;
  /** What is judged by. */
  readonly rubric: string | undefined;
  /** What follows: the question and the form of the answer. */
  readonly blocks: readonly string[];
}

/** A request: what is judged, by what, and what follows. */
export function requestWith(
  texts: Readonly<Record<JudgedText, string>>,
  { step, rubric, blocks }: RequestParts,
): string {
  return [
    step === undefined ? texts.state : fill(texts.action, { step }),
    ...(rubric === undefined ? [] : [fill(texts.rubric, { rubric })]),
    ...blocks,
  ].join('\n\n');
}
