import type { Random } from '../contracts/context.ts';

/** A draw from Beta(a, b), for a, b > 0. */
export function sampleBeta(random: Random, a: number, b: number): number {
  const x = sampleGamma(random, a);
  const y = sampleGamma(random, b);
  return x + y === 0 ? 0.5 : x / (x + y);
}

/**
 * A draw from Gamma(shape, 1), for shape > 0.
 *
 * @see Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000.
 */
export function sampleGamma(random: Random, shape: number): number {
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

/** What is believed of a quantity of which some values were seen: it can be drawn from. */
export interface Belief {
  /** A draw of the mean, given the values seen. */
  draw(random: Random, values: Iterable<number>): number;
}

/** Parameters of a normal distribution whose mean and variance are not known. */
type NormalParameters = Required<NonNullable<Parameters<typeof gaussianBelief>[0]>>;

/**
 * What is believed after n values of mean x̄ and squared deviations S: `κ′ = κ + n`, `ν′ = ν + n`,
 * `m′ = (κm + n·x̄) / κ′`, `τ²′ = (ν·τ² + S + nκ(m − x̄)² / κ′) / ν′`.
 *
 * @see Murphy, "Conjugate Bayesian analysis of the Gaussian distribution", 2007, section 5.
 */
export function updated(
  { mean, kappa, nu, variance }: NormalParameters,
  values: Iterable<number>,
): NormalParameters {
  const seen = [...values];
  const n = seen.length;
  if (n === 0) return { mean, kappa, nu, variance };
  const average = seen.reduce((sum, value) => sum + value, 0) / n;
  const squares = seen.reduce((sum, value) => sum + (value - average) ** 2, 0);
  const shift = (n * kappa * (mean - average) ** 2) / (kappa + n);
  return {
    mean: (kappa * mean + n * average) / (kappa + n),
    kappa: kappa + n,
    nu: nu + n,
    variance: (nu * variance + squares + shift) / (nu + n),
  };
}

/**
 * A normal belief: σ² is drawn from the inverse gamma distribution with ν′/2 and ν′τ²′/2, then the mean from
 * `N(m′, σ²/κ′)`. The default prior is that of AB-MCTS-A.
 */
export function gaussianBelief(
  prior: {
    /** m, the mean. */
    readonly mean?: number;
    /** κ, in how many values the mean is trusted: above 0. */
    readonly kappa?: number;
    /** ν, in how many values the variance is trusted: above 0. */
    readonly nu?: number;
    /** τ², the variance. */
    readonly variance?: number;
  } = {},
): Belief {
  const before = { mean: 0, kappa: 1, nu: 1, variance: 0.1, ...prior };
  return {
    draw(random, values) {
      const { mean, kappa, nu, variance } = updated(before, values);
      const sigma = Math.sqrt((nu * variance) / 2 / sampleGamma(random, nu / 2));
      return mean + (sigma / Math.sqrt(kappa)) * sampleNormal(random);
    },
  };
}

/** A belief about values in [0, 1]: `Beta(a + Σ v, b + Σ (1 − v))`. @defaultValue a = b = 0.5, as in AB-MCTS-A */
export function betaBelief({
  a = 0.5,
  b = 0.5,
}: {
  readonly a?: number;
  readonly b?: number;
} = {}): Belief {
  return {
    draw(random, values) {
      let [successes, failures] = [a, b];
      for (const value of values) {
        successes += value;
        failures += 1 - value;
      }
      return sampleBeta(random, successes, failures);
    },
  };
}
