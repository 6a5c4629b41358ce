import { expectation, expectInteger, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { mean } from '../../base/stats/mean.ts';
import { type Discrimination, discrimination, type Labelled } from './auc.ts';

/** Whether values mean what they say: of those valued 0.7, seven in ten should be right. */
export interface Reliability extends Discrimination {
  /** How many samples. */
  readonly count: number;
  /** The share that is right. */
  readonly correct: number;
  /** The expected calibration error: the mean distance of score and share over the bins, weighted by their counts. */
  readonly ece: number;
  /** The Brier score: the mean of `(score − outcome)²`; 0 at best, 0.25 for 0.5 everywhere. */
  readonly brier: number;
  /** The bins that hold samples, from low to high. */
  readonly bins: readonly {
    /** The least score that belongs here. */
    readonly from: number;
    /** The score at which the next bin begins; 1 belongs to the last one. */
    readonly to: number;
    /** How many samples. */
    readonly count: number;
    /** Their mean score: how often they should be right. */
    readonly score: number;
    /** The share that is right. */
    readonly correct: number;
  }[];
}

/**
 * Measures whether scores are probabilities. To see what a map brings, fit it to one half of the problems and measure
 * on the other.
 *
 * @see Guo et al., "On calibration of modern neural networks", 2017, equation 3; Brier, "Verification of forecasts
 * expressed in terms of probability", 1950.
 * @throws EspalierError `usage` for scores outside [0, 1], or without a right one and a wrong one.
 */
export function reliability(
  labelled: readonly Labelled[],
  options: {
    /** How many bins of equal width [0, 1] is divided into: an integer from 1 up. @defaultValue 10 */
    readonly bins?: number;
  } = {},
): Reliability {
  expectOptions('reliability', options, 'bins');
  const { bins: width = 10 } = options;
  expectInteger('bins', width, { min: 1 });
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

/** How many characters stand for 1. */
const scale = 40;

/**
 * A reliability diagram as text: a line a bin, its bar the share that is right, `|` where the bar should end. Ends
 * with the figures and with what they mean.
 */
export function renderReliability(report: Reliability): string {
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
