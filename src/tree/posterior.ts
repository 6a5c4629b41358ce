import { EspalierError } from '../base/errors.ts';
import { expectation, expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Random } from '../contracts/context.ts';
import { named, type Reasons, type RuleSpec } from './rules.ts';

/** A draw from Beta(a, b), for a, b > 0. */
export function sampleBeta(random: Random, a: number, b: number): number {
  const x = sampleGamma(random, a);
  const y = sampleGamma(random, b);
  return x + y === 0 ? 0.5 : x / (x + y);
}

/**
 * A draw from Gamma(shape, 1), for a finite shape > 0.
 *
 * @throws EspalierError `usage` for any other shape, for which sampling would not terminate.
 * @see Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000.
 */
export function sampleGamma(random: Random, shape: number): number {
  if (!(shape > 0 && Number.isFinite(shape))) {
    throw new EspalierError(
      'usage',
      `Values must lie in [0, 1] for a beta belief and for Thompson sampling: a shape was \`${shape}\`, but must be finite and above 0.`,
    );
  }
  if (shape < 1) return sampleGamma(random, shape + 1) * (1 - random.next()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = sampleNormal(random);
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    const u = 1 - random.next();
    if (Math.log(u) < 0.5 * x * x + d * (1 - v + Math.log(v))) return d * v;
  }
}

/**
 * A draw from the standard normal distribution.
 *
 * @see Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
 */
export function sampleNormal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}

/** A belief about a quantity given observed values, which can be sampled. */
export interface Belief {
  /** Its name and options. Optional for custom beliefs. */
  readonly spec?: RuleSpec;
  /**
   * The parameters of the belief, with the mean of its draws as `total`. Without it, choices by this belief cannot be
   * explained.
   */
  readonly explain?: (seen: Parameters<Belief['draw']>[1]) => Reasons;
  /** A draw of the mean, given the observed values. */
  draw(
    random: Random,
    seen: {
      /** The number of observed values. */
      readonly count: number;
      /** Their mean; 0 without values. */
      readonly mean: number;
      /** The sum of their squared deviations from the mean. */
      readonly squares: number;
    },
  ): number;
}

/** The number of observed values, their mean, and the sum of their squared deviations from it. */
export type Moments = Parameters<Belief['draw']>[1];

/** The moments of no value. */
export const unseen: Moments = { count: 0, mean: 0, squares: 0 };

/**
 * The moments of both sets of values combined.
 *
 * @see Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979.
 */
export function merged(one: Moments, other: Moments): Moments {
  if (one.count === 0) return other;
  if (other.count === 0) return one;
  const count = one.count + other.count;
  const gap = other.mean - one.mean;
  const share = other.count / count;
  return {
    count,
    mean: one.mean + gap * share,
    squares: one.squares + other.squares + gap ** 2 * one.count * share,
  };
}

/** Parameters of a normal distribution with unknown mean and variance. */
type NormalParameters = Required<NonNullable<Parameters<typeof gaussianBelief>[0]>>;

/**
 * The posterior after n values with mean x̄ and squared deviations S: `κ′ = κ + n`, `ν′ = ν + n`, `m′ = (κm + n·x̄) /
 * κ′`, `τ²′ = (ν·τ² + S + nκ(m − x̄)² / κ′) / ν′`.
 *
 * @throws EspalierError `usage` if the values are too large.
 * @see Murphy, "Conjugate Bayesian analysis of the Gaussian distribution", 2007, section 5.
 */
export function updated(
  { mean, kappa, nu, variance }: NormalParameters,
  { count, mean: average, squares }: Moments,
): NormalParameters {
  const weight = count / (kappa + count);
  const shift = kappa * weight * (mean - average) ** 2;
  const after = {
    mean: mean + weight * (average - mean),
    kappa: kappa + count,
    nu: nu + count,
    variance: (nu * variance + squares + shift) / (nu + count),
  };
  if (Object.values(after).every(Number.isFinite)) return after;
  throw new EspalierError(
    'usage',
    `The values seen are too large for a normal belief: their mean is \`${average}\`. Scale rewards and evaluations down, best to [0, 1].`,
  );
}

/**
 * A normal belief: σ² is drawn from the inverse gamma distribution with ν′/2 and ν′τ²′/2, then the mean from
 * `N(m′, σ²/κ′)`. The default prior is that of AB-MCTS-A.
 */
export function gaussianBelief(
  prior: {
    /** m, the mean. */
    readonly mean?: number;
    /** κ, the pseudo-observations behind the mean: above 0. */
    readonly kappa?: number;
    /** ν, the pseudo-observations behind the variance: above 0. */
    readonly nu?: number;
    /** τ², the variance: from 0 up. */
    readonly variance?: number;
  } = {},
): Belief {
  expectOptions('gaussianBelief', prior, 'mean kappa nu variance');
  const { mean = 0, kappa = 1, nu = 1, variance = 0.1 } = prior;
  expectNumber('mean', mean);
  expectAboveZero({ kappa, nu });
  expectNumber('variance', variance, { min: 0 });
  const after = (seen: Moments) => updated({ mean, kappa, nu, variance }, seen);
  return named('gaussianBelief', prior, {
    draw(random: Random, seen: Moments) {
      const now = after(seen);
      // With a small ν, a draw may underflow to 0.
      const precision = Math.max(sampleGamma(random, now.nu / 2), Number.MIN_VALUE);
      const sigma = Math.sqrt((now.nu * now.variance) / 2 / precision);
      return now.mean + (sigma / Math.sqrt(now.kappa)) * sampleNormal(random);
    },
    explain: (seen: Moments) => {
      const terms = after(seen);
      return { total: terms.mean, terms };
    },
  });
}

/** A belief about values in [0, 1]: `Beta(a + Σ v, b + Σ (1 − v))`. @defaultValue a = b = 0.5, as in AB-MCTS-A */
export function betaBelief(
  prior: {
    /** a, a pseudo-count of successes: above 0. */
    readonly a?: number;
    /** b, a pseudo-count of failures: above 0. */
    readonly b?: number;
  } = {},
): Required<Belief> {
  expectOptions('betaBelief', prior, 'a b');
  const { a = 0.5, b = 0.5 } = prior;
  expectAboveZero({ a, b });
  const after = ({ count, mean }: Moments) => ({
    alpha: a + count * mean,
    beta: b + count * (1 - mean),
  });
  const belief = {
    draw(random: Random, seen: Moments) {
      const { alpha, beta } = after(seen);
      return sampleBeta(random, alpha, beta);
    },
    explain: (seen: Moments) => {
      const terms = after(seen);
      return { total: terms.alpha / (terms.alpha + terms.beta), terms };
    },
  };
  return named('betaBelief', prior, belief);
}

/** Throws unless each of these is a finite number above 0. */
export function expectAboveZero(numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!(Number.isFinite(value) && value > 0)) {
      throw expectation(name, 'a finite number above 0', value);
    }
  }
}
