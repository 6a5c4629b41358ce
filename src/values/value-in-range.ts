import { describeValue } from '../base/expect.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Failed } from '../contracts/failure.ts';

/** Room for the rounding of sums. */
const tolerance = 1e-9;

/**
 * An evaluation with a value in [0, 1], or the failure of whoever gave another one. What is outside by no
 * more than rounding is put on the bound.
 */
export function valueInRange(source: string, value: unknown): Evaluation | Failed {
  if (typeof value === 'number' && value >= -tolerance && value <= 1 + tolerance) {
    return { value: Math.min(1, Math.max(0, value)) };
  }
  const message = `Expected ${source} to be a number from 0 to 1, got ${describeValue(value)}.`;
  return { failure: { kind: 'invalid', message } };
}
