import {
  expectation,
  expectInteger,
  expectNumber,
  expectObject,
  expectObjects,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { mean } from '../../base/stats/mean.ts';
import { type Discrimination, discrimination, type Labelled } from './auc.ts';

/** How reliable values are as probabilities: seven in ten of those valued 0.7 should be right. */
export interface Reliability extends Discrimination {
  /** The number of samples. */
  readonly count: number;
  /** The fraction that is right. */
  readonly correct: number;
  /**
   * The expected calibration error: the mean difference between score and share over the bins, weighted by their
   * counts.
   */
  readonly ece: number;
  /** The Brier score: the mean of `(score − outcome)²`; 0 at best, 0.25 for 0.5 everywhere. */
  readonly brier: number;
  /** The non-empty bins, from low to high. */
  readonly bins: readonly {
    /** The lower bound, inclusive. */
    readonly from: number;
    /** The upper bound, exclusive except in the last bin. */
    readonly to: number;
    /** The number of samples in it. */
    readonly count: number;
    /** Their mean score: the expected fraction right. */
    readonly score: number;
    /** The fraction that is right. */
    readonly correct: number;
  }[];
}

/**
 * Measures whether scores are probabilities. To see what a map gains, fit it on one half of the problems and measure on
 * the other.
 *
 * @see Guo et al., "On calibration of modern neural networks", 2017, equation 3; Brier, "Verification of forecasts
 * expressed in terms of probability", 1950.
 * @throws EspalierError `usage` for scores outside [0, 1], or unless there is a right and a wrong sample.
 */
export function reliability(
  labelled: readonly Labelled[],
  options: {
    /** The number of equal-width bins of [0, 1]: an integer from 1 up. @defaultValue 10 */
    readonly bins?: number;
  } = {},
): Reliability {
  expectOptions('reliability', options, 'bins');
  const { bins: width = 10 } = options;
  expectInteger('bins', width, { min: 1 });
  expectObjects('labelled', labelled);
  for (const { score } of labelled) expectNumber('score', score, { min: 0, max: 1 });
  const placeOf = (score: number) => Math.min(width - 1, Math.floor(score * width));
  const bins = Array.from({ length: width }, (_, place) => {
    const members = labelled.filter(({ score }) => placeOf(score) === place);
    const score = mean(members.map((member) => member.score));
    const [from, to] = [place / width, (place + 1) / width];
    return { from, to, count: members.length, score, correct: rightOf(members) };
  }).filter((bin) => bin.count > 0);
  const count = labelled.length;
  return {
    ...discrimination(labelled),
    count,
    correct: rightOf(labelled),
    ece: bins.reduce(
      (sum, bin) => sum + (bin.count / count) * Math.abs(bin.score - bin.correct),
      0,
    ),
    brier: mean(labelled.map(({ score, correct }) => (score - (correct ? 1 : 0)) ** 2)),
    bins,
  };
}

/** The share of samples that are right. */
function rightOf(samples: readonly Labelled[]): number {
  return mean(samples.map(({ correct }) => (correct ? 1 : 0)));
}

/** The number of characters for the value 1. */
const scale = 40;

/**
 * A reliability diagram as text: one line per bin, with the fraction right as a bar and `|` where the bar should end,
 * followed by the figures and their interpretation.
 */
export function renderReliability(report: Reliability): string {
  expectObject('report', report);
  if (!Array.isArray(report.bins)) throw expectation('report', 'one of reliability', report);
  const lines = report.bins.map(({ from, to, count, score, correct }) => {
    const range = `${from.toFixed(2)}–${to.toFixed(2)}`;
    return `${range} ${String(count).padStart(7)}   ${score.toFixed(2)}  ${correct.toFixed(2)}  ${bar(score, correct)}`;
  });
  const { count, ece, brier, sentence } = report;
  return [
    'value       samples   said  came',
    ...lines,
    '',
    `${count} samples, expected calibration error ${ece.toFixed(3)}, Brier score ${brier.toFixed(3)}.`,
    sentence,
    '',
  ].join('\n');
}

function bar(score: number, correct: number): string {
  const mark = Math.round(score * scale);
  const end = Math.round(correct * scale);
  const cells = Array.from({ length: Math.max(mark, end) + 1 }, (_, place) =>
    place === mark ? '|' : place < end ? '█' : ' ',
  );
  return cells.join('').trimEnd();
}
