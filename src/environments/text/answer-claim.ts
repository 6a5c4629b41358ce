import { leadingValue, numberInSentence } from './answer-in-prose.ts';
import type { AnswerLanguage } from './answer-languages.ts';
import { isQuantity, isValued, readValue } from './answer-value.ts';
import { pictures, plainAnswer } from './plain-answer.ts';

/** The longest answer worth comparing. */
export const longest = 200;

/** Placeholders for an answer. */
const placeholder =
  /^(?:the|an|and|or|answer|the answer|n\/?a|null|undefined|unknown|nan|your (?:final )?answer(?: here)?|number|insert .*|I (?:do not|don['’]t|cannot|can['’]t|am not)\b.*|[[<({](?:your|the|insert|final|number|answer|value|result|x{2,}|any)\b.*)$/i;
const damaged = /(?![\t\n\r])[\p{Cc}\p{Co}\ufffd]/u;
const repeated = /(?<![\p{L}\p{N}])([\p{L}\p{N}]{1,20})(?:\s{1,3}\1(?![\p{L}\p{N}])){2}/u;

/** Whether a text can be an answer: it is not empty or damaged, and its brackets are closed. */
export function isAnswer(text: string): boolean {
  const plain = plainAnswer(text)
    .replace(/^[\s*_"'`]+/, '')
    .replace(/[\s*_"'`.,;:]+$/, '');
  return (
    /[\p{L}\p{N}∞∅]/u.test(plain) &&
    plain.length <= longest &&
    plain !== 'a' &&
    !placeholder.test(plain) &&
    !damaged.test(text) &&
    !repeated.test(plain) &&
    isClosed(text)
  );
}

/** Whether every brace and formula is closed. Other brackets need not match, because intervals may mix them. */
function isClosed(text: string): boolean {
  const marks = text.replace(/\\[{}$]|^\(?[A-Ja-j]\)/g, '');
  const count = (mark: string) => marks.split(mark).length - 1;
  const brackets = (marks.match(/[([]/g) ?? []).length === (marks.match(/[)\]]/g) ?? []).length;
  return (
    brackets && count('{') === count('}') && (count('$') % 2 === 0 || /\$\s?[\d.-]/.test(text))
  );
}

/**
 * The answer in the text after a statement such as *The answer is*, without hedges, explanations and the preceding
 * calculation; `undefined` if there is none.
 */
export function answerInClaim(claim: string, language: AnswerLanguage): string | undefined {
  const marked = withoutHedges(withoutEmphasis(claim), language);
  if (/^that\s/.test(marked))
    return numberInSentence(marked.slice('that '.length).replace(/\W+$/, ''));
  if (language.noAnswer.test(marked) || /\d\s?(?:\.{3}|…)/.test(marked)) return undefined;
  const corrected = lastCorrection(marked);
  if (corrected !== undefined) return answerInClaim(corrected, language);
  const end = language.tail.exec(marked)?.index ?? marked.length;
  const answer = withoutEmphasis(end === 0 ? marked : marked.slice(0, end))
    .replace(/[.,;:。，；]+$/, '')
    .replace(/[\s*_`]+$/, '');
  if (!isAnswer(answer)) return undefined;
  return localized(resultOf(answer) ?? leadingValue(answer) ?? answer, language);
}

function withoutHedges(text: string, { hedge }: AnswerLanguage): string {
  let rest = text;
  // More hedges in a row than anybody writes.
  for (let round = 0; round < 4; round++) {
    const shorter = rest.replace(hedge, '');
    if (shorter === rest) break;
    rest = shorter;
  }
  return rest;
}

function withoutEmphasis(text: string): string {
  return text
    .replace(/\*\*|(?<!\w)__|__(?!\w)/g, '')
    .replace(/^[\s:：*`]+/, '')
    .replace(/[\s*`]+$/, '')
    .replace(pictures, '');
}

/** In `17, no, 18` and `17, wait, actually 18`, the last number is meant. */
function lastCorrection(text: string): string | undefined {
  const parts = text.split(
    /[,.…—–-]{1,3}\s{0,3}(?:(?:no|wait|sorry|actually|scratch that|I mean|or rather),?\s{1,3}){1,3}/i,
  );
  const last = parts.at(-1) ?? '';
  return parts.length > 1 && parts.every((part) => isValued(part)) ? last : undefined;
}

/** Digits and signs, words and units, but no variable. */
const calculation =
  /^(?=.*\d)(?=.*[+\-*×·÷/^x!])(?:[\d\s.,$€£¥%°+\-*×·÷/^()!]|(?<=\d\s?)x(?=\s?\d)|(?<!\p{L})\p{L}{2,}(?!\p{L}))+$/u;

/**
 * The result of a chain of calculations: 18 of `9 * 2 = 18`, and of `Total = 18`. `undefined` for any other text, such
 * as `2x + 3 = 7`.
 */
function resultOf(text: string): string | undefined {
  if (!text.includes('=') || /[<>≤≥≠]/.test(text)) return undefined;
  if (readValue(plainAnswer(text)).kind !== 'text') return isList(text) ? lastOf(text) : undefined;
  return lastOf(text);
}

function isList(text: string): boolean {
  return readValue(plainAnswer(text)).kind === 'list';
}

function lastOf(text: string): string | undefined {
  const clauses = plainAnswer(text).split(/,\s{1,3}(?=[^,]{1,80}=)/);
  const parts = (clauses.at(-1) ?? '').split(/\s*=\s*/);
  const result = parts.at(-1) ?? '';
  const before = [
    ...clauses.slice(0, -1).map((clause) => clause.replaceAll('=', '+')),
    ...parts.slice(0, -1),
  ];
  const [first = '', ...others] = before;
  const isNamed = /^(?:[A-Za-z]|\p{L}{2,}(?: \p{L}{2,}){0,3})$/u.test(first);
  const calculated = isNamed && (others.length > 0 || first.length > 1) ? others : before;
  const isChain = calculated.every((part) => calculation.test(part) || isValued(part));
  return isChain && isQuantity(result) ? result : undefined;
}

/** Converts numbers to English notation. */
function localized(text: string, { decimalComma }: AnswerLanguage): string {
  if (!decimalComma) return text;
  return text
    .replace(
      /(?<![\d.,])\d{1,3}(?:(?:\.\d{3})+|(?:[ \u00a0\u2009\u202f]\d{3})+)(?![\d.]|,\d{3},)/g,
      (digits) => digits.replace(/\D/g, ''),
    )
    .replace(/(?<![\d.,])(\d+)(?:,|\{,\})(\d+)(?![\d,])/g, '$1.$2');
}
