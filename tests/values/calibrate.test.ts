import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { discrimination, type Labelled } from '../../src/values/calibrate/auc.ts';
import {
  type CalibrationMap,
  calibrated,
  fitIsotonic,
  fitPlatt,
  probabilityOf,
} from '../../src/values/calibrate/calibrate.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { callContext } from '../support/call-context.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, proposedNode, rootNode } from '../support/nodes.ts';

/** Equal but for rounding. */
const near = (value: number): unknown => expect.closeTo(value, 12);

const request = { environment: environmentOf(), context: callContext(), remaining: noSpend };

function samples(pairs: readonly (readonly [number, 0 | 1])[]): readonly Labelled[] {
  return pairs.map(([score, correct]) => ({ score, correct: correct === 1 }));
}

/** Samples that are right with the probability that a function gives their score. */
function drawn(count: number, chance: (score: number) => number): readonly Labelled[] {
  const random = seededRandom('labels');
  return Array.from({ length: count }, () => {
    const score = random.next();
    return { score, correct: random.next() < chance(score) };
  });
}

/** AUC by its definition: every right one beside every wrong one. */
function aucOf(labelled: readonly Labelled[]): number {
  const right = labelled.filter(({ correct }) => correct);
  const wrong = labelled.filter(({ correct }) => !correct);
  let wins = 0;
  for (const one of right) {
    for (const other of wrong) {
      wins += one.score > other.score ? 1 : one.score === other.score ? 0.5 : 0;
    }
  }
  return wins / (right.length * wrong.length);
}

describe('the AUC', () => {
  it('is the share of pairs in their right order, ties counted half', () => {
    // Right: 0.9, 0.4, 0.4; wrong: 0.1, 0.4. Wins: 2 + 1.5 + 1.5 of 6.
    const few = samples([
      [0.9, 1],
      [0.4, 1],
      [0.1, 0],
      [0.4, 0],
      [0.4, 1],
    ]);
    expect(discrimination(few).auc).toBeCloseTo(5 / 6, 12);
    const many = drawn(300, (score) => score).map((one) => ({
      ...one,
      score: Math.round(one.score * 7) / 7,
    }));
    expect(discrimination(many).auc).toBeCloseTo(aucOf(many), 12);
  });

  it('has the interval of those that are 1.96 of their own standard errors away', () => {
    const labelled = drawn(200, (score) => 0.2 + 0.6 * score);
    const { auc, low, high } = discrimination(labelled);
    const right = labelled.filter(({ correct }) => correct).length;
    const wrong = labelled.length - right;
    const half = (right + wrong) / 2 - 1;
    for (const end of [low, high]) {
      const variance =
        ((end * (1 - end)) / (right * wrong)) *
        (1 + (half * (1 - end)) / (2 - end) + (half * end) / (1 + end));
      expect(Math.abs(end - auc) / Math.sqrt(variance)).toBeCloseTo(1.959964, 4);
    }
    expect(low).toBeLessThan(auc);
    expect(high).toBeGreaterThan(auc);
  });

  it('has an interval beyond the few samples that are in perfect order', () => {
    const perfect = samples([
      [0.1, 0],
      [0.2, 0],
      [0.8, 1],
      [0.9, 1],
    ]);
    const { auc, low, high, noise } = discrimination(perfect);
    expect([auc, high]).toEqual([1, 1]);
    expect(low).toBeLessThan(0.5);
    expect(noise).toBe(true);
    const reversed = perfect.map(({ score, correct }) => ({ score: -score, correct }));
    expect(discrimination(reversed)).toMatchObject({
      auc: 0,
      low: 0,
      inverted: false,
      noise: true,
    });
  });
});

