import { dollars } from '../figures.ts';
import type { BenchBudget } from '../report.ts';

/** Values for the ticks of a logarithmic axis: of those given the ones whose labels have room. */
export function ticksThatFit(
  values: readonly number[],
  { width, label }: { readonly width: number; readonly label: (value: number) => string },
): readonly number[] {
  const sorted = [...new Set(values)].toSorted((a, b) => a - b);
  const [first = 1, last = 1] = [sorted[0], sorted.at(-1)];
  const place = (value: number) =>
    first === last ? 0 : (width * Math.log(value / first)) / Math.log(last / first);
  const kept: number[] = [];
  // Letters of this size are some seven units wide.
  const room = (a: number, b: number) => 3.5 * (label(a).length + label(b).length) + 6;
  for (const value of sorted) {
    const before = kept.at(-1);
    if (before === undefined || place(value) - place(before) >= room(before, value))
      kept.push(value);
  }
  return kept;
}

/** One, two and five times each power of ten within limits. */
export function roundValues(low: number, high: number): readonly number[] {
  const values: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const factor of [1, 2, 5]) {
      const value = Number(`${factor}e${power}`);
      if (value >= low && value <= high) values.push(value);
    }
  }
  return values;
}

/** The limits of an axis of shares: tenths around all of them, two at least. */
export function shareDomain(shares: readonly number[]): readonly [number, number] {
  const low = Math.floor(10 * Math.min(1, ...shares));
  const high = Math.ceil(10 * Math.max(0, ...shares));
  if (high - low >= 2) return [low / 10, high / 10];
  const from = Math.max(0, Math.min(low - 1, 8));
  return [from / 10, Math.min(10, Math.max(high + 1, from + 2)) / 10];
}

/** A number in few letters: `2k`, `1.5M`. */
export function compact(value: number): string {
  return value
    .toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 })
    .replace('K', 'k');
}

/** A limit in few letters: `2k`, `$0.05`, `1.5 s`. */
export function shortLimit({ unit, limit }: BenchBudget): string {
  if (unit === 'usd') return shortDollars(limit);
  if (unit !== 'ms') return compact(limit);
  return shortTime(limit);
}

/** Milliseconds in few letters. */
export function shortTime(ms: number): string {
  return ms < 1_000 ? `${compact(ms)} ms` : `${compact(ms / 1_000)} s`;
}

/** Dollars in few letters. */
export function shortDollars(usd: number): string {
  return usd >= 1 ? `$${compact(usd)}` : dollars(usd).replace(/(\.\d*?[1-9])0+$/, '$1');
}

/** The label of a budget axis. */
export const unitTitles: Readonly<Record<BenchBudget['unit'], string>> = {
  calls: 'budget in calls',
  ms: 'budget in time',
  tokens: 'budget in tokens',
  usd: 'budget in dollars',
};
