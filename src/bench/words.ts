import type { BenchBudget } from './report.ts';

/** An amount of a unit in words: `8,000 tokens`, `1 call`, `$0.05`, `2.5 s`. */
export function amountOf(amount: number, unit: BenchBudget['unit']): string {
  if (unit === 'usd') return dollars(amount);
  if (unit === 'ms') return `${shortNumber(amount / 1000)} s`;
  return `${shortNumber(amount)} ${amount === 1 ? unit.slice(0, -1) : unit}`;
}

/** A limit in words. */
export function budgetIn({ unit, limit }: BenchBudget): string {
  return amountOf(limit, unit);
}

/** A share as a percentage with one digit: `62.5 %`. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** A difference of shares in points with one digit and its sign, such as `−3.0`. */
export function signedPoints(difference: number): string {
  const text = (100 * difference).toFixed(1);
  if (Number(text) === 0) return '0.0';
  return difference < 0 ? text.replace('-', '−') : `+${text}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly string[]): string {
  const [last = '', ...others] = parts.toReversed();
  return others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`;
}

/** Dollars with as many digits as tell something. */
export function dollars(amount: number): string {
  return `$${amount !== 0 && Math.abs(amount) < 0.1 ? Number(amount.toPrecision(2)) : amount.toFixed(2)}`;
}

/** Whole from 100 up, else with two digits at most. */
function shortNumber(amount: number): string {
  return amount.toLocaleString('en-US', { maximumFractionDigits: amount >= 100 ? 0 : 2 });
}
