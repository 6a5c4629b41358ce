import { expectation } from '../../base/expect.ts';
import type { Completion, Message } from '../../contracts/language-model.ts';
import { isSame, likelyEnough, oneOf, sharesOf, wordIn } from '../../prompting/answer-words.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import { askBehind } from '../subject.ts';
import type { FormSettings, JudgeForm } from './form.ts';

/** The words of a judgement, and the value in [0, 1] of each. Two or more, all different. */
export type JudgementScale = Readonly<Record<string, number>>;

/** The texts of a judge that answers with a word of a scale. */
export type ScaleText = 'action' | 'reason' | 'rubric' | 'state';

/** One word of a few: the usual form. */
export interface ScaleForm {
  /** The form of an answer: a word of a scale. */
  readonly form?: 'scale';
  /** The words it may answer with. @defaultValue sure 1, likely 0.5, impossible 0 */
  readonly scale?: JudgementScale;
  /** Texts to replace: `state`, `action` with the slot `{step}`, both with `{words}`; `reason`; `rubric`. */
  readonly prompts?: Partial<Readonly<Record<ScaleText, string>>>;
}

const usual: JudgementScale = { sure: 1, likely: 0.5, impossible: 0 };

const scalePrompts: PromptSet<ScaleText> = {
  name: 'judge-scale',
  version: 1,
  texts: {
    state: [
      'Do not write a step. Judge how likely the goal is to be reached from here, in one word:',
      '{words}.',
    ].join('\n'),
    action: [
      'Proposed step: {step}',
      '',
      'Do not write a step. Judge how likely the goal is to be reached after this step, in one word:',
      '{words}.',
    ].join('\n'),
    reason: 'Then write a colon and the reason.',
    rubric: 'Judge by this:\n{rubric}',
  },
};

/**
 * The prompt of a judgement: that of the state, with the request behind its last message, so that the
 * judgement of a state and the proposals in it share their prefix.
 *
 * @param messages - The prompt of the state.
 * @param words - The words that may be answered.
 * @param options - The step that is judged, where it is not the state; and whether a reason is wanted.
 */
export function judgePrompt(
  messages: readonly Message[],
  words: readonly string[],
  options: { readonly step?: string; readonly reason?: boolean } = {},
): readonly Message[] {
  return askBehind(messages, scaleRequest(scalePrompts.texts, { words, ...options }));
}

interface ScaleRequest {
  readonly words: readonly string[];
  readonly step?: string | undefined;
  readonly reason?: boolean;
  readonly rubric?: string | undefined;
}

function scaleRequest(
  texts: Readonly<Record<ScaleText, string>>,
  { words, step, reason = false, rubric }: ScaleRequest,
): string {
  const list = oneOf(words);
  const asked =
    step === undefined
      ? fill(texts.state, { words: list })
      : fill(texts.action, { words: list, step });
  const request = reason ? `${asked} ${fill(texts.reason, {})}` : asked;
  return rubric === undefined ? request : `${fill(texts.rubric, { rubric })}\n\n${request}`;
}

/** A word of a scale, from the first token or the beginning of the text. */
export function scaleForm(
  { scale = usual, prompts: own }: ScaleForm,
  { logprobs, reason = false, rubric }: FormSettings,
): JudgeForm {
  expectScale(scale);
  const words = Object.keys(scale);
  const prompts: PromptSet<ScaleText> = withTexts<ScaleText>(scalePrompts, own);
  const readsTokens = logprobs && !reason;
  const valueIn = readsTokens ? valueOfTokens : valueOfText;
  return {
    prompts,
    readsTokens,
    reason,
    maxTokens: readsTokens ? 1 : reason ? 64 : 8,
    expected: `one of the words ${words.join(', ')}${readsTokens ? ` ${likelyEnough}` : ''}`,
    request: (step) => scaleRequest(prompts.texts, { words, step, reason, rubric }),
    read(completion) {
      const score = valueIn(scale, completion);
      return score === undefined ? undefined : { score, reason: completion.text.trim() };
    },
  };
}

function expectScale(scale: JudgementScale): void {
  const words = Object.keys(scale);
  const isSound =
    words.length >= 2 &&
    Object.values(scale).every((value) => value >= 0 && value <= 1) &&
    new Set(words.map((word) => word[0]?.toLowerCase())).size === words.length;
  if (isSound) return;
  throw expectation(
    'scale',
    'two or more words that begin with different letters, each with a value from 0 to 1',
    scale,
  );
}

/** The expectation over the words, from what the model could have written first. */
function valueOfTokens(
  scale: JudgementScale,
  { logprobs = [], text }: Completion,
): number | undefined {
  const first = logprobs[0];
  if (first === undefined) return valueOfText(scale, { text });
  const words = Object.keys(scale);
  const shares = sharesOf(first, words, (token) => wordOf(words, token));
  if (shares === 'unclear') return undefined;
  return words.reduce((sum, word) => sum + (shares[word] ?? 0) * (scale[word] ?? 0), 0);
}

function valueOfText(scale: JudgementScale, { text }: Completion): number | undefined {
  const first = /[\p{L}\p{N}]+/u.exec(text)?.[0].toLowerCase();
  const word = Object.keys(scale).find((one) => one.toLowerCase() === first);
  return word === undefined ? undefined : scale[word];
}

/** The word of the scale that a token is, or begins: with two letters or more, because `I` is a word of its own. */
function wordOf(words: readonly string[], token: string): string | undefined {
  const read = wordIn(token);
  if (read === undefined) return undefined;
  const whole = words.find((word) => isSame(word, read));
  if (whole !== undefined || read.length < 2) return whole;
  return words.find((word) => word.toLowerCase().startsWith(read.toLowerCase()));
}
