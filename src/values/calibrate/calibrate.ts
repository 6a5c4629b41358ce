import { expectation } from '../../base/expect.ts';
import { provenanceOf } from '../../base/provenance.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import { expectEvaluator } from '../ask-evaluator.ts';
import { settle, type Waiting, wait } from '../settle.ts';
import { type Discrimination, discrimination, expectBoth, type Labelled } from './auc.ts';

/** A map from scores to the probability of being right. JSON: save it with the model it belongs to. */
export type CalibrationMap = {
  /** How well the fitted scores discriminate right from wrong. */
  readonly discrimination: Discrimination;
} & (
  | {
      /** A logistic curve: `p = 1 / (1 + e^−(slope · score + intercept))`. */
      readonly type: 'platt';
      /** The slope of the log-odds. Below 0 for an inverted value. */
      readonly slope: number;
      /** The log-odds at score 0. */
      readonly intercept: number;
    }
  | {
      /** A non-decreasing curve: linear between its points, constant outside. */
      readonly type: 'isotonic';
      /** Scores in rising order, each with its probability. One or more. */
      readonly points: readonly (readonly [score: number, probability: number])[];
    }
);

/**
 * Fits a logistic curve by maximum likelihood. Few samples suffice; it fits if the log-odds are linear in the score.
 * Labels are drawn towards the middle, `(n₊ + 1) / (n₊ + 2)` and `1 / (n₋ + 2)`, so that perfectly separable samples
 * give a finite slope.
 *
 * @see Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods",
 * 1999; Lin, Lin and Weng, "A note on Platt's probabilistic outputs for support vector machines", 2007.
 * @throws EspalierError `usage` unless there is a right and a wrong sample, or for a score that is not a number.
 */
export function fitPlatt(
  labelled: readonly Labelled[],
): Extract<CalibrationMap, { readonly type: 'platt' }> {
  const [right, wrong] = expectBoth(labelled);
  const samples = labelled.map(({ score, correct }) => ({
    score,
    target: correct ? (right + 1) / (right + 2) : 1 / (wrong + 2),
  }));
  let line: Line = { slope: 0, intercept: Math.log((right + 1) / (wrong + 1)) };
  let loss = lossOf(samples, line);
  for (let round = 0; round < 100; round++) {
    const step = newtonStep(samples, line);
    let size = 1;
    let next = moved(line, step, size);
    while (size > 1e-10 && lossOf(samples, next) > loss) {
      size /= 2;
      next = moved(line, step, size);
    }
    const better = lossOf(samples, next);
    if (!(better < loss)) break;
    line = next;
    loss = better;
  }
  return { type: 'platt', ...line, discrimination: discrimination(labelled) };
}

type Line = Readonly<Record<'intercept' | 'slope', number>>;

type Sample = Readonly<Record<'score' | 'target', number>>;

function moved({ slope, intercept }: Line, step: Line, size: number): Line {
  return { slope: slope + size * step.slope, intercept: intercept + size * step.intercept };
}

/** The cross-entropy, in a form that does not overflow. */
function lossOf(samples: readonly Sample[], { slope, intercept }: Line): number {
  return samples.reduce((sum, { score, target }) => {
    const odds = slope * score + intercept;
    return sum + Math.max(odds, 0) - target * odds + Math.log1p(Math.exp(-Math.abs(odds)));
  }, 0);
}

/** The step of Newton's method: −H⁻¹ g. */
function newtonStep(samples: readonly Sample[], line: Line): Line {
  let [g1, g2, h11, h12, h22] = [0, 0, 1e-12, 0, 1e-12];
  for (const { score, target } of samples) {
    const p = logistic(line.slope * score + line.intercept);
    const weight = p * (1 - p);
    g1 += (p - target) * score;
    g2 += p - target;
    h11 += weight * score * score;
    h12 += weight * score;
    h22 += weight;
  }
  const determinant = h11 * h22 - h12 * h12;
  return {
    slope: (h12 * g2 - h22 * g1) / determinant,
    intercept: (h12 * g1 - h11 * g2) / determinant,
  };
}

function logistic(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}

/**
 * Fits the non-decreasing curve closest to the labels, by pooling adjacent violators. It takes any shape and needs a
 * few hundred samples. An inverted value gives a constant: see `discrimination.inverted`.
 *
 * @see Ayer et al., "An empirical distribution function for sampling with incomplete information", 1955; Zadrozny and
 * Elkan, "Transforming classifier scores into accurate multiclass probability estimates", 2002.
 * @throws EspalierError `usage` unless there is a right and a wrong sample, or for a score that is not a number.
 */
