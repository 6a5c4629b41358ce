import { describe, expect, it, test } from 'vitest';
import { judgeReport, widthCarried } from '../../src/values/calibrate/judge-report.ts';

describe('a report on a judge', () => {
  it('has the AUC of first judgements, and the spread of all', () => {
    const report = judgeReport([
      { good: true, values: [0.9, 0.7] },
      { good: true, values: [0.4, 0.4] },
      { good: false, values: [0.2, 0.2] },
      { good: false, values: [0.6, 0.8] },
      { good: false, values: [] },
    ]);
    // Of the four pairs of a good state and another one, only 0.4 and 0.6 stand the wrong way round.
    expect(report.auc).toBe(0.75);
    // The variances are 0.02, 0, 0 and 0.02.
    expect(report.noise).toBeCloseTo(0.1, 12);
    expect(report).toMatchObject({ states: 4, good: 2, failed: 1 });
    expect(report.sentence).toMatch(/^The value cannot be told from noise \(AUC 0\.75, /);
    // Φ⁻¹(0.75) = 0.67448975, squared 0.45493642.
    expect(report.width.estimate).toBeCloseTo(1.5760735, 6);
    expect(report.width.low).toBe(1);
    expect(report.width.high).toBeGreaterThan(report.width.estimate);
  });

  it('tells no noise where nothing was judged twice', () => {
    const report = judgeReport([
      { good: true, values: [1] },
      { good: false, values: [0] },
    ]);
    expect(report.noise).toBeUndefined();
    expect(report.width.estimate).toBe(Number.POSITIVE_INFINITY);
  });

  it('is less sure of states of one problem', () => {
    // It knows the one problem, and has the other the wrong way round.
    const values = { one: [0.9, 0.8, 0.1, 0.2], two: [0.3, 0.4, 0.7, 0.6] };
    const states = Object.entries(values).flatMap(([problem, said]) =>
      said.map((value, place) => ({ good: place < 2, values: [value], problem })),
    );
    const apart = judgeReport(states.map(({ problem: _, ...state }) => state));
    const grouped = judgeReport(states);
    expect(grouped.auc).toBe(apart.auc);
    expect(grouped.low).toBeLessThan(apart.low);
  });
});

// Δ is so many σ: the AUC is Φ(Δ / (√2 σ)), and the luckiest of exp(Δ² / 2σ²) errors reaches Δ.
test.each([
  [1, 0.760249938906523, 1.6487212707],
  [1.5, 0.855577756, 3.0802168489],
  [2, 0.921350396474857, 7.3890560989],
  [2.5, 0.961450064, 22.7598950935],
])('a gap of %f σ carries exp of half its square', (_gap, auc, width) => {
  expect(widthCarried(auc) / width).toBeCloseTo(1, 4);
});

test('what cannot tell good from bad carries no choice', () => {
  expect([0.5, 0.3, 0].map(widthCarried)).toEqual([1, 1, 1]);
});
