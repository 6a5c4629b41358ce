import type { JsonValue } from '../contracts/json.ts';
import { answerIn } from './answer-words.ts';

const numeral = /^([-−+]?\d+(?:\.\d+)?)(?:\s*\/\s*(\d+(?:\.\d+)?))?\s*(?:points?)?\.?$/iu;

/** The number in a field: `7`, `"7"` or `"7/10"`, within its range; `undefined` for anything else. */
export function numberIn(
  value: JsonValue | undefined,
  [least, greatest]: readonly [number, number],
): number | undefined {
  const number = typeof value === 'string' ? numberInText(value.trim(), greatest) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  return number >= least && number <= greatest ? number : undefined;
}

function numberInText(text: string, greatest: number): number | undefined {
  const [, digits, whole] = numeral.exec(text) ?? [];
  // Of 7/20 nobody knows what it is on a scale that ends at 10.
  if (digits === undefined || (whole !== undefined && Number(whole) !== greatest)) return undefined;
  return Number(digits.replace('−', '-'));
}

/** Whether a field says yes: a truth value, or one of the words. */
export function flagIn(value: JsonValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = choiceIn(value, ['yes', 'no', 'true', 'false']);
  return word === undefined ? undefined : word === 'yes' || word === 'true';
}

/** Which of the answers a field holds, whatever its case. */
export function choiceIn(
  value: JsonValue | undefined,
  answers: readonly string[],
): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [whole = ''] = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su.exec(value) ?? [];
  const text = whole.toLowerCase();
  return answers.find((answer) => answer.toLowerCase() === text) ?? answerIn(value, answers);
}
