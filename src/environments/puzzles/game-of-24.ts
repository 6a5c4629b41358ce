import { EspalierError } from '../../base/errors.ts';
import { expectInteger } from '../../base/expect.ts';
import type { ArithmeticRules, ArithmeticState, ArithmeticStep } from './arithmetic.ts';
import { operationsByPair } from './arithmetic-actions.ts';
import { arithmeticEnvironment, isDeadEnd, renderNumbers } from './arithmetic-environment.ts';
import {
  type ArithmeticInstance,
  expectNumbers,
  formatNumbers,
  parseNumbers,
} from './arithmetic-instance.ts';
import { writeNumbers } from './arithmetic-transition.ts';
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
import { replay } from './replay.ts';

/** A Game of 24: all numbers have to be used, each once. The target is 24 where it is left out. */
export type GameOf24Instance = ArithmeticInstance;

/** The numbers that remain, exact fractions included, and how they were made. */
export type GameOf24State = ArithmeticState<Rational>;

/** One operation on two of the numbers. */
export type GameOf24Action = ArithmeticStep<Rational>;

/** How to make a Game of 24. */
export interface GameOf24Options {
  /** The largest number that is drawn: an integer from 4 to 100. @defaultValue 13 */
  readonly largest?: number;
  /** The number to make: an integer from 1 to 1,000. @defaultValue 24 */
  readonly target?: number;
}

/**
 * The Game of 24: make 24 from four numbers with +, −, × and ÷, using each number once.
 *
 * The task of Yao et al., "Tree of Thoughts", 2023. All arithmetic is exact, so `8 / (3 - 8 / 3)` is
 * found and a rounded quotient is a mistake. Intermediate results may be negative or fractions.
 */
export const gameOf24: Puzzle<GameOf24Instance, GameOf24State, GameOf24Action, GameOf24Options> = {
  name: 'game24',
  title: 'Game of 24',
  environment,
  generate(random, { largest = 13, target = 24 } = {}) {
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
  parse: parseNumbers,
  format: formatNumbers,
  check: (instance, actions) =>
    replay(environment(instance), actions, (state) =>
      isSolved(state)
        ? undefined
        : `Expected one number, \`${state.target}\`, got \`${writeNumbers(rules, state)}\`.`,
    ),
  render: (state) => renderNumbers(rules, state),
  estimate,
  heuristic,
};

const operations = { '+': add, '-': subtract, '*': multiply, '/': divide } as const;

const rules: ArithmeticRules<Rational> = {
  name: gameOf24.name,
  allowed: 'a division by another number than 0 and a result of safe integers',
  compute: (operator, left, right) => operations[operator](left, right),
  compare: compareRationals,
  write: formatRational,
  read: parseRational,
  solved: isSolved,
  task: [
    'Make the target from the numbers below. One step takes two of the numbers and puts in their place',
    'the result of one operation on them: +, -, * or /. Fractions are exact, and written like 8/3.',
    'Every number has to be used: the puzzle is solved when the target is the only number left.',
  ].join('\n'),
};

function environment(instance: GameOf24Instance) {
  expectNumbers(instance);
  const { numbers, target = 24 } = instance;
  return arithmeticEnvironment(rules, {
    numbers: numbers
      .toSorted((a, b) => a - b)
      .map((number) => ({ value: rational(number), expression: `${number}` })),
    target,
  });
}

function isSolved({ numbers, target }: GameOf24State): boolean {
  const [only, ...others] = numbers;
  return others.length === 0 && only !== undefined && isEqual(only.value, target);
}

/**
 * How close one step and a sum or product come to the target: `0.9 / (1 + d)`, where `d` is the smallest
 * distance between the target and `r + n` or `r * n`, for the result `r` of an operation on two of the
 * numbers and another number `n`; for two numbers, between the target and `r`.
 *
 * It sees no difference or quotient as the last step, and of four numbers it leaves one out.
 */
function estimate(state: GameOf24State): number {
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
function heuristic(state: GameOf24State): number {
  const steps = state.numbers.length - 1;
  return steps > 0 || isSolved(state) ? steps : Number.POSITIVE_INFINITY;
}

function isEqual({ numerator, denominator }: Rational, integer: number): boolean {
  return numerator === integer && denominator === 1;
}
