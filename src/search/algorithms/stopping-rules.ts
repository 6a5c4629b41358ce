import { expectInteger, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';

/**
 * Decides when enough answers have been drawn. It gets all answers in order, equal ones as equal texts, `undefined` for
 * a trajectory without one, and returns how many of the latest decide the vote; 0 asks for another draw. Pure.
 */
export type StoppingRule = (answers: readonly (string | undefined)[]) => number;

/**
 * Early-stopping self-consistency: draws one window of answers after another, and stops at the first whose answers are
 * all equal; that window alone decides.
 *
 * @see Li et al., "Escape Sky-high Cost: Early-stopping Self-Consistency for Multi-step Reasoning", 2024; its code
 * draws at most 40: `bestOfN({ n: 40, until: esc() })`.
 */
export function esc(
  options: {
    /** The number of answers in a window: an integer from 1 up. @defaultValue 5, the code's */
    readonly window?: number;
  } = {},
): StoppingRule {
  expectOptions('esc', options, 'window');
  const { window = 5 } = options;
  expectInteger('window', window, { min: 1 });
  return (answers) => {
    if (answers.length === 0 || answers.length % window > 0) return 0;
    const [first, ...others] = answers.slice(-window);
    return first !== undefined && others.every((answer) => answer === first) ? window : 0;
  };
}

/**
 * Adaptive consistency: stops when the most frequent answer will stay ahead of the second with the wanted confidence.
 * With counts a and b the confidence is the mass of Beta(a + 1, b + 1) above ½. With the default it stops at 4:0, 6:1,
 * 8:2 or 9:3.
 *
 * @see Aggarwal et al., "Let's Sample Step by Step: Adaptive-Consistency for Efficient Reasoning and Coding with LLMs",
 * 2023, the Beta criterion of its code.
 */
export function adaptiveConsistency(
  options: {
    /** The required mass: in (0, 1]. @defaultValue 0.95, as in the code */
    readonly confidence?: number;
  } = {},
): StoppingRule {
  expectOptions('adaptiveConsistency', options, 'confidence');
  const { confidence = 0.95 } = options;
  expectNumber('confidence', confidence, { min: Number.MIN_VALUE, max: 1 });
  return (answers) => {
    const counts = new Map<string, number>();
    for (const answer of answers) {
      if (answer !== undefined) counts.set(answer, (counts.get(answer) ?? 0) + 1);
    }
    const [most = 0, second = 0] = [...counts.values()].sort((a, b) => b - a);
    return most > 0 && massAboveHalf(most, second) >= confidence ? answers.length : 0;
  };
}

/**
 * The mass of Beta(a + 1, b + 1) above ½, for a ≥ b: the probability of at most a heads in a + b + 1 tosses of a fair
 * coin.
 */
function massAboveHalf(a: number, b: number): number {
  const tosses = a + b + 1;
  const middle = Math.floor(tosses / 2);
  // Relative to the likeliest number of heads, so that nothing overflows.
  let all = 0;
  let atMost = 0;
  for (const step of [1, -1]) {
    let weight = 1;
    for (let heads = middle; heads >= 0 && heads <= tosses && weight > 0; heads += step) {
      if (step === 1 || heads < middle) {
        all += weight;
        if (heads <= a) atMost += weight;
      }
      weight *= step === 1 ? (tosses - heads) / (heads + 1) : heads / (tosses - heads + 1);
    }
  }
  return atMost / all;
}