describe('what the AUC tells', () => {
  it('counts samples of one group for less', () => {
    // Forty samples, and the same ones five times over: nothing new is learnt.
    const once = drawn(40, (score) => score).map((one, group) => ({ ...one, group }));
    const repeated = Array.from({ length: 5 }, () => once).flat();
    const alone = discrimination(repeated.map(({ score, correct }) => ({ score, correct })));
    const [single, grouped] = [discrimination(once), discrimination(repeated)];
    expect(grouped.auc).toBeCloseTo(single.auc, 12);
    expect(alone.high - alone.low).toBeLessThan(0.6 * (single.high - single.low));
    expect(grouped.low).toBeCloseTo(single.low, 1);
    expect(grouped.high).toBeCloseTo(single.high, 1);
    const oneGroup = repeated.map((one) => ({ ...one, group: 'all' }));
    expect(discrimination(oneGroup)).toEqual(alone);
  });

  it('notices an inverted value, and one that is noise', () => {
    const sound = drawn(400, (score) => score);
    expect(discrimination(sound)).toMatchObject({ inverted: false, noise: false });
    const inverted = sound.map(({ score, correct }) => ({ score: 1 - score, correct }));
    expect(discrimination(inverted)).toMatchObject({ inverted: true, noise: false });
    expect(discrimination(inverted).sentence).toMatch(
      /^The value is inverted: wrong ones score higher \(AUC 0\.\d\d, 95 % 0\.\d\d to 0\.\d\d\)\.$/,
    );
    const noise = discrimination(drawn(400, () => 0.5));
    expect(noise).toMatchObject({ inverted: false, noise: true });
    expect(noise.sentence).toContain('cannot be told from noise');
  });

  it('needs right ones and wrong ones', () => {
    expect(() => discrimination(samples([[0.5, 1]]))).toThrow('`labelled`');
    expect(() => discrimination([])).toThrow('`labelled`');
    expect(() => discrimination(samples([[Number.NaN, 1]]))).toThrow('`score`');
  });
});

describe('a logistic curve', () => {
  it('is where the derivatives of the likelihood are 0', () => {
    const labelled = drawn(200, (score) => 1 / (1 + Math.exp(3 - 8 * score)));
    const map = fitPlatt(labelled);
    const right = labelled.filter(({ correct }) => correct).length;
    const wrong = labelled.length - right;
    let [bySlope, byIntercept] = [0, 0];
    for (const { score, correct } of labelled) {
      const target = correct ? (right + 1) / (right + 2) : 1 / (wrong + 2);
      const p = 1 / (1 + Math.exp(-(map.slope * score + map.intercept)));
      bySlope += (p - target) * score;
      byIntercept += p - target;
    }
    expect(bySlope).toBeCloseTo(0, 6);
    expect(byIntercept).toBeCloseTo(0, 6);
    expect(map.slope).toBeGreaterThan(5);
    expect(map.slope).toBeLessThan(11);
  });

  it('goes through the drawn-in shares of two scores', () => {
    // At 0: one of three right, at 1: two of three. Targets 4/5 and 1/5: shares (1·.8 + 2·.2)/3 = 0.4 and 0.6.
    const map = fitPlatt(
      samples([
        [0, 1],
        [0, 0],
        [0, 0],
        [1, 1],
        [1, 1],
        [1, 0],
      ]),
    );
    expect(probabilityOf(map, 0)).toBeCloseTo(0.4, 9);
    expect(probabilityOf(map, 1)).toBeCloseTo(0.6, 9);
    expect(map.slope).toBeCloseTo(2 * Math.log(1.5), 9);
  });

  it('is finite where a score divides the labels, also on other scales', () => {
    const map = fitPlatt(
      samples([
        [-900, 0],
        [-100, 0],
        [700, 1],
      ]),
    );
    expect(Number.isFinite(map.slope)).toBe(true);
    expect(probabilityOf(map, 700)).toBeGreaterThan(0.5);
    expect(probabilityOf(map, -900)).toBeLessThan(0.5);
  });

  it('falls for an inverted value, and says so', () => {
    const labelled = drawn(300, (score) => 1 - score);
    const map = fitPlatt(labelled);
    expect(map.slope).toBeLessThan(0);
    expect(map.discrimination.inverted).toBe(true);
  });
});

describe('an isotonic curve', () => {
  it('pools adjacent violators', () => {
    // By score: 0 | 1 0 | 1 1 0 → 1/2 at 0.2–0.3 and 2/3 at 0.4–0.6.
    const map = fitIsotonic(
      samples([
        [0.6, 0],
        [0.2, 1],
        [0.1, 0],
        [0.3, 0],
        [0.4, 1],
        [0.5, 1],
      ]),
    );
    expect(map.points).toEqual([
      [0.1, 0],
      [0.2, 0.5],
      [0.3, 0.5],
      [0.4, 2 / 3],
      [0.6, 2 / 3],
    ]);
    expect([0, 0.1, 0.15, 0.25, 0.5, 0.9].map((score) => probabilityOf(map, score))).toEqual([
      0,
      0,
      near(0.25),
      0.5,
      near(2 / 3),
      near(2 / 3),
    ]);
  });

  it('takes equal scores together', () => {
    const map = fitIsotonic(
      samples([
        [0.5, 1],
        [0.5, 0],
        [0.5, 0],
        [0.7, 1],
      ]),
    );
    expect(map.points).toEqual([
      [0.5, 1 / 3],
      [0.7, 1],
    ]);
  });
});

