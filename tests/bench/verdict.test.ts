import { describe, expect, test } from 'vitest';
import type { BenchDifference, BenchPoint } from '../../src/bench/report.ts';
import { type Findings, verdictOf } from '../../src/bench/verdict.ts';

function point(method: string, limit: number, more: Partial<BenchPoint> = {}): BenchPoint {
  return {
    method,
    budget: { unit: 'tokens', limit },
    isBaseline: method !== 'mcts' && method !== 'beam',
    accuracy: 0.5,
    low: 0.4,
    high: 0.6,
    n: 100,
    failed: 0,
    unscored: 0,
    passAtK: [],
    anyEnd: null,
    tokens: limit,
    inputTokens: 0,
    cachedTokens: 0,
    outputTokens: limit,
    usd: null,
    calls: 1,
    ms: null,
    unused: 0,
    ends: {},
    calibration: null,
    tree: { nodes: 1, depth: 1, width: 1 },
    ...more,
  };
}

function gain(method: string, limit: number, more: Partial<BenchDifference> = {}): BenchDifference {
  const budget = { unit: 'tokens', limit } as const;
  const shown = { difference: 0.12, low: 0.06, high: 0.18, p: 0.0002, adjustedP: 0.0004 };
  return { method, than: 'best-of-n', budget, clusters: 100, ...shown, ...more };
}

const nothing = { difference: 0.01, low: -0.005, high: 0.025, p: 0.3, adjustedP: 0.9 };
const unsure = { difference: 0.05, low: -0.03, high: 0.13, p: 0.2, adjustedP: 0.4 };

function found(more: Partial<Findings>): Findings {
  const points = [point('best-of-n', 1000), point('mcts', 1000)];
  return { baseline: 'best-of-n', points, differences: [], clusters: 100, ...more };
}

describe('yes', () => {
  const curve = [
    point('best-of-n', 1000, { tokens: 800, usd: 0.01 }),
    point('best-of-n', 4000, { accuracy: 0.58, tokens: 3000 }),
    point('best-of-n', 16000, { accuracy: 0.74, tokens: 12000 }),
    point('mcts', 1000, { accuracy: 0.62, tokens: 980, usd: 0.016 }),
    point('mcts', 4000, { accuracy: 0.7, tokens: 4000 }),
  ];

  test('says which, from where on, by how much, at what price, and what else would get there', () => {
    const differences = [gain('mcts', 1000), gain('mcts', 4000)];
    const { answer, text, best } = verdictOf(found({ points: curve, differences }));
    expect(answer).toBe('yes');
    expect(best).toBe(differences[0]);
    // 180 tokens and 0.6 cents more for 12 points. A quarter of the way from 58 to 74 % is 4,000 · 4^¼ = 5,657.
    expect(text).toBe(
      'Yes: mcts gets +12.0 points against best-of-n from 1,000 tokens on (95 % interval +6.0 to +18.0, p 0.00040, corrected for 2 comparisons): 62.0 % for 50.0 %. ' +
        'It spends 980 tokens ($0.016) a problem, best-of-n 800 tokens ($0.010): each extra point costs 15 tokens and $0.00050 a problem. ' +
        'By its curve best-of-n gets as much with about 5,700 tokens. ' +
        'The curve of mcts still rises at 4,000 tokens: try larger budgets.',
    );
  });

  test('says where it does not hold, and that another baseline does as well', () => {
    const points = [...curve.slice(0, 4), point('self-consistency', 1000, { accuracy: 0.63 })];
    const differences = [gain('mcts', 1000), gain('mcts', 4000, unsure)];
    const { text } = verdictOf(found({ points, differences }));
    expect(text).toContain(' at 1,000 tokens (95 %');
    expect(text).toContain('At 4,000 tokens the difference is not shown.');
    expect(text).toContain('But self-consistency, no search, gets 63.0 % at that budget');
  });

  test('says that points cost nothing more, and that the baseline does not get there', () => {
    const points = [point('best-of-n', 1000), point('mcts', 1000, { accuracy: 0.62, tokens: 900 })];
    const { text } = verdictOf(found({ points, differences: [gain('mcts', 1000)] }));
    expect(text).toContain('the points cost nothing more.');
    expect(text).toContain('best-of-n does not get as much with up to 1,000 tokens.');
  });

  test.each([
    ['a p-value that is too great once corrected', { adjustedP: 0.051 }],
    ['an interval that reaches 0', { low: 0 }],
  ])('is not %s', (_, more) => {
    const differences = [gain('mcts', 1000, more)];
    expect(verdictOf(found({ differences })).answer).toBe('undecided');
  });

  test('is no baseline’s', () => {
    const differences = [gain('self-consistency', 1000), gain('mcts', 1000, nothing)];
    const points = [...found({}).points, point('self-consistency', 1000)];
    expect(verdictOf(found({ points, differences })).answer).toBe('no');
  });
});