export function fitIsotonic(
  labelled: readonly Labelled[],
): Extract<CalibrationMap, { readonly type: 'isotonic' }> {
  expectBoth(labelled);
  const blocks: Block[] = [];
  for (const { score, correct } of labelled.toSorted((a, b) => a.score - b.score)) {
    const last = blocks.at(-1);
    const one = { from: score, to: score, right: correct ? 1 : 0, count: 1 };
    if (last !== undefined && last.to === score && last.from === score) {
      blocks[blocks.length - 1] = joinedBlock(last, one);
    } else blocks.push(one);
  }
  const points = pooled(blocks).flatMap(({ from, to, right, count }) => {
    const share = right / count;
    return [...new Set([from, to])].map((score) => [score, share] as const);
  });
  return { type: 'isotonic', points, discrimination: discrimination(labelled) };
}

/** Adjacent scores that share a probability. */
type Block = Readonly<Record<'count' | 'from' | 'right' | 'to', number>>;

function pooled(blocks: readonly Block[]): readonly Block[] {
  const rising: Block[] = [];
  for (const block of blocks) {
    let next = block;
    for (;;) {
      const last = rising.at(-1);
      if (last === undefined || last.right * next.count < next.right * last.count) break;
      rising.pop();
      next = joinedBlock(last, next);
    }
    rising.push(next);
  }
  return rising;
}

function joinedBlock({ from, right, count }: Block, other: Block): Block {
  return { from, to: other.to, right: right + other.right, count: count + other.count };
}

/** The probability of a score under a map. */
export function probabilityOf(map: CalibrationMap, score: number): number {
  if (map.type === 'platt') return logistic(map.slope * score + map.intercept);
  const { points } = map;
  const above = points.findIndex(([at]) => at >= score);
  const [high, pHigh] = points.at(above) ?? [0, 0];
  const [low, pLow] = points[above - 1] ?? [high, pHigh];
  if (above < 0 || high === low) return pHigh;
  return pLow + ((score - low) / (high - low)) * (pHigh - pLow);
}

/**
 * Turns the values of an evaluator into probabilities. The original value stays in `parts` as `uncalibrated`, and in
 * `raw` if there is no other raw score. Returns of simulations are outcomes, not estimates, and are unchanged.
 *
 * @param map - From {@link fitPlatt} or {@link fitIsotonic}, fitted to values of this evaluator.
 * @throws EspalierError `usage` if `map` is not a calibration map.
 */
export function calibrated<State, Action>(
  evaluator: Evaluator<State, Action>,
  map: CalibrationMap,
): Evaluator<State, Action> {
  expectEvaluator('evaluator', evaluator);
  expectMap(map);
  const { simulate } = evaluator;
  return {
    ...provenanceOf(evaluator),
    needs: evaluator.needs,
    evaluate: (nodes, request) => settle(mapped(map, evaluator.evaluate(nodes, request))),
    ...(simulate !== undefined && {
      simulate: (nodes, request) => simulate.call(evaluator, nodes, request),
    }),
  };
}

type Verdicts = readonly (Evaluation | Failed)[];

function* mapped(map: CalibrationMap, verdicts: Promise<Verdicts> | Verdicts): Waiting<Verdicts> {
  return (yield* wait(verdicts)).map((verdict) => {
    if ('failure' in verdict) return verdict;
    const { value, raw = { score: value, range: [0, 1] as const }, parts } = verdict;
    return {
      ...verdict,
      value: probabilityOf(map, value),
      raw,
      parts: { ...parts, uncalibrated: value },
    };
  });
}

/** Checked because the map may come from a file. */
function expectMap(map: CalibrationMap): void {
  const given: Partial<Record<string, unknown>> =
    typeof map === 'object' && (map as unknown) !== null ? { ...map } : {};
  const { type, slope, intercept, points } = given;
  if (type === 'platt' && Number.isFinite(slope) && Number.isFinite(intercept)) return;
  if (type === 'isotonic' && Array.isArray(points) && isRising(points)) return;
  throw expectation('map', 'one of fitPlatt or fitIsotonic', map);
}

function isRising(
  points: Extract<CalibrationMap, { readonly type: 'isotonic' }>['points'],
): boolean {
  return (
    points.length > 0 &&
    points.every(([score, probability], place) => {
      const [before, less] = points[place - 1] ?? [Number.NEGATIVE_INFINITY, 0];
      return score > before && probability >= less && probability <= 1;
    })
  );
}
