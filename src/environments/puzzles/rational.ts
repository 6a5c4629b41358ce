import { EspalierError } from '../../base/errors.ts';

/**
 * An exact fraction in lowest terms. Both parts are safe integers and the denominator is positive, so
 * equal numbers are equal objects.
 */
export interface Rational {
  /** A safe integer; its sign is the sign of the number. */
  readonly numerator: number;
  /** A safe integer from 1 up, without a common divisor. */
  readonly denominator: number;
}

/**
 * The fraction `numerator / denominator` in lowest terms.
 *
 * @throws EspalierError `usage` if a part is no safe integer or the denominator is 0.
 */
export function rational(numerator: number, denominator = 1): Rational {
  const fraction = reduce(numerator, denominator);
  if (fraction === undefined) {
    throw new EspalierError(
      'usage',
      `Expected a fraction of safe integers, got \`${numerator}/${denominator}\`.`,
    );
  }
  return fraction;
}

/** The exact sum, or `undefined` if it leaves the safe integers. */
export function add(left: Rational, right: Rational): Rational | undefined {
  const first = left.numerator * right.denominator;
  const second = right.numerator * left.denominator;
  // Two rounded products could cancel into a number that looks exact.
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(second)) return undefined;
  return reduce(first + second, left.denominator * right.denominator);
}

/** The exact difference, or `undefined` if it leaves the safe integers. */
export function subtract(left: Rational, right: Rational): Rational | undefined {
  return add(left, { numerator: -right.numerator, denominator: right.denominator });
}

/** The exact product, or `undefined` if it leaves the safe integers. */
export function multiply(left: Rational, right: Rational): Rational | undefined {
  return reduce(left.numerator * right.numerator, left.denominator * right.denominator);
}

/** The exact quotient, or `undefined` for a division by 0 and where it leaves the safe integers. */
export function divide(left: Rational, right: Rational): Rational | undefined {
  return reduce(left.numerator * right.denominator, left.denominator * right.numerator);
}

/** Negative if `left` is smaller, positive if it is larger, 0 if both are equal. */
export function compareRationals(left: Rational, right: Rational): number {
  if (left.denominator === right.denominator) return left.numerator - right.numerator;
  const leftProduct = left.numerator * right.denominator;
  const rightProduct = right.numerator * left.denominator;
  if (Number.isSafeInteger(leftProduct) && Number.isSafeInteger(rightProduct)) {
    return leftProduct - rightProduct;
  }
  return Number(
    BigInt(left.numerator) * BigInt(right.denominator) -
      BigInt(right.numerator) * BigInt(left.denominator),
  );
}

/** A fraction as text: `24`, `-3`, `8/3`. */
export function formatRational({ numerator, denominator }: Rational): string {
  return denominator === 1 ? String(numerator) : `${numerator}/${denominator}`;
}

const pattern = /^([+-]?)(\d+)(?:\.(\d+)|\/(\d+))?$/;

/** Reads `24`, `-3`, `8/3` or `2.5`; `undefined` for any other text and for unsafe integers. */
export function parseRational(text: string): Rational | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', decimals = '', denominator = '1'] = match;

  const scale = 10 ** decimals.length;
  const magnitude = Number(whole + decimals);
  return reduce(sign === '-' ? -magnitude : magnitude, scale * Number(denominator));
}

/**
 * The product, or the sum, of two safe integers is exact or at least 2 ** 53 in size, so it suffices to check the
 * possibly rounded parts.
 */
function reduce(numerator: number, denominator: number): Rational | undefined {
  if (denominator === 1 && Number.isSafeInteger(numerator)) {
    return { numerator: numerator + 0, denominator };
  }
  if (!Number.isSafeInteger(numerator) || !Number.isSafeInteger(denominator)) return undefined;
  if (denominator === 0) return undefined;

  const divisor = greatestCommonDivisor(Math.abs(numerator), Math.abs(denominator));
  const signed = denominator < 0 ? -divisor : divisor;
  // Adding 0 turns −0 into 0.
  return { numerator: numerator / signed + 0, denominator: denominator / signed };
}

function greatestCommonDivisor(larger: number, smaller: number): number {
  let [dividend, divisor] = [larger, smaller];
  while (divisor !== 0) [dividend, divisor] = [divisor, dividend % divisor];
  return dividend;
}