describe('no', () => {
  test('takes every search at every budget', () => {
    const some = [gain('mcts', 1000, nothing), gain('beam', 1000, { ...nothing, high: 0.0299 })];
    const { answer, text } = verdictOf(found({ differences: some }));
    expect(answer).toBe('no');
    expect(text).toBe(
      'No: at no budget does any of these searches gain 3 points against best-of-n; the upper ends of all 95 % intervals are below that, the highest at +3.0 (beam at 1,000 tokens). Stay with best-of-n, and spend on a better model, better values or another method.',
    );
    const more = [...some, gain('mcts', 4000, { ...nothing, high: 0.03 })];
    expect(verdictOf(found({ differences: more })).answer).toBe('undecided');
  });

  test('says why: out of reach, budget left, right ends not chosen, wrong values', () => {
    const differences = [gain('mcts', 1000, nothing)];
    const text = (main: Partial<BenchPoint>, other: Partial<BenchPoint>) =>
      verdictOf(
        found({
          differences,
          points: [point('best-of-n', 1000, main), point('mcts', 1000, other)],
        }),
      ).text;
    expect(text({ accuracy: 0.01 }, { accuracy: 0 })).toContain('Nothing gets 5 % right');
    expect(text({ accuracy: 0.97 }, { accuracy: 0.96 })).toContain('try harder problems');
    expect(text({}, { unused: 0.4 })).toContain('mcts 40.0 % of 1,000 tokens');
    expect(text({ anyEnd: 0.7 }, {})).toContain('finds a right end in 70.0 % of its searches');
    const calibration = { expectedError: 0.31, brier: 0.3, bins: [] };
    expect(text({}, { calibration })).toContain('The values of mcts are off by 31.0 %');
  });
});

describe('undecided', () => {
  test.each([
    [29, 'undecided'],
    [30, 'yes'],
  ])('with %d clusters a clear difference is %s', (clusters, answer) => {
    expect(verdictOf(found({ clusters, differences: [gain('mcts', 1000)] })).answer).toBe(answer);
    const few = [gain('mcts', 1000), gain('beam', 1000, { ...nothing, clusters })];
    expect(verdictOf(found({ differences: few })).answer).toBe(answer);
  });

  test('is never a no with few clusters', () => {
    const { answer, text } = verdictOf(
      found({ clusters: 29, differences: [gain('mcts', 1000, nothing)] }),
    );
    expect(answer).toBe('undecided');
    expect(text).toContain('not to be trusted with 29 independent problems');
  });

  test('says how many problems would decide', () => {
    // SE = 0.08/1.96 at 100: for yes 100 · ((1.960 + 0.842) · 0.040816 / 0.05)² = 523; no is out of reach.
    const { text } = verdictOf(found({ differences: [gain('mcts', 1000, unsure)] }));
    expect(text).toContain('about 530 independent problems would decide it.');
    // For no: 100 · (2.802 · 0.040816 / 0.04)² = 817; below 0 nothing shows a yes.
    const worse = { ...unsure, difference: -0.01, low: -0.09, high: 0.07 };
    const other = verdictOf(found({ differences: [gain('mcts', 1000, worse)] }));
    expect(other.text).toContain('about 820 independent problems');
  });

  test('says so where nothing was compared', () => {
    expect(verdictOf(found({}))).toEqual({
      answer: 'undecided',
      text: 'Undecided: no search was compared with best-of-n at an equal budget.',
    });
  });
});
