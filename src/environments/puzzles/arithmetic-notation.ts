import type { Notation } from '../../contracts/environment.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { ArithmeticRules, ArithmeticState, ArithmeticStep, Operator } from './arithmetic.ts';
import { type StepClaim, tryStep } from './arithmetic-transition.ts';

/** The notation of arithmetic puzzles: `4 * 6 = 24 (left: 3 24)`. */
export function arithmeticNotation<Value>(
  rules: ArithmeticRules<Value>,
): Notation<ArithmeticState<Value>, ArithmeticStep<Value>> {
  return {
    prompt: (state) => [{ role: 'user', content: prompt(rules, state) }],
    format: (step) => writeStep(rules, step),
    parse(text, state) {
      const claim = readClaim(rules, text);
      if ('kind' in claim) return { failure: claim };
      const outcome = tryStep(rules, state, claim);
      return 'problem' in outcome
        ? { failure: { kind: 'parse', message: outcome.problem } }
        : { action: outcome.step };
    },
  };
}

// The parts that change least come first, so that the prompts of a search share a prefix as long as possible.
function prompt<Value>(rules: ArithmeticRules<Value>, state: ArithmeticState<Value>): string {
  return [
    rules.task,
    '',
    'Write the next step, and nothing else, on one line that ends with all numbers that are left,',
    'the result included. With the numbers 2 3 8, for example: 2 * 3 = 6 (left: 6 8)',
    '',
    `Target: ${state.target}`,
    `Numbers: ${state.numbers.map(({ value }) => rules.write(value)).join(' ')}`,
  ].join('\n');
}

function writeStep<Value>(
  { write }: ArithmeticRules<Value>,
  { left, operator, right, result, remaining }: ArithmeticStep<Value>,
): string {
  const equation = `${write(left)} ${operator} ${write(right)} = ${write(result)}`;
  return `${equation} (left: ${remaining.map(write).join(' ')})`;
}

const operators: Readonly<Record<string, Operator>> = {
  '+': '+',
  '-': '-',
  '*': '*',
  x: '*',
  '×': '*',
  '·': '*',
  '/': '/',
  '÷': '/',
  ':': '/',
};

// A list marker needs a space after it, which tells `- 4` from `-4`, and `1. 4 + 6` from `1.4 + 6`.
const marker = /^\s*(?:[-*•]\s+|\d+[.)]\s+)?/;
const number = String.raw`\(?\s*([+-]?\d+(?:\.\d+|\/\d+)?)\s*\)?`;
const pattern = new RegExp(
  String.raw`^${number}\s*([-+*x×·/÷:])\s*${number}` +
    String.raw`(?:\s*=\s*${number})?\s*(?:[(,;]?\s*left\s*:?\s*([^()]*)\)?)?\s*[.;,]?\s*$`,
  'i',
);

/** Reads the first line in the form of a step. */
function readClaim<Value>(rules: ArithmeticRules<Value>, text: string): StepClaim<Value> | Failure {
  for (const line of text.split('\n')) {
    // Models use dashes for minus signs. Without runs of spaces, the pattern takes linear time.
    const plain = line.replaceAll(/[−–]/g, '-').replaceAll(/\s+/g, ' ');
    const match = pattern.exec(plain.replace(marker, '').trimStart());
    const operator = operators[match?.[2]?.toLowerCase() ?? ''];
    if (match === null || operator === undefined) continue;
    return toClaim(rules, operator, match);
  }
  return failure('a step such as `2 * 3 = 6 (left: 6 8)`', text);
}

function toClaim<Value>(
  { read }: ArithmeticRules<Value>,
  operator: Operator,
  [, left = '', , right = '', result, remaining]: readonly (string | undefined)[],
): StepClaim<Value> | Failure {
  const words = [left, right, ...(result === undefined ? [] : [result])];
  const numbers: Value[] = [];
  for (const word of [...words, ...(remaining?.match(/[^\s,]+/g) ?? [])]) {
    const value = read(word);
    if (value === undefined) return failure('a number', word);
    numbers.push(value);
  }
  return {
    left: numbers[0] as Value,
    operator,
    right: numbers[1] as Value,
    ...(result !== undefined && { result: numbers[2] as Value }),
    ...(remaining !== undefined && { remaining: numbers.slice(words.length) }),
  };
}

function failure(expected: string, text: string): Failure {
  const shown = text.trim();
  const short = shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
  return { kind: 'parse', message: `Expected ${expected}, got \`${short}\`.` };
}
