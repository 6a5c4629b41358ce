import { isValued, readValue } from './answer-value.ts';
import { plainAnswer } from './plain-answer.ts';

/** Words that change the number before them. */
const scaling =
  /^(?:mod|base|in (?:thousand|million)|thousand|million|billion|to the|or|and|plus|minus|times)\b/i;

const explained =
  /^(.{1,60}?)(\s[—–]\s|\s?(?:≈|\\approx\b)|\s?\((?=[^()]*\)$)(?:or\s)?|,\sor\s|,\s(?=(?:the|an?|his|her|its|their)\s(?!.*\band\b))|\s(?=of\s(?:the|all|his|her|its|their)\b))(.+)$/;

/**
 * The leading value: 18 of `18 — nine eggs at $2`, of `18 (9 eggs at $2)` and of `18 ≈ 18.0`, 2.5 hours of `2.5 hours,
 * or 150 minutes`, C of `Option (C), 18`, and Everest of `Everest, the highest mountain`; `undefined` if the entire
 * text is the answer.
 */
export function leadingValue(text: string): string | undefined {
  const [, option] = /^((?:option|choice)\s?:?\s?\(?[A-J]\)?)\s?[,:.(–—-]/i.exec(text) ?? [];
  if (option !== undefined) return option;
  const [, front = '', mark = '', rest = ''] = explained.exec(text) ?? [];
  if (rest === '') return undefined;
  return leads(text, { front, mark, rest }) ? front : undefined;
}

/** Whether the text before a mark is an answer, and the text after it only explains it. */
function leads(
  text: string,
  { front, mark, rest }: Readonly<Record<'front' | 'mark' | 'rest', string>>,
): boolean {
  // Two letters are not a choice.
  const isWhole = isValued(text) || /\([A-J]\)$/.test(text);
  switch (readValue(plainAnswer(front)).kind) {
    case 'choice':
      return !isWhole;
    case 'text':
      return /^,\s$/.test(mark) && !/\d/.test(text);
    case 'number':
      return mark === ', or ' ? isRestated(front, rest) : !isWhole && explains(mark, rest);
    case 'list':
    case 'truth':
      return false;
  }
}

/** `2.5 hours, or 150 minutes`: the same value in another unit. */
function isRestated(front: string, rest: string): boolean {
  const [value, other] = [front, rest].map((part) => readValue(plainAnswer(part)));
  return (
    value?.kind === 'number' &&
    other?.kind === 'number' &&
    (value.percent !== other.percent || (value.unit !== '' && value.unit !== other.unit))
  );
}

/** Whether the text after a number explains it without changing it. */
function explains(mark: string, rest: string): boolean {
  if (scaling.test(rest) || mark.startsWith(',')) return false;
  if (mark.trim() === '') return !/\d/.test(rest);
  return mark.includes('(or ') || /\p{L}{3}|[=≈]/u.test(mark + rest);
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

/** The number in `She makes $18 every day`, if it is the only one and no word changes it. */
export function numberInSentence(text: string): string | undefined {
  const [, number, rest = ''] = sentence.exec(text) ?? [];
  return number === undefined || unsure.test(text.replace(number, '')) || unsure.test(rest)
    ? undefined
    : number.replace(/[.,]$/, '');
}

/** Numbers each followed by a word. */
function isMeasure(text: string): boolean {
  return (
    /^\d[\d.,/]*(?:\s\p{L}+(?:\s\d[\d.,/]*)?){1,3}$/u.test(text) &&
    !/\s(?:out|of|for|in|at|on|with|to|from)\s/.test(text) &&
    !unsure.test(text.replace(/\bdozen\b/, ''))
  );
}

const clause =
  /(?<![\p{L}])(?:is|are|was|were|be|been|has|have|had|makes?|will|would|can|could|should|must|depends?|requires?|needs?|gives?|means?|we|you|I|she|he|they|it|ist|sind|wird|est|sont)(?![\p{L}])/u;
const termWords = /\b(?:for|all|and|where|mod|sin|cos|tan|log|max|min|gcd|lcm)\b|\\[A-Za-z]+/g;

/** An answer in words, if it clearly is one: a name, a formula, a number in a sentence. */
export function inProse(answer: string): string | undefined {
  if (isValued(answer)) return answer;
  const text = answer.replace(/^["“”'«»„]+|["“”'«»„]+$/g, '');
  const words = text.replace(termWords, ' ').match(/\p{L}[\p{L}'’.-]*/gu) ?? [];
  const long = words.filter((word) => /\p{L}{3}/u.test(word));
  if (long.length === 0) return answer;
  if (text !== answer && words.length <= 12) return answer;
  if (/\d/.test(text)) {
    // Dates and names with numbers; `7 remainder 2` and `1 hour 30 minutes`.
    const isName = long.every((word) => /^\p{Lu}/u.test(word));
    return isName || isMeasure(text) ? answer : numberInSentence(text);
  }
  return words.length <= 8 && !clause.test(text) && !/[+*=<>]/.test(text) ? answer : undefined;
}
