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
