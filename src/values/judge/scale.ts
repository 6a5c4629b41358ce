import { expectation } from '../../base/expect.ts';
import type { Completion } from '../../contracts/language-model.ts';
import {
  behindThoughts,
  isBlank,
  isSame,
  likelyEnough,
  oneOf,
  sharesOf,
  wordIn,
} from '../../prompting/answer-words.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import { answerOf, replyText } from '../../prompting/read-reply.ts';
import type { JudgeForm } from './by-form.ts';
import type { JudgeOptions } from './judge-options.ts';

type ScaleOptions = Pick<
  Extract<JudgeOptions, { readonly form?: 'scale' }>,
  'prompts' | 'reason' | 'rubric' | 'scale'
>;
type Scale = Readonly<Record<string, number>>;

const usual: Scale = { sure: 1, likely: 0.5, impossible: 0 };

const scalePrompts = {
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
} satisfies PromptSet;

/** Reads a word of a scale, from the first token or from the beginning of the text. */
export function scaleForm(
  { scale = usual, reason = false, rubric, prompts: own }: ScaleOptions,
  logprobs: boolean,
): JudgeForm {
  expectScale(scale);
  const words = Object.keys(scale);
  const prompts = withTexts(scalePrompts, own);
  const { texts } = prompts;
  const readsTokens = logprobs && !reason;
  const valueIn = readsTokens ? valueOfTokens : valueOfText;
  return {
    prompts,
    readsTokens,
    reason,
    maxTokens: readsTokens ? 1 : reason ? 64 : 8,
    ...(readsTokens && { maxTokensAgain: 8 }),
    expected: `one of the words ${words.join(', ')}${readsTokens ? ` ${likelyEnough}` : ''}`,
    request(step) {
      const slots = { words: oneOf(words) };
      const asked =
        step === undefined ? fill(texts.state, slots) : fill(texts.action, { ...slots, step });
      const request = reason ? `${asked} ${fill(texts.reason, {})}` : asked;
      return rubric === undefined ? request : `${fill(texts.rubric, { rubric })}\n\n${request}`;
    },
    read(completion) {
      const score = valueIn(scale, completion);
      return score === undefined ? undefined : { score, reason: replyText(completion) };
    },
  };
}

function expectScale(scale: Scale): void {
  // For callers without types: `null` is refused as a scale without words.
  const words = Object.keys(Object(scale) as object);
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

/**
 * The expectation over the words, from the probabilities of the first token; some models begin with a blank or a mark.
 */
function valueOfTokens(scale: Scale, completion: Completion): number | undefined {
  const { logprobs = [], finishReason } = completion;
  if (finishReason === 'refusal' || logprobs.length === 0) return valueOfText(scale, completion);
  const words = Object.keys(scale);
  for (const place of behindThoughts(logprobs)) {
    const shares = sharesOf(place, words, (token) => wordOf(words, token));
    if (shares !== 'unclear') {
      return words.reduce((sum, word) => sum + (shares[word] ?? 0) * (scale[word] ?? 0), 0);
    }
    if (!isBlank(place.token)) return undefined;
  }
  return undefined;
}

/** A polite opening, as in *Sure, let me look at it*, is not a judgement. */
const courtesy = /^\p{L}+[,.!]\s{1,3}(?:let\b|here\b|why\b|I\b|happy\b|it\b)/iu;

function valueOfText(scale: Scale, completion: Completion): number | undefined {
  const words = Object.keys(scale);
  const word = answerOf(completion, 'judgement', { answers: words })?.answer;
  return word === undefined || courtesy.test(replyText(completion)) ? undefined : scale[word];
}

/**
 * The word of the scale that a token equals or begins. A prefix needs at least two letters, because `I` is a word
 * itself.
 */
function wordOf(words: readonly string[], token: string): string | undefined {
  const read = wordIn(token);
  if (read === undefined) return undefined;
  const whole = words.find((word) => isSame(word, read));
  if (whole !== undefined || read.length < 2) return whole;
  return words.find((word) => word.toLowerCase().startsWith(read.toLowerCase()));
}
