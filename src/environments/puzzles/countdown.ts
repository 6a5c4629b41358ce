import { EspalierError } from '../../base/errors.ts';
import { expectation, expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Random } from '../../contracts/context.ts';
import type { ArithmeticRules, ArithmeticState, ArithmeticStep, Operator } from './arithmetic.ts';
import { operationsByPair } from './arithmetic-actions.ts';
import { arithmeticPuzzle, isDeadEnd } from './arithmetic-environment.ts';
import { type ArithmeticInstance, parseNumbers } from './arithmetic-instance.ts';
import type { Puzzle } from './puzzle.ts';

const rules: ArithmeticRules<number> = {
  name: 'countdown',
  title: 'Countdown',
  allowed: 'an operation whose result is a positive whole number',
  compute,
  of: (integer) => integer,
  compare: (left, right) => left - right,
  write: String,
  read: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined),
  solved: isSolved,
  wanted: (target) => `\`${target}\` among the numbers`,
  task: [
    'Make the target from the numbers below. One step takes two of the numbers and puts in their place',
    'the result of one operation on them: +, -, * or /. Every result has to be a positive whole number.',
    'Not every number has to be used: the puzzle is solved when the target is among the numbers.',
  ].join('\n'),
};

/**
 * Countdown, the numbers round of the TV shows *Des chiffres et des lettres* and *Countdown*: make a
 * number of three digits from six numbers with +, −, × and ÷.
 *
 * Not every number has to be used: the puzzle is solved as soon as the target is among the numbers. All
 * results are positive whole numbers.
 */
export const countdown: Puzzle<
  Required<ArithmeticInstance>,
  ArithmeticState<number>,
  ArithmeticStep<number>,
  {
    /** The number of numbers drawn: an integer from 3 to 8. @defaultValue 6 */
    readonly numbers?: number;
    /**
     * The number of large numbers (25, 50, 75, 100): an integer from 0 to 4, at most `numbers`. @defaultValue random
     */
    readonly large?: number;
  }
> = {
  ...arithmeticPuzzle(rules),
  generate,
  parse(text) {
    const { numbers, target } = parseNumbers(text);
    if (target !== undefined) return { numbers, target };
    throw new EspalierError(
      'usage',
      `Expected a target such as \`-> 952\` after the numbers, got \`${text.trim()}\`.`,
    );
  },
  estimate,
  heuristic,
};

function compute(operator: Operator, left: number, right: number): number | undefined {
  switch (operator) {
    case '+':
      return safe(left + right);
    case '-':
      return left > right ? left - right : undefined;
    case '*':
      return safe(left * right);
    case '/':
      return left % right === 0 ? left / right : undefined;
  }
}

function safe(value: number): number | undefined {
  return Number.isSafeInteger(value) ? value : undefined;
}

function isSolved({ numbers, target }: ArithmeticState<number>): boolean {
  return numbers.some(({ value }) => value === target);
}

/**
 * How close one step comes to the target: `0.9 / (1 + d / 10)`, where `d` is the smallest distance between
 * the target and a number or the result of one operation on two of the numbers. A round is often won
 * from a number near the target with two or three small ones, but not always.
 */
function estimate(state: ArithmeticState<number>): number {
  if (isSolved(state)) return 1;
  if (isDeadEnd(rules, state)) return 0;
  const reach = [...state.numbers.map(({ value }) => value), ...nextResults(state)];
  const distance = Math.min(...reach.map((value) => Math.abs(value - state.target)));
  return 0.9 / (1 + distance / 10);
}

/**
 * 0, 1 or 2 steps, or `Infinity`: admissible because it looks one step ahead and claims no more than it sees. If no
 * number is the target, a step is needed; if no step makes it, a second one is; and each step leaves one number fewer,
 * so two numbers allow only one step.
 *
 * No number ever exceeds the product of all numbers with each 1 counted as 2 — for `a, b ≥ 2`, `a + b ≤ a * b` — so a
 * target above it is unreachable.
 */
function heuristic(state: ArithmeticState<number>): number {
  const { numbers, target } = state;
  if (isSolved(state)) return 0;
  const bound = numbers.reduce((product, { value }) => product * Math.max(value, 2), 1);
  if (bound < target) return Number.POSITIVE_INFINITY;
  if (nextResults(state).includes(target)) return 1;
  return numbers.length > 2 ? 2 : Number.POSITIVE_INFINITY;
}

function nextResults(state: ArithmeticState<number>): readonly number[] {
  return [...operationsByPair(rules, state)].flat().map(({ result }) => result);
}

const largeNumbers = [25, 50, 75, 100];
const smallNumbers = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10];

/** Draws numbers and a target from 101 to 999 until a random play reaches the target. */
function generate(
  random: Random,
  options: Parameters<typeof countdown.generate>[1] = {},
): Required<ArithmeticInstance> {
  expectOptions('countdown.generate', options, 'numbers large');
  const { numbers: count = 6, large } = options;
  expectInteger('numbers', count, { min: 3, max: 8 });
  if (large !== undefined) expectInteger('large', large, { min: 0, max: Math.min(4, count) });

  for (let attempt = 0; attempt < 10_000; attempt++) {
    const largeCount = large ?? random.integer(Math.min(4, count) + 1);
    const instance = {
      numbers: [
        ...draw(random, largeNumbers, largeCount),
        ...draw(random, smallNumbers, count - largeCount),
      ],
      target: 101 + random.integer(899),
    };
    if (canBeReached(random, instance)) return instance;
  }
  throw expectation('numbers', 'large enough for a target of three digits', count);
}

function canBeReached(random: Random, instance: ArithmeticInstance): boolean {
  const { reset, step, actions } = arithmeticPuzzle(rules).environment(instance);
  for (let attempt = 0; attempt < 100; attempt++) {
    let { state } = reset();
    for (;;) {
      const steps = heuristic(state);
      if (steps <= 1) return true;
      if (steps === Number.POSITIVE_INFINITY) break;
      const legal = actions(state);
      const action = legal[random.integer(legal.length)];
      if (action === undefined) break;
      state = step(state, action).state;
    }
  }
  return false;
}

function draw(random: Random, from: readonly number[], count: number): readonly number[] {
  const rest = [...from];
  return Array.from({ length: count }, () => rest.splice(random.integer(rest.length), 1)).flat();
}
