import { describeValue } from '../../base/expect.ts';
import type { Failure } from '../../contracts/failure.ts';
import { floatsOf } from '../transport/numbered.ts';
import type { TextRecipe } from './recipe.ts';

/** Tolerance for the rounding of half-precision sums. */
const rounding = 0.02;
/** Tolerance for the rounding of one number. */
const tolerance = 1e-6;

/** How the numbers of a row become a score. */
export type RowReading = Pick<TextRecipe, 'columns' | 'good' | 'scores'> & {
  /** The kind of numbers. */
  readonly activation: 'logits' | 'probabilities';
};

/** The score in a row of numbers: a probability, or the logit of a whole solution. */
export function scoreOfRow(row: unknown, reading: RowReading): number | Failure {
  const { columns, good, activation } = reading;
  const numbers: readonly unknown[] = Array.isArray(row) ? row : [row];
  if (numbers.length !== columns) {
    return invalid(`Expected a row of ${columns} numbers, got ${numbers.length}.`);
  }
  const odd = numbers.find((number) => typeof number !== 'number' || !Number.isFinite(number));
  if (odd !== undefined || numbers.includes(undefined)) {
    return invalid(`Expected a score to be a number, got ${describeValue(odd)}.`);
  }
  const sound = numbers as readonly number[];
  return activation === 'logits' ? scoreOfLogits(sound, reading) : probability(sound, good);
}

function scoreOfLogits(logits: readonly number[], { good, scores }: RowReading): number {
  const [first = 0, second] = logits;
  if (second === undefined) return scores === 'solution' ? first : sigmoid(first);
  return sigmoid(good === 0 ? first - second : second - first);
}

/** A single probability, or that of good relative to good and bad. */
export function probability(numbers: readonly number[], good: number): number | Failure {
  const odd = numbers.find((number) => number < -tolerance || number > 1 + tolerance);
  if (odd !== undefined) {
    return invalid(
      `Expected a probability from 0 to 1, got \`${odd}\`. Set \`activation\` to 'logits' if the server returns logits.`,
    );
  }
  const sum = numbers.reduce((total, number) => total + number, 0);
  if (numbers.length > 1 && Math.abs(sum - 1) > rounding) {
    return invalid(`Expected the probabilities of a row to sum to 1, got \`${sum}\`.`);
  }
  return Math.min(1, Math.max(0, numbers[good] ?? 0));
}

/** σ(x) = 1 / (1 + e^−x). */
export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** One score per row, or the failure of the first invalid one. */
export function scoresOfRows(
  rows: readonly unknown[],
  steps: number,
  reading: RowReading,
): readonly number[] | Failure {
  if (rows.length !== steps) {
    return invalid(`Expected one row of scores per step, ${steps} in all, got ${rows.length}.`);
  }
  const scores: number[] = [];
  for (const row of rows) {
    const score = scoreOfRow(row, reading);
    if (typeof score !== 'number') return score;
    scores.push(score);
  }
  return scores;
}

/** The rows of a reply for one text: lists, or bytes as base64. */
export function rowsOf(data: unknown, columns: number): readonly unknown[] | Failure {
  if (Array.isArray(data)) return data as readonly unknown[];
  if (typeof data !== 'string') {
    return invalid(`Expected rows of scores, got ${describeValue(data)}.`);
  }
  const floats = floatsOf(data);
  if (floats === undefined || floats.length % columns !== 0) {
    return invalid(`Expected rows of ${columns} numbers as base64, got something else.`);
  }
  return Array.from({ length: floats.length / columns }, (_, row) =>
    floats.slice(row * columns, (row + 1) * columns),
  );
}

/** The failure of one solution. */
export function invalid(message: string): Failure {
  return { kind: 'invalid', message };
}
