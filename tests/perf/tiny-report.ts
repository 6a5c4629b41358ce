/** The table of `npm run bench:tiny`. */
import type { Run } from './tiny-ours.ts';
import type { Workload } from './tiny-workloads.ts';

/** All repetitions of a workload. */
export interface Measured {
  readonly workload: Workload;
  readonly tiny: readonly Run[];
  readonly decoder: readonly Run[];
  /** With the settings that were the faster ones. */
  readonly llama: readonly Run[];
  /** The letter of these settings. */
  readonly setting: string;
}

/** The head of the table. */
export const header: string = row([
  ...['', 'tiny()', 'llama.cpp', 'ratio', 'bare decoder', 'own clock', 'ratio', 'computed'],
]);

/** A line of the table. */
export function line(measured: Measured): string {
  const { workload, tiny, decoder, llama, setting } = measured;
  const own = ratesOf(workload, llama, ownSecondsOf);
  return row([
    workload.name,
    shown(ratesOf(workload, tiny)),
    `${shown(ratesOf(workload, llama))} ${setting}`,
    ratioOf(measured).toFixed(2),
    shown(ratesOf(workload, decoder)),
    shown(own),
    (median(ratesOf(workload, decoder)) / median(own)).toFixed(2),
    `${computedOf(tiny)} : ${computedOf(llama)}`,
  ]);
}

/** How fast the public model is, in parts of llama.cpp. */
export function ratioOf({ workload, tiny, llama }: Measured): number {
  return median(ratesOf(workload, tiny)) / median(ratesOf(workload, llama));
}

/** The repetitions that computed another number of tokens than there are different beginnings of texts. */
export function wasteful({ tiny, decoder }: Measured): readonly Run[] {
  return [...tiny, ...decoder].filter(({ computed, distinct }) => computed !== distinct);
}

/** The share of its time that something took, in per cent. */
export function share(runs: readonly Run[], part: (run: Run) => number): number {
  const sum = (of: (run: Run) => number) => runs.reduce((total, run) => total + of(run), 0);
  return Math.round((100 * sum(part)) / sum(({ seconds }) => seconds));
}

/** What one side counted as its time in the model itself. */
export function ownSecondsOf({ seconds, ownSeconds = seconds }: Run): number {
  return ownSeconds;
}

/** The rates of the repetitions. */
export function ratesOf(
  { unit, rounds }: Workload,
  runs: readonly Run[],
  secondsOf: (run: Run) => number = ({ seconds }) => seconds,
): readonly number[] {
  const asked = rounds.flat().reduce((sum, { tokens }) => sum + tokens.length, 0);
  return runs.map((run) => (unit === 'prompt' ? asked : run[unit]) / secondsOf(run));
}

/** The middle one, or the mean of the two. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** A median, and half the range of all in per cent of it. */
function shown(rates: readonly number[]): string {
  const middle = median(rates);
  const spread = (50 * (Math.max(...rates) - Math.min(...rates))) / middle;
  return `${Math.round(middle).toLocaleString('en')} ±${Math.round(spread)}%`;
}

function computedOf(runs: readonly Run[]): string {
  return Math.round(median(runs.map(({ computed }) => computed))).toLocaleString('en');
}

function row([first = '', ...cells]: readonly string[]): string {
  const widths = [15, 17, 7, 15, 15, 7, 18];
  return [first.padEnd(25), ...cells.map((cell, at) => cell.padStart(widths[at] ?? 0))].join('');
}