describe('the isotonic curve', () => {
  it('is the closest of all curves that never fall', () => {
    // Brute force: every way to cut seven samples into runs, each run at its mean.
    const labels = [0, 1, 1, 0, 0, 1, 0, 1];
    let best = Number.POSITIVE_INFINITY;
    for (let cuts = 0; cuts < 2 ** (labels.length - 1); cuts++) {
      const runs: number[][] = [[]];
      for (const [place, label] of labels.entries()) {
        if (place > 0 && (cuts >> (place - 1)) & 1) runs.push([]);
        runs.at(-1)?.push(label);
      }
      const means = runs.map((run) => run.reduce((sum, one) => sum + one, 0) / run.length);
      if (means.some((mean, place) => mean < (means[place - 1] ?? 0))) continue;
      const loss = runs.flatMap((run, at) => run.map((one) => (one - (means[at] ?? 0)) ** 2));
      best = Math.min(
        best,
        loss.reduce((sum, one) => sum + one, 0),
      );
    }
    const map = fitIsotonic(samples(labels.map((label, place) => [place, label as 0 | 1])));
    const found = labels.map((label, place) => (label - probabilityOf(map, place)) ** 2);
    expect(found.reduce((sum, one) => sum + one, 0)).toBeCloseTo(best, 12);
  });

  it('comes out level for an inverted value, and says so', () => {
    const map = fitIsotonic(drawn(300, (score) => (score < 0.5 ? 1 : 0)));
    expect(map.points.map(([, probability]) => probability)).toEqual([
      map.points[0]?.[1],
      map.points[0]?.[1],
    ]);
    expect(map.discrimination.inverted).toBe(true);
  });
});

describe('a calibrated evaluator', () => {
  const map: CalibrationMap = {
    ...fitPlatt(
      samples([
        [0, 0],
        [1, 1],
      ]),
    ),
    slope: Math.log(9),
    intercept: 0,
  };

  it('maps values, from a file as well', () => {
    const read = JSON.parse(JSON.stringify(map)) as CalibrationMap;
    const evaluator = calibrated(
      heuristic((state: number) => state),
      read,
    );
    // 1 / (1 + 9^−1) and 1 / (1 + 9^−0.5).
    expect(evaluator.evaluate([rootNode(1), rootNode(0.5), rootNode(7)], request)).toEqual([
      {
        value: near(0.9),
        raw: { score: 1, range: [0, 1] },
        parts: { uncalibrated: 1 },
      },
      {
        value: near(0.75),
        raw: { score: 0.5, range: [0, 1] },
        parts: { uncalibrated: 0.5 },
      },
      expect.objectContaining({ failure: expect.objectContaining({ kind: 'invalid' }) as unknown }),
    ]);
  });

  it('keeps what it was told, and the returns of simulations', () => {
    const inner = {
      needs: 'proposed' as const,
      prompts: { p: '1' },
      evaluate: () => [
        { value: 1, raw: { score: 8, range: [0, 8] as const }, parts: { x: 1 }, unscored: 2 },
      ],
      simulate: () => [{ value: 0.5 }],
    };
    const evaluator = calibrated(inner, map);
    expect(evaluator).toMatchObject({ needs: 'proposed', prompts: { p: '1' } });
    expect(evaluator.evaluate([proposedNode(0, 0)], request)).toEqual([
      {
        value: near(0.9),
        raw: { score: 8, range: [0, 8] },
        parts: { x: 1, uncalibrated: 1 },
        unscored: 2,
      },
    ]);
    expect(evaluator.simulate?.([rootNode(0)], request)).toEqual([{ value: 0.5 }]);
  });

  it('refuses what is no map', () => {
    const plain = heuristic((state: number) => state);
    for (const odd of [
      null,
      {},
      { type: 'platt', slope: 1 },
      { type: 'isotonic', points: [] },
      {
        type: 'isotonic',
        points: [
          [0, 0.5],
          [1, 0.2],
        ],
      },
      {
        type: 'isotonic',
        points: [
          [1, 0.5],
          [0, 0.7],
        ],
      },
    ]) {
      expect(() => calibrated(plain, odd as never)).toThrow('`map`');
    }
  });
});
