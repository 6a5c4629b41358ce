import { EspalierError } from '../../base/errors.ts';
import { expectInteger, gotten } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ArithmeticRules, ArithmeticState, ArithmeticStep } from './arithmetic.ts';
import { operationsByPair } from './arithmetic-actions.ts';
import { arithmeticPuzzle, isDeadEnd } from './arithmetic-environment.ts';
import { type ArithmeticInstance, parseNumbers } from './arithmetic-instance.ts';
import { solutions } from './game-of-24-solutions.ts';
import type { Puzzle } from './puzzle.ts';
import {
  add,
  compareRationals,
  divide,
  formatRational,
  multiply,
  parseRational,
  type Rational,
  rational,
  subtract,
} from './rational.ts';

const operations = { '+': add, '-': subtract, '*': multiply, '/': divide } as const;

const rules: ArithmeticRules<Rational> = {
  name: 'game24',
  title: 'Game of 24',
  usualTarget: 24,
  allowed: 'a division by another number than 0 and a result of safe integers',
  compute: (operator, left, right) => operations[operator](left, right),
  of: (integer) => rational(integer),
  compare: compareRationals,
  write: formatRational,
  read: parseRational,
  solved: isSolved,
  wanted: (target) => `one number, \`${target}\``,
  task: [
    'Make the target from the numbers below. One step takes two of the numbers and puts in their place',
    'the result of one operation on them: +, -, * or /. Fractions are exact, and written like 8/3.',
    'Every number has to be used: the puzzle is solved when the target is the only number left.',
  ].join('\n'),
};

/**
 * The Game of 24: make 24, or another target, from four numbers with +, −, × and ÷, using each number once.
 *
 * The task of Yao et al., "Tree of Thoughts", 2023. All arithmetic is exact, so `8 / (3 - 8 / 3)` is
 * found and a rounded quotient is a mistake. Intermediate results may be negative or fractions.
 */
export const gameOf24: Puzzle<
  ArithmeticInstance,
  ArithmeticState<Rational>,
  ArithmeticStep<Rational>,
  {
    /** The largest number drawn: an integer from 4 to 100. @defaultValue 13 */
    readonly largest?: number;
    /** The number to make: an integer from 1 to 1,000. @defaultValue 24 */
    readonly target?: number;
  }
> = {
  ...arithmeticPuzzle(rules),
  generate(random, options = {}) {
    expectOptions('gameOf24.generate', options, 'largest target');
    const { largest = 13, target = 24 } = options;
    expectInteger('largest', largest, { min: 4, max: 100 });
    expectInteger('target', target, { min: 1, max: 1_000 });
    for (let attempt = 0; attempt < 1_000; attempt++) {
      const numbers = Array.from({ length: 4 }, () => 1 + random.integer(largest));
      if (solutions(numbers, target).length === 0) continue;
      return target === 24 ? { numbers } : { numbers, target };
    }
    throw new EspalierError(
      'usage',
      `Expected \`target\` to be within reach of four numbers up to ${largest}, got \`${target}\`.`,
    );
  },
  parse(text) {
    const instance = parseNumbers(text);
    // A wrong number of numbers is probably a mistake, unless a target shows that another game is meant.
    if (instance.target !== undefined || instance.numbers.length === 4) return instance;
    const expected =
      'four numbers, such as `4 9 10 13`, or numbers and a target, such as `4 9 10 -> 23`';
    throw new EspalierError('usage', `Expected ${expected}, ${gotten(text)}`);
  },
  estimate,
  heuristic,
};

function isSolved({ numbers, target }: ArithmeticState<Rational>): boolean {
  const [only, ...others] = numbers;
  if (only === undefined || others.length > 0) return false;
  return only.value.numerator === target && only.value.denominator === 1;
}

/**
 * How close one step and a sum or product come to the target: `0.9 / (1 + d)`, where `d` is the smallest distance
 * between the target and `r + n` or `r * n`, for the result `r` of an operation on two of the numbers and another
 * number `n`; for two numbers, between the target and `r`.
 *
 * It ignores differences and quotients as the last step, and leaves out one of four numbers.
 */
function estimate(state: ArithmeticState<Rational>): number {
  if (isSolved(state)) return 1;
  if (isDeadEnd(rules, state)) return 0;
  const numbers = state.numbers.map((operand) => ({ operand, value: approximate(operand.value) }));
  let distance = Number.POSITIVE_INFINITY;
  for (const { left, right, result } of [...operationsByPair(rules, state)].flat()) {
    const value = approximate(result);
    if (numbers.length === 2) distance = Math.min(distance, Math.abs(value - state.target));
    for (const { operand, value: other } of numbers) {
      if (operand === left || operand === right) continue;
      const sum = Math.abs(value + other - state.target);
      const product = Math.abs(value * other - state.target);
      distance = Math.min(distance, sum, product);
    }
  }
  return 0.9 / (1 + distance);
}

function approximate({ numerator, denominator }: Rational): number {
  return numerator / denominator;
}

/**
 * The exact number of steps still to take: a step leaves one number fewer, and a solution leaves one. A
 * single number that is not the target is a dead end.
 */
function heuristic(state: ArithmeticState<Rational>): number {
  const steps = state.numbers.length - 1;
  return steps > 0 || isSolved(state) ? steps : Number.POSITIVE_INFINITY;
}
