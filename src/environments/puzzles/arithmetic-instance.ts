import { EspalierError } from '../../base/errors.ts';
import { describeValue, expectation, expectInteger } from '../../base/expect.ts';

/** An arithmetic puzzle to solve. */
export interface ArithmeticInstance {
  /** The numbers of the start: 2 to 8 integers from 1 to 1,000,000. */
  readonly numbers: readonly number[];
  /** The number to make: an integer from 1 to 1,000,000. */
  readonly target?: number;
}

const range = { min: 1, max: 1_000_000 };
const pattern = /^\s*(\d+(?:[\s,]+\d+)*)\s*(?:(?:->|=)\s*(\d+)\s*)?$/;

/**
 * Reads `4 9 10 13 -> 24`, with or without its target.
 *
 * @throws EspalierError `usage` if the text is anything else.
 */
export function parseNumbers(text: string): ArithmeticInstance {
  const match = pattern.exec(text);
  if (match === null) {
    throw new EspalierError(
      'usage',
      `Expected numbers and a target such as \`4 9 10 13 -> 24\`, got ${describeValue(text)}.`,
    );
  }
  const [, numbers = '', target] = match;
  const instance = {
    numbers: numbers.split(/[\s,]+/).map(Number),
    ...(target !== undefined && { target: Number(target) }),
  };
  expectNumbers(instance);
  return instance;
}

/** Writes an instance in the form that `parseNumbers` reads. */
export function formatNumbers({ numbers, target }: ArithmeticInstance): string {
  return numbers.join(' ') + (target === undefined ? '' : ` -> ${target}`);
}

/** Throws a usage error unless the numbers and the target are in range. */
export function expectNumbers({ numbers, target }: ArithmeticInstance): void {
  if (!Array.isArray(numbers) || numbers.length < 2 || numbers.length > 8) {
    throw expectation('numbers', 'an array of 2 to 8 integers', numbers);
  }
  for (const [index, number] of numbers.entries()) {
    expectInteger(`numbers[${index}]`, number, range);
  }
  if (target !== undefined) expectInteger('target', target, range);
}
