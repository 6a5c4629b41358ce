import type { AnswerLanguage } from './answer-languages.ts';
import { type AnswerValue, readValue } from './answer-value.ts';
import { plainAnswer } from './plain-answer.ts';

/** No answer that a search could compare is longer. */
export const longest = 200;

/** What is written where an answer would stand. */
const placeholder =
  /^(?:the|an|and|or|answer|the answer|n\/?a|null|undefined|unknown|nan|your (?:final )?answer(?: here)?|number|insert .*|[[<({](?:your|the|insert|final|number|answer|value|result|x{2,}|any)\b.*)$/i;
const damaged = /(?![\t\n\r])[\p{Cc}\p{Co}\ufffd]/u;
const repeated = /(?<![\p{L}\p{N}])([\p{L}\p{N}]{1,20})(?:\s{1,3}\1(?![\p{L}\p{N}])){2}/u;

/** Whether a text can be an answer: it says something, is not damaged, and its brackets are closed. */
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

/** Whether every brace and every formula that opens is closed. Other brackets of an interval need not match. */
function isClosed(text: string): boolean {
  const marks = text.replace(/\\[{}$]|^\(?[A-Ja-j]\)/g, '');
  const count = (mark: string) => marks.split(mark).length - 1;
  const brackets = (marks.match(/[([]/g) ?? []).length === (marks.match(/[)\]]/g) ?? []).length;
  return (
    brackets && count('{') === count('}') && (count('$') % 2 === 0 || /\$\s?[\d.-]/.test(text))
  );
}

/**
 * The answer in what stands behind a statement such as *The answer is*: without hedges before it, what explains it,
 * and the calculation that it comes from; `undefined` where there is none.
 */
export function answerInClaim(claim: string, language: AnswerLanguage): string | undefined {
  const marked = withoutHedges(withoutEmphasis(claim), language);
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
    .replace(/[\s*`]+$/, '');
}

/** `17, no, 18` and `17, wait, actually 18` mean the last. */
function lastCorrection(text: string): string | undefined {
  const parts = text.split(
    /[,.…—–-]{1,3}\s{0,3}(?:(?:no|wait|sorry|actually|scratch that|I mean|or rather),?\s{1,3}){1,3}/i,
  );
  const last = parts.at(-1) ?? '';
  return parts.length > 1 && parts.every((part) => isValued(part)) ? last : undefined;
}

/** What makes another number of the one before it. */
const scaling =
  /^(?:mod|base|in (?:thousand|million)|thousand|million|billion|to the|or|and|plus|minus|times)\b/i;

/** 18 of `18 — nine eggs at $2`, of `18 (9 eggs at $2)`, of `18 ≈ 18.0`, and C of `Option (C), 18`. */
function leadingValue(text: string): string | undefined {
  const [, option] = /^((?:option|choice)\s?:?\s?\(?[A-J]\)?)\s?[,:.(–—-]/i.exec(text) ?? [];
  if (option !== undefined) return option;
  if (isValued(text)) return undefined;
  const [, front = '', , inside] =
    /^(.{1,60}?)(\s[—–]\s|\s?(?:≈|\\approx\b)|\s?\((?=[^()]*\)$)|[,:]\s)(.+)$/.exec(text) ?? [];
  if (inside === undefined || scaling.test(inside)) return undefined;
  const value = readValue(plainAnswer(front)).kind;
  if (value === 'choice') return front;
  const isExplained = /\p{L}{3}|[=≈]/u.test(text.slice(front.length));
  return value === 'number' && isExplained && !/^,\s/.test(text.slice(front.length))
    ? front
    : undefined;
}

const amount = String.raw`[-−]?[$€£¥]?\s?\d[\d.,]*(?:\s?(?:%|€|percent\b|Prozent\b))?`;
const verb =
  'is|are|was|were|makes?|made|earns?|earned|has|have|had|gets?|got|needs?|takes?|costs?|sells?|sold|pays?|paid|spends?|spent|saves?|saved|travels?|traveled|walks?|reads?|eats?|ate|uses?|used|weighs?|leaves?|remains?|receives?|owes?|verdient|hat|haben|braucht|kostet|bekommt|sind|ist|bleiben|zahlt|gagne|coûte|reste|faut|paie|dépense';
const sentence = new RegExp(
  String.raw`^(?:[\p{L}'’-]{1,20}\s){1,6}?(?:${verb})\s(?:a total of\s|exactly\s|now\s)?(${amount})(?=[\s.,!]|$)([^\d]*)$`,
  'iu',
);
const unsure =
  /\b(?:more|less|fewer|than|least|most|between|not|no|times|twice|half|dozen|hundred|thousand|million|billion|if|when|each of|per ?cent|or|and|mehr|weniger|als|nicht|und|oder|plus|moins|fois|et|ou|two|three|four|five|six|seven|eight|nine|ten)\b|n['’]t|[-+*×÷=]/iu;

/** The number in `She makes $18 every day`, where it is the only one and nothing makes another of it. */
function numberInSentence(text: string): string | undefined {
  const [, number, rest = ''] = sentence.exec(text) ?? [];
  return number === undefined || unsure.test(text.replace(number, '')) || unsure.test(rest)
    ? undefined
    : number.replace(/[.,]$/, '');
}

const clause =
  /(?<![\p{L}])(?:is|are|was|were|be|been|has|have|had|makes?|will|would|can|could|should|must|depends?|requires?|needs?|gives?|means?|we|you|I|she|he|they|it|ist|sind|wird|est|sont)(?![\p{L}])/u;
const termWords = /\b(?:for|all|and|where|mod|sin|cos|tan|log|max|min|gcd|lcm)\b|\\[A-Za-z]+/g;

/** What a sentence says in words, as far as it is plainly an answer: a name, a formula, a number in a sentence. */
export function inProse(answer: string): string | undefined {
  if (isValued(answer)) return answer;
  const text = answer.replace(/^["“”'«»„]+|["“”'«»„]+$/g, '');
  const words = text.replace(termWords, ' ').match(/\p{L}[\p{L}'’.-]*/gu) ?? [];
  const long = words.filter((word) => /\p{L}{3}/u.test(word));
  if (long.length === 0) return answer;
  if (text !== answer && words.length <= 12) return answer;
  if (/\d/.test(text)) {
    // Dates and names with numbers.
    return long.every((word) => /^\p{Lu}/u.test(word)) ? answer : numberInSentence(text);
  }
  return words.length <= 8 && !clause.test(text) && !/[+*=<>]/.test(text) ? answer : undefined;
}

/** Digits and signs, words and units, but no variable. */
const calculation =
  /^(?=.*\d)(?=.*[+\-*×·÷/^x])(?:[\d\s.,$€£¥%°+\-*×·÷/^()]|(?<=\d\s?)x(?=\s?\d)|(?<!\p{L})\p{L}{2,}(?!\p{L}))+$/u;

/**
 * What a chain of calculations comes to: 18 of `9 * 2 = 18`, and of `Total = 18`. `undefined` where a text is
 * something else, such as `2x + 3 = 7`.
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

/** Whether a text is a number, with what may stand around one. */
export function isQuantity(text: string): boolean {
  return readValue(plainAnswer(text)).kind === 'number';
}

/** Whether a text is a number, a letter of a choice or a list of such, and no mere words. */
export function isValued(text: string): boolean {
  const holds = (value: AnswerValue): boolean =>
    value.kind === 'list' ? value.items.every(holds) : value.kind !== 'text';
  return holds(readValue(plainAnswer(text)));
}

/** Numbers as English has them. */
function localized(text: string, { decimalComma }: AnswerLanguage): string {
  if (!decimalComma) return text;
  return text
    .replace(
      /(?<![\d.,])\d{1,3}(?:(?:\.\d{3})+|(?:[ \u00a0\u2009\u202f]\d{3})+)(?![\d.]|,\d{3},)/g,
      (digits) => digits.replace(/\D/g, ''),
    )
    .replace(/(?<![\d.,])(\d+)(?:,|\{,\})(\d+)(?![\d,])/g, '$1.$2');
}
