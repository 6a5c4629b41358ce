import { leastMass } from '../base/stats/least-mass.ts';
import { withoutThoughts } from '../base/thoughts.ts';
import type { Completion, TokenLogprob } from '../contracts/language-model.ts';

/** Answers in a sentence: `A, B or C`. */
export function oneOf(answers: readonly string[]): string {
  return `${answers.slice(0, -1).join(', ')} or ${answers.at(-1)}`;
}

/** Whether a word is an answer. A single letter must match in case, because `a` is an English word. */
export function isSame(answer: string, word: string): boolean {
  return answer.length === 1 ? answer === word : answer.toLowerCase() === word.toLowerCase();
}

/** Whether the text after a word makes it part of a longer word or of a sentence. */
function goesOn(rest: string): boolean {
  return /^(?:(?:[ \t]+(?!(?:because|since|as)\b)|['’-])?[\p{L}\p{N}]|[.,]\d)/u.test(rest);
}

/**
 * The answer at the beginning of a text, possibly after `Candidate` or `Answer:`. It must stand alone: `No, because …`
 * answers *no*, but `No doubt` and `No, wait: yes` do not.
 */
export function answerIn(text: string, answers: readonly string[]): string | undefined {
  const [, word = '', rest = ''] = beginning.exec(text) ?? [];
  const answer = answers.find((each) => isSame(each, word));
  const isListed = /^\d/.test(word) && /^\.\s+\p{L}/u.test(rest);
  if (answer === undefined || isListed || goesOn(rest) || isContradicted(rest, answer, answers))
    return undefined;
  return answer;
}

/** The words for a proposal or candidate before its letter or number. */
export const itemNoun = '(?:candidate|option|choice|proposal|answer|number)';
const beginning = new RegExp(
  `^[^\\p{L}\\p{N}]*(?:${itemNoun}(?:[ \\t]|[^\\p{L}\\p{N}\\s]){1,8})?([\\p{L}\\p{N}]+)(.*)$`,
  'isu',
);

/** Words that retract an answer, anywhere after it. */
const doubt =
  /\b(?:wait|actually|no(?=[,…])|on (?:second thoughts?|reflection)|scratch that|correction|hmm+|let me (?:re|think again|check))|\?/iu;
/** Words that qualify an answer, in the same sentence. */
const reserve =
  /^[^.!?\n]*\b(?:but|however|although|though|unless|except|if|provided|assuming|not sure)\b/iu;
/** A negation directly after an answer. */
const negation = /^[\s\p{P}]{1,4}(?:not|never|nor|neither)\b/iu;

/** Whether the text after an answer retracts it, or states another answer. */
export function isContradicted(rest: string, answer: string, answers: readonly string[]): boolean {
  if (doubt.test(rest) || reserve.test(rest) || negation.test(rest)) return true;
  for (const { 0: word, index } of rest.matchAll(/[\p{L}\p{N}]+/gu)) {
    const other = answers.find((each) => isSame(each, word));
    const isOther = other !== undefined && other !== answer;
    // `Yes, no mistakes` only means yes.
    if (isOther && !goesOn(rest.slice(index + word.length, index + word.length + 8))) return true;
  }
  return false;
}

/** What log-probabilities of answers must satisfy, for error messages. */
export const likelyEnough: string = `with a probability of ${leastMass} or more`;

/** The probability of each answer relative to all answers, or `'unclear'` if their total is too small. */
export type Shares = Readonly<Record<string, number>> | 'unclear';

/**
 * The probability of each answer relative to all answers, at the first position where one of them was written: the mass
 * of all its variants, such as `B`, ` B` and `(B`, over that of the variants of all answers. `undefined` if no answer
 * was written, or the model reports no log-probabilities; `'unclear'` if all answers together have less than {@link
 * leastMass}.
 */
export function probabilitiesOf(
  { logprobs = [], finishReason }: Completion,
  answers: readonly string[],
): Shares | undefined {
  if (finishReason === 'refusal') return undefined;
  const answerOf = (token: string) => {
    const word = wordIn(token);
    return word === undefined ? undefined : answers.find((answer) => isSame(answer, word));
  };
  let mayFollow = true;
  const said = behindThoughts(logprobs);
  for (const [place, written] of said.entries()) {
    const answer = mayFollow ? answerOf(written.token) : undefined;
    if (answer !== undefined) {
      const rest = said.slice(place + 1).map(({ token }) => token);
      if (!goesOn(rest.slice(0, lookAhead).join(''))) {
        return isContradicted(rest.join(''), answer, answers)
          ? undefined
          : sharesOf(written, answers, answerOf);
      }
    }
    mayFollow = isLead(written.token, mayFollow);
  }
  return undefined;
}

/** The tokens after the thoughts. */
export function behindThoughts(logprobs: readonly TokenLogprob[]): readonly TokenLogprob[] {
  let left = withoutThoughts(logprobs.map(({ token }) => token).join('')).length;
  if (left === 0) return [];
  const from = logprobs.findLastIndex(({ token }) => {
    left -= token.length;
    return left <= 0;
  });
  return left > 0 || from < 0 ? logprobs : logprobs.slice(from);
}

/** The number of tokens that show whether a sentence continues after a word. */
const lookAhead = 8;

/**
 * Whether an answer may follow a token: after other words it may be negated, after a label such as `Answer:` it is
 * stated.
 */
function isLead(token: string, before: boolean): boolean {
  const colon = token.lastIndexOf(':');
  return (colon >= 0 || before) && isBlank(token.slice(colon + 1));
}

/** The shares of the answers in the probability mass of one position. */
export function sharesOf(
  written: TokenLogprob,
  answers: readonly string[],
  answerOf: (token: string) => string | undefined,
): Shares {
  const { top = [] } = written;
  // The sampled token need not be among the likeliest.
  const isListed = top.some(({ token }) => token === written.token);
  const masses = Object.fromEntries(answers.map((answer) => [answer, 0]));
  let total = 0;
  for (const { token, logprob } of isListed ? top : [...top, written]) {
    const answer = answerOf(token);
    if (answer === undefined) continue;
    const probability = Math.exp(logprob);
    masses[answer] = (masses[answer] ?? 0) + probability;
    total += probability;
  }
  if (total < leastMass) return 'unclear';
  return Object.fromEntries(Object.entries(masses).map(([answer, mass]) => [answer, mass / total]));
}

/** Whether a text contains no word and no number. */
export function isBlank(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text);
}

/** The word in a token, without surrounding marks and blanks. */
export function wordIn(token: string): string | undefined {
  return /^[^\p{L}\p{N}]*([\p{L}\p{N}]+)[^\p{L}\p{N}]*$/u.exec(token)?.[1];
}
