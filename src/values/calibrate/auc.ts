import { expectation, expectObjects } from '../../base/expect.ts';
import { mean } from '../../base/stats/mean.ts';

/** A score, and whether the scored item was correct. */
export interface Labelled {
  /** An evaluator's score, on any scale; higher is better. */
  readonly score: number;
  /** Whether it was correct. */
  readonly correct: boolean;
  /** Samples of one group, such as a tree, are dependent. @defaultValue independent of all others */
  readonly group?: number | string;
}

/** How well scores discriminate right from wrong. */
export interface Discrimination {
  /** The probability that a right sample scores above a wrong one, ties counted half: 1 is best, 0.5 is chance. */
  readonly auc: number;
  /** The lower bound of the 95 % interval of `auc`. */
  readonly low: number;
  /** Its upper bound. */
  readonly high: number;
  /** Whether wrong samples score higher: the interval lies below 0.5. */
  readonly inverted: boolean;
  /** Whether it is indistinguishable from chance: the interval contains 0.5. */
  readonly noise: boolean;
  /** The interpretation, in one sentence. */
  readonly sentence: string;
}

/** The 97.5 % point of the normal distribution. */
const z = 1.959963984540054;

/**
 * How well scores discriminate right from wrong: the area under the ROC curve, from ranks, with its 95 % interval.
 * Samples of one group count less, to the extent that their scores and labels are correlated.
 *
 * @see Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than the other",
 * 1947; Newcombe, "Confidence intervals for an effect size measure based on the Mann–Whitney statistic, part 2", 2006,
 * method 5; Obuchowski, "Nonparametric analysis of clustered ROC curve data", 1997.
 * @throws EspalierError `usage` unless there is a right and a wrong sample, or for a score that is not a number.
 */
export function discrimination(labelled: readonly Labelled[]): Discrimination {
  const [right, wrong] = expectBoth(labelled);
  const places = placesOf(labelled);
  const auc = mean(labelled.flatMap(({ correct }, index) => (correct ? [places[index] ?? 0] : [])));
  const shrunk = effectOfGroups(labelled, { places, auc });
  const { low, high } = intervalOf(auc, right / shrunk, wrong / shrunk);
  const inverted = high < 0.5;
  const noise = !inverted && low <= 0.5;
  const figures = `AUC ${auc.toFixed(2)}, 95 % ${low.toFixed(2)} to ${high.toFixed(2)}`;
  const sentence = inverted
    ? `The value is inverted: wrong ones score higher (${figures}).`
    : noise
      ? `The value cannot be told from noise (${figures}).`
      : `The value tells right from wrong (${figures}).`;
  return { auc, low, high, inverted, noise, sentence };
}

/** The numbers of right and wrong samples; there must be some of each. */
export function expectBoth(labelled: readonly Labelled[]): readonly [number, number] {
  expectObjects('labelled', labelled);
  for (const { score } of labelled) {
    if (!Number.isFinite(score)) throw expectation('score', 'a finite number', score);
  }
  const right = labelled.filter(({ correct }) => correct).length;
  if (right > 0 && right < labelled.length) return [right, labelled.length - right];
  throw expectation('labelled', 'samples of which some are right and some are wrong', labelled);
}

/**
 * For each sample, the share of samples with the other label that it is ordered correctly against, ties counted half.
 */
function placesOf(labelled: readonly Labelled[]): readonly number[] {
  const all = ranks(labelled.map(({ score }) => score));
  const own: number[] = [];
  for (const label of [true, false]) {
    const members = [...labelled.keys()].filter((index) => labelled[index]?.correct === label);
    const within = ranks(members.map((index) => labelled[index]?.score ?? 0));
    for (const [place, index] of members.entries()) own[index] = within[place] ?? 0;
  }
  const right = labelled.filter(({ correct }) => correct).length;
  return labelled.map(({ correct }, index) => {
    const below = (all[index] ?? 0) - (own[index] ?? 0);
    return correct ? below / (labelled.length - right) : 1 - below / right;
  });
}

/** The rank of each value, from 1 up; equal values share their mean rank. */
function ranks(values: readonly number[]): readonly number[] {
  const order = [...values.keys()].toSorted((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranked: number[] = [];
  for (let first = 0; first < order.length; ) {
    const value = values[order[first] ?? 0];
    let next = first + 1;
    while (next < order.length && values[order[next] ?? 0] === value) next++;
    for (const index of order.slice(first, next)) ranked[index] = (first + 1 + next) / 2;
    first = next;
  }
  return ranked;
}

interface Placed {
  readonly places: readonly number[];
  readonly auc: number;
}

/** The factor by which dependence within groups widens the variance of the AUC: 1 without any. */
function effectOfGroups(labelled: readonly Labelled[], placed: Placed): number {
  const groups = labelled.map(({ group }, index) => group ?? `alone ${index}`);
  // A single group says nothing about the differences between groups.
  if (new Set(groups).size < 2) return 1;
  const grouped = varianceOf(labelled, { ...placed, groups });
  const apart = varianceOf(labelled, { ...placed, groups: [...labelled.keys()] });
  return apart > 0 ? Math.max(1, grouped / apart) : 1;
}

/** The variance of the AUC, from each sample's contribution, summed by group. */
function varianceOf(
  labelled: readonly Labelled[],
  { places, auc, groups }: Placed & { readonly groups: readonly (number | string)[] },
): number {
  const sums = new Map<number | string, [number, number]>();
  for (const [index, { correct }] of labelled.entries()) {
    const sum = sums.get(groups[index] ?? '') ?? [0, 0];
    sum[correct ? 0 : 1] += (places[index] ?? 0) - auc;
    sums.set(groups[index] ?? '', sum);
  }
  const right = labelled.filter(({ correct }) => correct).length;
  const wrong = labelled.length - right;
  const square = [...sums.values()].reduce(
    (total, [a, b]) => total + (a / right + b / wrong) ** 2,
    0,
  );
  return (square * sums.size) / Math.max(1, sums.size - 1);
}

/** The AUCs within 1.96 of their own standard errors of the estimate. */
function intervalOf(auc: number, right: number, wrong: number): { low: number; high: number } {
  const half = Math.max(0, (right + wrong) / 2 - 1);
  const reach = (theta: number) => {
    const spread = 1 + (half * (1 - theta)) / (2 - theta) + (half * theta) / (1 + theta);
    return z * Math.sqrt((theta * (1 - theta) * spread) / (right * wrong));
  };
  const bound = (inside: number, outside: number) => {
    let [near, far] = [inside, outside];
    for (let step = 0; step < 60; step++) {
      const middle = (near + far) / 2;
      if (Math.abs(middle - auc) <= reach(middle)) near = middle;
      else far = middle;
    }
    return near;
  };
  return { low: bound(auc, 0), high: bound(auc, 1) };
}
