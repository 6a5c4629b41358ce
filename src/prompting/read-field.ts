import type { JsonValue } from '../contracts/json.ts';
import { answerIn } from './answer-words.ts';

const numeral =
  /^([-−+]?\d+(?:\.\d+)?)(?:\s*(?:\/|out of)\s*(\d+(?:\.\d+)?))?(?:\s*points?)?(?![\p{L}\p{N}%]|[.,]\d)(.*)$/isu;
/** What may follow a number: the end, a remark in brackets, a reason. */
const remark = /^\s*(?:[.!]?\s*$|\(|[.!]\s|[,;:–—-]\s|(?:because|since|as)\b)/iu;
/** Words in a remark that retract the number before it. */
const change = /\b(?:wait|actually|no|on reflection|on second thoughts?)\b(?!\s\p{L})/iu;
/** A longer text is not just a number. */
const longest = 1_000;
const marks = /[*_`$\\]|\p{Extended_Pictographic}|\ufe0f/gu;

/** The number in a field: `7`, `"7"`, `"7/10"` or `"7 (good)"`, within its range; `undefined` for anything else. */
export function numberIn(
  value: JsonValue | undefined,
  [least, greatest]: readonly [number, number],
): number | undefined {
  const number = typeof value === 'string' ? numberInText(value, greatest) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  return number >= least && number <= greatest ? number : undefined;
}

function numberInText(text: string, greatest: number): number | undefined {
  if (text.length > longest) return undefined;
  const [, digits, whole, rest = ''] = numeral.exec(text.replace(marks, '').trim()) ?? [];
  // 7/20 is ambiguous on a scale that ends at 10.
  if (digits === undefined || (whole !== undefined && Number(whole) !== greatest)) return undefined;
  const isEnd = remark.test(rest) && !change.test(rest) && !/\d/.test(rest.replace(places, ''));
  return isEnd ? Number(digits.replace('−', '-')) : undefined;
}

/** Numbers that refer to parts of the work. */
const places = /\b(?:steps?|lines?|parts?|points?)\s\d+/giu;

/** Whether a field says yes: a boolean, or one of the words. */
export function flagIn(value: JsonValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = choiceIn(value, ['yes', 'no', 'true', 'false']);
  return word === undefined ? undefined : word === 'yes' || word === 'true';
}

/** The answer in a field, ignoring case. */
export function choiceIn(
  value: JsonValue | undefined,
  answers: readonly string[],
): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const written = String(value);
  const [whole = ''] = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su.exec(written) ?? [];
  const text = whole.toLowerCase();
  return answers.find((answer) => answer.toLowerCase() === text) ?? answerIn(written, answers);
}
