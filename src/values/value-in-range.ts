import { describeValue } from '../base/expect.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Failed } from '../contracts/failure.ts';

/** Tolerance for rounding errors of sums. */
const tolerance = 1e-9;

/**
 * An evaluation with a value in [0, 1], or a failure that names the source of any other value. A value that is outside
 * only by rounding is clamped.
 */
export function valueInRange(source: string, value: unknown): Evaluation | Failed {
  if (typeof value === 'number' && value >= -tolerance && value <= 1 + tolerance) {
    return { value: Math.min(1, Math.max(0, value)) };
  }
  const message = `Expected ${source} to be a number from 0 to 1, got ${describeValue(value)}.`;
  return { failure: { kind: 'invalid', message } };
}
