/** An exact fraction of integers of any size. The denominator is positive; it need not be in lowest terms. */
export interface ExactNumber {
  /** The numerator, whose sign is that of the number. */
  readonly numerator: bigint;
  /** The denominator, from 1 up. */
  readonly denominator: bigint;
}

/** Larger powers do not occur in answers, and would take long to compute. */
const largestPower = 400;

const decimal = String.raw`(?:\d[\d,]*(?:\.\d*)?|\.\d+)`;
const fraction = /^(\d+)\s*\/\s*(\d+)$/;
const mixed = /^(\d+)\s+(\d+)\s*\/\s*(\d+)$/;
const quotient = new RegExp(`^(${decimal})\\s*/\\s*([+-]?${decimal})$`);
const scientific = new RegExp(
  `^(${decimal})(?:[eE]|\\s*[×*·]\\s*10\\s*\\^\\s*)(?:\\{\\s*([+-]?\\d+)\\s*\\}|([+-]?\\d+))$`,
);
const power = /^10\s*\^\s*(?:\{\s*([+-]?\d+)\s*\}|([+-]?\d+))$/;
/** Groups of digits separated by spaces, apostrophes or, if there are several, by points; numbers in code. */
const groupedOtherwise =
  /^(?:\d{1,3}(?:([ '’_])\d{3})(?:\1\d{3})*(?:\.\d*)?|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,})$/;
const grouped = /^\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;

/**
 * Reads a number as answers write it: `24`, `-3`, `1,234.50`, `8/3`, `1 1/2`, `1.2e5`, `1.2 × 10^5`, `10^{-3}`.
 * `undefined` for any other text, and for a division by 0.
 */
export function readNumber(text: string): ExactNumber | undefined {
  const match = /^([+-]?)\s*(.+)$/s.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, body = ''] = match;
  const size = readSize(body.trim());
  if (size === undefined || sign !== '-') return size;
  return { numerator: -size.numerator, denominator: size.denominator };
}

/** Reads a number without a sign. */
function readSize(text: string): ExactNumber | undefined {
  const plain = readDecimal(text);
  if (plain !== undefined) return plain;
  const whole = mixed.exec(text);
  if (whole !== null) return readMixed(whole);
  const simple = fraction.exec(text) ?? quotient.exec(text);
  if (simple !== null) return divide(readDecimal(simple[1] ?? ''), readNumber(simple[2] ?? ''));
  const [, mantissa = '', braced, bare] = scientific.exec(text) ?? [];
  if (mantissa !== '') return scale(readDecimal(mantissa), Number(braced ?? bare));
  const [isPower, ...exponents] = power.exec(text) ?? [];
  if (isPower === undefined) return undefined;
  return scale({ numerator: 1n, denominator: 1n }, Number(exponents[0] ?? exponents[1]));
}

function readMixed([, whole = '', top = '', bottom = '']: readonly string[]) {
  const denominator = BigInt(bottom);
  if (denominator === 0n) return undefined;
  return { numerator: BigInt(whole) * denominator + BigInt(top), denominator };
}

/** Reads `12`, `12.5`, `.5`, `12.`, `1,234.5`, `1 234` and `1.234,5`; commas must part groups of three digits. */
function readDecimal(written: string): ExactNumber | undefined {
  const text = plainlyGrouped(written);
  if (text.includes(',') && !grouped.test(text)) return undefined;
  const match = /^(\d*)(?:\.(\d*))?$/.exec(text.replaceAll(',', ''));
  if (match === null) return undefined;
  const [, whole = '', decimals = ''] = match;
  if (whole + decimals === '') return undefined;
  return { numerator: BigInt(whole + decimals), denominator: 10n ** BigInt(decimals.length) };
}

/** A number with its digit groups, if any, in English notation. */
function plainlyGrouped(text: string): string {
  const [isGrouped, mark] = groupedOtherwise.exec(text) ?? [];
  if (isGrouped === undefined) return text;
  return mark === undefined
    ? text.replaceAll('.', '').replace(',', '.')
    : text.replaceAll(mark, '');
}

function divide(
  left: ExactNumber | undefined,
  right: ExactNumber | undefined,
): ExactNumber | undefined {
  if (left === undefined || right === undefined || right.numerator === 0n) return undefined;
  const numerator = left.numerator * right.denominator;
  const denominator = left.denominator * right.numerator;
  return denominator < 0n
    ? { numerator: -numerator, denominator: -denominator }
    : { numerator, denominator };
}

/** A number times 10 to the power of `exponent`. */
export function scale(value: ExactNumber | undefined, exponent: number): ExactNumber | undefined {
  if (value === undefined || !(Math.abs(exponent) <= largestPower)) return undefined;
  const factor = 10n ** BigInt(Math.abs(exponent));
  const { numerator, denominator } = value;
  return exponent < 0
    ? { numerator, denominator: denominator * factor }
    : { numerator: numerator * factor, denominator };
}

/** Whether two numbers are equal or, with a tolerance, differ by at most that fraction of the larger one. */
export function isSameNumber(
  left: ExactNumber,
  right: ExactNumber,
  tolerance: ExactNumber | undefined,
): boolean {
  const first = left.numerator * right.denominator;
  const second = right.numerator * left.denominator;
  if (first === second) return true;
  if (tolerance === undefined) return false;
  const gap = magnitude(first - second) * tolerance.denominator;
  return [first, second].some((part) => gap <= magnitude(part) * tolerance.numerator);
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
