import type { Interval } from '../base/stats/wilson-interval.ts';
import type { BenchBudget } from './report.ts';

/** The placeholder if a figure does not apply. */
export const none = '–';

/** The placeholder for an unknown figure, such as a price. */
export const unknown = 'unknown';

/** A share as `73.5 %`. */
export function percent(share: number | null): string {
  return known(share, (value) => `${(100 * value).toFixed(1)} %`);
}

/** A share with its interval, as `73.5 % [70.1, 76.7]`. */
export function percentWithin(share: number | null, { low, high }: Interval): string {
  if (share === null) return none;
  return `${percent(share)} [${points(low)}, ${points(high)}]`;
}

/** A difference of shares with its interval in points, as `+8.0 [4.2, 11.7]`. */
export function pointsWithin(difference: number, { low, high }: Interval): string {
  return `${signedPoints(difference)} [${points(low)}, ${points(high)}]`;
}

/** A p-value, as `0.012`. */
export function pValue(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** A count or a mean: below 100 to one decimal, from there on whole, as `27.5` or `1,012`. */
export function amount(value: number | null): string {
  return known(value, (number) => {
    const maximumFractionDigits = Math.abs(number) < 99.95 ? 1 : 0;
    return number.toLocaleString('en', { maximumFractionDigits });
  });
}

/** Dollars: cents from a dollar on, below it two digits that count, as `$1,204.50` or `$0.0034`. */
export function dollars(usd: number | null): string {
  return known(usd, (value) => {
    if (value === 0) return '$0';
    const digits = value >= 1 ? 2 : Math.min(12, 1 - Math.floor(Math.log10(value)));
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return `$${value.toLocaleString('en', options)}`;
  });
}

/** A limit, as `2,000 tokens`, `60 calls`, `$0.05` or `1.5 s`. */
export function budgetText({ unit, limit }: BenchBudget): string {
  switch (unit) {
    case 'usd':
      return dollars(limit);
    case 'ms':
      return limit < 1_000 ? `${amount(limit)} ms` : `${amount(limit / 1_000)} s`;
    case 'calls':
    case 'tokens':
      return `${amount(limit)} ${limit === 1 ? unit.slice(0, -1) : unit}`;
  }
}

/** A difference in points with its sign, such as `−3.0`. */
export function signedPoints(difference: number): string {
  return `${difference >= 0.0005 ? '+' : ''}${points(difference)}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly string[]): string {
  const [last = '', ...others] = parts.toReversed();
  return others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`;
}

/** Text of others in one line of a table, cut in its middle: names that differ most often do so at an end. */
export function shortened(text: string, most: number): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\s]+/gu, ' ').trim();
  const characters = [...line];
  if (characters.length <= most) return line;
  const head = Math.ceil((most - 1) / 2);
  const tail = characters.slice(characters.length - (most - 1 - head)).join('');
  return `${characters.slice(0, head).join('')}…${tail}`;
}

/** Points of a hundred, without a sign before zero. */
export function points(share: number): string {
  const shown = (100 * share).toFixed(1);
  return Number(shown) === 0 ? '0.0' : shown.replace('-', '−');
}

function known(value: number | null, shown: (value: number) => string): string {
  return value === null || !Number.isFinite(value) ? unknown : shown(value);
}
