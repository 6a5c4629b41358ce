/**
 * Elementary functions that are equal to the last bit on every platform, unlike `Math.exp` and others, which differ
 * between versions of V8. Only `+ − × ÷`, `Math.floor` and `Math.abs` are used, which IEEE 754 defines exactly, and
 * Taylor series over a reduced argument. Relative errors stay below 1e-15, absolute ones of `sin` and `cos` too.
 */

// ln 2 and π / 2, each in parts: an integer of up to 20 bits times the upper part is exact.
const ln2Upper = 0.6931471803691238;
const ln2Lower = 1.9082149292705877e-10;
const halfPiUpper = 1.5707963267341256;
const halfPiMiddle = 6.077100506303966e-11;
const halfPiLower = 2.0222662487959506e-21;

/** e to the power of `x`. */
export function exp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > 709.79) return Number.POSITIVE_INFINITY;
  if (x < -745.2) return 0;
  const k = Math.floor(x / (ln2Upper + ln2Lower) + 0.5);
  const rest = x - k * ln2Upper - k * ln2Lower;
  return scale(1 + rest * horner(expSeries, rest), k);
}

/** The natural logarithm of `x`. */
export function log(x: number): number {
  if (Number.isNaN(x) || x < 0) return Number.NaN;
  if (x === 0) return Number.NEGATIVE_INFINITY;
  if (x === Number.POSITIVE_INFINITY) return x;
  const { fraction, exponent } = split(x);
  // ln f = 2 artanh s, where s = (f − 1) / (f + 1) is at most 0.172.
  const s = (fraction - 1) / (fraction + 1);
  const small = 2 * s * horner(artanhSeries, s * s);
  return exponent * ln2Upper + (exponent * ln2Lower + small);
}

/** The sine of an angle of up to a million. */
export function sin(x: number): number {
  const { rest, quarter } = reduce(x);
  return quarterSine(rest, quarter);
}

/** The cosine of an angle of up to a million. */
export function cos(x: number): number {
  const { rest, quarter } = reduce(x);
  return quarterSine(rest, quarter + 1);
}

/** sin(rest + quarter · π / 2) for a small rest. */
function quarterSine(rest: number, quarter: number): number {
  const square = rest * rest;
  const value = quarter % 2 === 0 ? rest * horner(sinSeries, square) : horner(cosSeries, square);
  return quarter % 4 < 2 ? value : -value;
}

function reduce(x: number): { readonly rest: number; readonly quarter: number } {
  const k = Math.floor(x / (halfPiUpper + halfPiMiddle) + 0.5);
  const rest = x - k * halfPiUpper - k * halfPiMiddle - k * halfPiLower;
  return { rest, quarter: ((k % 4) + 4) % 4 };
}

/** a₀ + a₁ x + a₂ x² + … */
function horner(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}

const factorials = [1];
for (let n = 1; n <= 20; n++) factorials.push(n * (factorials[n - 1] ?? 1));

/** (exp x − 1) / x */
const expSeries: readonly number[] = factorials.slice(1, 15).map((factorial) => 1 / factorial);
/** sin x / x in x² */
const sinSeries: readonly number[] = alternating(1);
/** cos x in x² */
const cosSeries: readonly number[] = alternating(0);
/** artanh x / x in x² */
const artanhSeries: readonly number[] = Array.from({ length: 12 }, (_, n) => 1 / (2 * n + 1));

function alternating(offset: number): readonly number[] {
  return Array.from(
    { length: 10 },
    (_, n) => (n % 2 === 0 ? 1 : -1) / (factorials[2 * n + offset] ?? 1),
  );
}

const bits = new DataView(new ArrayBuffer(8));

/** 2 to the power of an exponent in the range of normal numbers. */
function powerOfTwo(exponent: number): number {
  bits.setInt32(0, (exponent + 1023) << 20);
  bits.setInt32(4, 0);
  return bits.getFloat64(0);
}

/** `value` · 2 ** `exponent`, in two steps if one factor would overflow. */
function scale(value: number, exponent: number): number {
  const half = Math.floor(exponent / 2);
  return value * powerOfTwo(half) * powerOfTwo(exponent - half);
}

/** `x` as fraction · 2 ** exponent, with the fraction between √½ and √2. */
function split(x: number): { readonly fraction: number; readonly exponent: number } {
  const subnormal = x < 2.2250738585072014e-308;
  bits.setFloat64(0, subnormal ? x * powerOfTwo(54) : x);
  const high = bits.getInt32(0);
  const exponent = (high >>> 20) - 1023 - (subnormal ? 54 : 0);
  bits.setInt32(0, (high & 0xfffff) | (1023 << 20));
  const fraction = bits.getFloat64(0);
  return fraction > Math.SQRT2
    ? { fraction: fraction / 2, exponent: exponent + 1 }
    : { fraction, exponent };
}
