import { mean } from './mean.ts';
import { normalTails } from './normal-tails.ts';

/**
 * Up to this many groups with a difference, the distribution is computed exactly; beyond, the normal approximation
 * agrees.
 */
const most = 200;

/** The finest resolution of group differences, if the sizes differ too much for an exact one. */
const finest = 1000;

/**
 * The two-sided mid-p-value of no difference, from differences in groups that are independent of each other: the
 * probability of a sum at least as far from 0 if the sign of each group's mean were random. Sums exactly as far count
 * half. For groups of one it is McNemar's mid-p test.
 *
 * @see Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data: mid-p and asymptotic are better
 * than exact conditional", 2013.
 */
export function signFlipP(groups: readonly (readonly number[])[]): number {
  const means = groups.map(mean).filter((value) => value !== 0);
  if (means.length === 0) return 1;
  if (means.length > most) {
    return normalTails(sum(means) / Math.sqrt(sum(means.map((value) => value ** 2))));
  }
  const units = groups.map(({ length }) => length).reduce(commonMultiple, 1);
  const steps = means.map((value) => Math.round(value * units));
  const chances = chancesOfSums(steps.map(Math.abs));
  const middle = (chances.length - 1) / 2;
  const found = middle + Math.abs(sum(steps));
  const here = chances[found] ?? 0;
  // A sum of 0 is equally far on both sides, but must be counted once.
  return 2 * sum(chances.subarray(found + 1)) + (found === middle ? here / 2 : here);
}

/** The distribution of the sum if the sign of every size is random: from −Σ to Σ. */
function chancesOfSums(sizes: readonly number[]): Float64Array {
  const total = sum(sizes);
  let chances = new Float64Array(2 * total + 1);
  chances[total] = 1;
  let reached = 0;
  for (const size of sizes) {
    const next = new Float64Array(chances.length);
    for (let place = total - reached; place <= total + reached; place++) {
      const half = (chances[place] ?? 0) / 2;
      if (half === 0) continue;
      next[place - size] = (next[place - size] ?? 0) + half;
      next[place + size] = (next[place + size] ?? 0) + half;
    }
    chances = next;
    reached += size;
  }
  return chances;
}

function commonMultiple(a: number, b: number): number {
  let [greater, rest] = [a, b];
  while (rest > 0) [greater, rest] = [rest, greater % rest];
  return Math.min(finest, (a / greater) * b);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
