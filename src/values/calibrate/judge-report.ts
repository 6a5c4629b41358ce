import { mean } from '../../base/stats/mean.ts';
import { type Discrimination, discrimination } from './auc.ts';

/** An evaluator's judgements of a state, and whether the state is good. */
export interface JudgedState {
  /** The individual judgements, in order; empty if it could not be judged. */
  readonly values: readonly number[];
  /** Whether the goal can be reached from it. */
  readonly good: boolean;
  /** States of one problem are dependent. @defaultValue independent of all others */
  readonly problem?: string | undefined;
}

/** How good a judge is, and how wide a search it supports. */
export interface JudgeReport extends Pick<Discrimination, 'auc' | 'high' | 'low' | 'sentence'> {
  /** The number of states judged. */
  readonly states: number;
  /** The number of good states. */
  readonly good: number;
  /** The number that could not be judged. */
  readonly failed: number;
  /** The standard deviation between judgements of one state; absent if none was judged twice. */
  readonly noise?: number;
  /**
   * The number of siblings it can choose between: {@link widthCarried} for the AUC and the bounds of its interval.
   * Infinity is `null` in JSON.
   */
  readonly width: Readonly<Record<'estimate' | 'high' | 'low', number>>;
}

/**
 * Measures a judge on labelled states. The AUC uses the first judgement of each.
 *
 * @throws EspalierError `usage` unless a good and a bad state were judged.
 */
export function judgeReport(states: readonly JudgedState[]): JudgeReport {
  const judged = states.filter(({ values }) => values.length > 0);
  const labelled = judged.map(({ values, good, problem }) => ({
    score: values[0] ?? 0,
    correct: good,
    ...(problem !== undefined && { group: problem }),
  }));
  const { auc, low, high, sentence } = discrimination(labelled);
  const variances = judged.filter(({ values }) => values.length > 1).map(variance);
  return {
    ...{ auc, low, high, sentence },
    states: judged.length,
    good: judged.filter(({ good }) => good).length,
    failed: states.length - judged.length,
    ...(variances.length > 0 && { noise: Math.sqrt(mean(variances)) }),
    width: {
      estimate: widthCarried(auc),
      low: widthCarried(low),
      high: widthCarried(high),
    },
  };
}

/** The unbiased variance. */
function variance({ values }: JudgedState): number {
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return squares / (values.length - 1);
}

/**
 * The number of siblings a judge with this AUC can choose between before the best-looking one is more likely lucky than
 * good: our own estimate. Suppose good siblings are worth Δ more than others, and judgements have a normal error with
 * standard deviation σ. Then AUC = Φ(Δ / (√2 σ)); the luckiest of K errors is about σ √(2 ln K), which reaches Δ at
 *
 * `K = exp(Δ² / 2σ²) = exp(Φ⁻¹(AUC)²)`.
 *
 * An AUC of 0.5 or less supports 1, which is no choice; an AUC of 1 has no limit.
 */
export function widthCarried(auc: number): number {
  if (auc >= 1) return Number.POSITIVE_INFINITY;
  return auc <= 0.5 ? 1 : Math.exp(normalQuantile(auc) ** 2);
}

/** Φ⁻¹(p), for p from 0.5 up. */
function normalQuantile(p: number): number {
  let [low, high] = [0, 8];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < p) low = middle;
    else high = middle;
  }
  return low;
}

/** Φ(z) = ½ + φ(z) (z + z³/3 + z⁵/(3 · 5) + …). */
function normalShare(z: number): number {
  let [sum, term] = [z, z];
  for (let odd = 3; term > 1e-17 * sum; odd += 2) {
    term *= (z * z) / odd;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}
