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
    searches: 100,
    n: 100,
    failed: 0,
    outages: 0,
    broken: 0,
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
    reused: 0,
    cold: { n: 0, ms: null },
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
  return {
    ...{ baseline: 'best-of-n', points, differences: [], clusters: 100, isReplay: false },
    ...more,
  };
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
      'Yes. With mcts, accuracy rises by 12.0 points over best-of-n from 1,000 tokens up (95 % interval +6.0 to +18.0; p 0.00040 corrected for 2 comparisons): 62.0 % against 50.0 %. ' +
        'mcts spends 980 tokens ($0.016) per search, against 800 tokens ($0.010) for best-of-n: each point gained costs 15 tokens and $0.00050 per search. ' +
        'Going by its curve, best-of-n needs about 5,700 tokens for the same accuracy. ' +
        'The curve of mcts is still rising at 4,000 tokens: try larger budgets.',
    );
  });

  test('says where it does not hold, and that another baseline does as well', () => {
    const points = [...curve.slice(0, 4), point('self-consistency', 1000, { accuracy: 0.63 })];
    const differences = [gain('mcts', 1000), gain('mcts', 4000, unsure)];
    const { text } = verdictOf(found({ points, differences }));
    expect(text).toContain(' at 1,000 tokens (95 %');
    expect(text).toContain('At 4,000 tokens the gain is not significant.');
    expect(text).toContain(
      'But self-consistency, which does not search, gets 63.0 % at 1,000 tokens, against 50.0 % for best-of-n: that is what to beat.',
    );
  });

  test('goes by the pairs where searches were lost, and says that accuracies do not', () => {
    const lost = curve.with(3, point('mcts', 1000, { accuracy: 0.64, tokens: 980, usd: 0.016 }));
    const { text } = verdictOf(found({ points: lost, differences: [gain('mcts', 1000)] }));
    expect(text).toContain('64.0 % against 50.0 % over all scored searches of each, which are not');
    expect(text).toContain('each point gained costs 15 tokens and');
  });

  test('says that the gain costs no more, and where the baseline gets as much', () => {
    const mine = point('mcts', 1000, { accuracy: 0.62, tokens: 900 });
    const text = (...others: readonly BenchPoint[]) =>
      verdictOf(
        found({
          points: [point('best-of-n', 1000), ...others, mine],
          differences: [gain('mcts', 1000)],
        }),
      ).text;
    expect(text()).toContain('the gain comes at no extra cost. Confirm it');
    expect(text(point('best-of-n', 4000, { accuracy: 0.61 }))).toContain(
      'best-of-n does not reach this at any budget tried.',
    );
    const before = point('best-of-n', 500, { accuracy: 0.63 });
    const points = [before, point('best-of-n', 1000), mine];
    expect(verdictOf(found({ points, differences: [gain('mcts', 1000)] })).text).toContain(
      'best-of-n gets as much at 500 tokens.',
    );
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

test('yes asks for larger budgets only where something is left to gain', () => {
  const told = [0.95, 0.96].map((accuracy) => {
    const points = [...found({}).points, point('mcts', 4000, { accuracy })];
    return verdictOf(found({ points, differences: [gain('mcts', 1000)] })).text;
  });
  expect(told.map((text) => text.includes('still rising'))).toEqual([true, false]);
});

test('yes names the largest gain at the least budget at which any search pays', () => {
  const gains = { mcts: [0.4, 0.4, 0.5], beam: [0.03, 0.15, 0.64] };
  const limits = [1000, 4000, 16000];
  const differences = Object.entries(gains).flatMap(([method, all]) =>
    all.map((difference, at) =>
      gain(method, limits[at] ?? 0, {
        ...{ difference, low: difference - 0.1, high: difference + 0.1 },
        adjustedP: difference > 0.1 ? 0.001 : 0.5,
      }),
    ),
  );
  const points = ['best-of-n', 'beam', 'mcts'].flatMap((method) =>
    limits.map((limit) => point(method, limit)),
  );
  const { best, text } = verdictOf(found({ points, differences }));
  expect(best).toMatchObject({ method: 'mcts', budget: { limit: 1000 } });
  expect(text).toContain('With mcts, accuracy rises by 40.0 points over best-of-n from 1,000');
  expect(text).toContain('At 16,000 tokens beam gains the most: +64.0 points.');
});

test('yes counts in calls where models count no tokens, and says nothing where none was asked', () => {
  const text = (mine: number, other: number) =>
    verdictOf(
      found({
        points: [
          point('best-of-n', 1000, { tokens: 0, calls: other }),
          point('mcts', 1000, { tokens: 0, calls: mine, accuracy: 0.62 }),
        ],
        differences: [gain('mcts', 1000)],
      }),
    ).text;
  expect(text(12, 6)).toContain(
    'mcts spends 12 calls per search, against 6 calls for best-of-n: each point gained costs 0.5 calls per search.',
  );
  expect(text(0, 0)).not.toContain('spends');
});

test('yes advises one size of budgets', () => {
  const points = [0.96, 0.99].flatMap((accuracy, place) =>
    ['best-of-n', 'mcts'].map((method) => point(method, 1000 * (place + 1), { accuracy })),
  );
  const { text } = verdictOf(found({ points, differences: [gain('mcts', 1000)] }));
  expect(text).toContain('try harder problems or smaller budgets.');
  expect(text).not.toContain('larger budgets');
});

describe('no', () => {
  test('takes every search at every budget', () => {
    const some = [gain('mcts', 1000, nothing), gain('beam', 1000, { ...nothing, high: 0.0299 })];
    const { answer, text } = verdictOf(found({ differences: some }));
    expect(answer).toBe('no');
    expect(text).toBe(
      'No. The gain of every search over best-of-n is below 3 points at every budget: the highest of the 95 % intervals ends at +3.0 (beam at 1,000 tokens). Spend on a better model, better values or another method instead.',
    );
    const more = [...some, gain('mcts', 4000, { ...nothing, high: 0.03 })];
    expect(verdictOf(found({ differences: more })).answer).toBe('undecided');
  });

  test('says why: out of reach, right ends not chosen, wrong values', () => {
    const differences = [gain('mcts', 1000, nothing)];
    const text = (main: Partial<BenchPoint>, other: Partial<BenchPoint>) =>
      verdictOf(
        found({
          differences,
          points: [point('best-of-n', 1000, main), point('mcts', 1000, other)],
        }),
      ).text;
    expect(text({ accuracy: 0.01 }, { accuracy: 0 })).toContain('No method gets 5 % right');
    expect(text({ accuracy: 0.97 }, { accuracy: 0.96 })).toContain('try harder problems');
    expect(text({ unused: 0.1 }, { unused: 0.4 })).toMatch(
      / Budget was left unused: up to 40\.0 % by mcts\.$/,
    );
    expect(text({ unused: 0.1 }, {})).not.toContain('unused');
    expect(text({ anyEnd: 0.7 }, {})).toContain(
      'finds a right answer in 70.0 % of its searches but chooses it in only 50.0 %',
    );
    const calibration = { expectedError: 0.31, brier: 0.3, bins: [] };
    expect(text({}, { calibration })).toContain(
      'The values of mcts at 1,000 tokens are off by 31.0 points on average',
    );
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
    expect(text).toBe('Undecided. 29 independent problems are too few. Use 30 or more.');
    const uncompared = gain('mcts', 1000, { clusters: 4 });
    expect(verdictOf(found({ clusters: 5, differences: [uncompared] })).text).toBe(
      'Undecided. Only 4 of 5 independent problems could be compared, which is too few. Use 30 or more.',
    );
  });

  test('says how many problems would decide', () => {
    // SE = 0.08/1.96 at 100: for yes 100 · ((1.960 + 0.842) · 0.040816 / 0.05)² = 523; no is out of reach.
    const { text } = verdictOf(found({ differences: [gain('mcts', 1000, unsure)] }));
    expect(text).toMatch(/about 530 independent problems would decide it\.$/);
    // For no: 100 · (2.802 · 0.040816 / 0.04)² = 817; below 0 nothing shows a yes.
    const worse = { ...unsure, difference: -0.01, low: -0.09, high: 0.07 };
    const other = verdictOf(found({ differences: [gain('mcts', 1000, worse)] }));
    expect(other.text).toContain('about 820 independent problems');
  });

  test('says so where nothing was compared', () => {
    expect(verdictOf(found({}))).toEqual({
      answer: 'undecided',
      text: 'Undecided. No search was compared with best-of-n at an equal budget.',
    });
  });
});

describe('where nothing is decided, a verdict', () => {
  test('says what the largest gain is, be it none or a loss', () => {
    const zero = { difference: 0, low: -0.1, high: 0.1, p: 1, adjustedP: 1 };
    const loss = { difference: -0.275, low: -0.4, high: -0.15, p: 0.001, adjustedP: 0.002 };
    const text = (...differences: readonly BenchDifference[]) =>
      verdictOf(found({ differences })).text;
    expect(text(gain('mcts', 1000, zero), gain('beam', 1000, loss))).toContain(
      'The largest gain over best-of-n is 0.0 points (mcts at 1,000 tokens; 95 % interval −10.0 to +10.0, 100 independent problems).',
    );
    const small = { ...unsure, difference: -0.03, low: -0.09, high: 0.035 };
    expect(text(gain('mcts', 1000, small), gain('beam', 1000, loss))).toContain(
      'No search does better than best-of-n: the closest is mcts at 1,000 tokens, with −3.0 points (95 %',
    );
  });

  test('leads with what to use where a search is worse, and says what more problems cost', () => {
    const loss = { difference: -0.2, low: -0.3, high: -0.1, adjustedP: 0.021 };
    const differences = ['beam', 'mcts'].map((method) => gain(method, 1000, loss));
    const more = [gain('beam', 4000, unsure), gain('mcts', 4000, unsure)];
    const points = ['best-of-n', 'beam', 'mcts'].flatMap((method) =>
      [1000, 4000].map((limit) => point(method, limit)),
    );
    const all = found({ points, differences: [...differences, ...more], usd: 0.02 });
    const { answer, text } = verdictOf(all);
    expect(answer).toBe('undecided');
    expect(text).toMatch(
      /^Undecided\. For now use best-of-n\. beam and mcts are worse than best-of-n at 1,000 tokens \(p 0\.021\)\. /,
    );
    const [, problems = '', usd] =
      /about ([\d,]+) independent problems would decide it, for about \$([\d.]+) in all/.exec(
        text,
      ) ?? [];
    const cost = 0.02 * Number(problems.replace(',', ''));
    expect(Math.abs(Number(usd) / cost - 1)).toBeLessThan(0.05);
  });

  test('says that an interval above 0 is not corrected for several comparisons', () => {
    const chosen = { difference: 0.08, low: 0.01, high: 0.15, p: 0.03, adjustedP: 0.156 };
    const text = (...differences: readonly BenchDifference[]) =>
      verdictOf(found({ differences })).text;
    const sentence = /That interval is not corrected for 2 comparisons; p is, and it is 0\.16\./;
    expect(text(gain('mcts', 1000, chosen), gain('beam', 1000, unsure))).toMatch(sentence);
    expect(text(gain('mcts', 1000, unsure), gain('beam', 1000, unsure))).not.toMatch(sentence);
  });

  test('as any other verdict says what leads without a search, and only where it leads by 3 points', () => {
    const sentence =
      'But self-consistency, which does not search, gets 88.6 % at 1,000 tokens, against 57.1 % for best-of-n: that is what to beat.';
    const text = (difference: object, ...accuracies: readonly [number, number]) =>
      verdictOf(
        found({
          points: [
            point('self-consistency', 1000, { accuracy: accuracies[0] }),
            point('best-of-n', 1000, { accuracy: 0.571 }),
            point('mcts', 1000, { accuracy: accuracies[1] }),
          ],
          differences: [gain('mcts', 1000, difference)],
        }),
      ).text;
    for (const difference of [unsure, nothing]) {
      expect(text(difference, 0.886, 0.571)).toContain(sentence);
      expect(text(difference, 0.59, 0.571)).not.toContain('what to beat');
      expect(text(difference, 0.886, 0.87)).not.toContain('what to beat');
    }
    const points = [
      point('self-consistency', 1000, { accuracy: 0.886 }),
      point('best-of-n', 1000, { accuracy: 0.571 }),
    ];
    expect(verdictOf(found({ points })).text).toContain(sentence);
  });
});

test('a verdict says once which search is worse, with its budgets', () => {
  const loss = { difference: -0.2, low: -0.3, high: -0.1, adjustedP: 0.021 };
  const points = ['best-of-n', 'beam'].flatMap((method) =>
    [1000, 4000].map((limit) => point(method, limit)),
  );
  const differences = [1000, 4000].map((limit) => gain('beam', limit, loss));
  expect(verdictOf(found({ points, differences })).text).toContain(
    ' beam is worse than best-of-n at 1,000 tokens (p 0.021) and at 4,000 tokens (p 0.021). ',
  );
});

describe('a weak baseline', () => {
  const of = (greedy: number) => {
    const points = [
      point('greedy', 1000, { accuracy: greedy }),
      point('best-of-n', 1000, { accuracy: 0.42 }),
      point('mcts', 1000, { accuracy: 0.6 }),
    ];
    return [gain('mcts', 1000), gain('mcts', 1000, unsure), gain('mcts', 1000, nothing)].map(
      (difference) => verdictOf(found({ points, differences: [difference] })),
    );
  };

  test('is named with any answer where another way without search gets 3 points more', () => {
    const verdicts = of(0.51);
    expect(verdicts.map(({ answer }) => answer)).toEqual(['yes', 'undecided', 'no']);
    for (const { text } of verdicts) {
      expect(text).toContain(
        'But best-of-n is a weak baseline here: greedy gets 9.0 points more at 1,000 tokens (51.0 % against 42.0 %). Try another `--temperature`, or compare with `--baseline greedy`.',
      );
    }
  });

  test('is none where that gets less than 3 points more, and what leads everything is named alone', () => {
    for (const { text } of of(0.44)) expect(text).not.toContain('weak baseline');
    for (const { text } of of(0.7)) {
      expect(text).toContain('that is what to beat');
      expect(text).not.toContain('weak baseline');
    }
  });
});

describe('a comparison in which too many searches failed', () => {
  const points = (failed: Readonly<Record<string, number>>) =>
    ['best-of-n', 'mcts', 'beam'].map((method) =>
      point(method, 1000, { failed: 20, outages: failed[method] ?? 0 }),
    );
  const none = [gain('mcts', 1000, nothing), gain('beam', 1000, nothing)];

  test('is no reason for a no', () => {
    const text =
      'Undecided. Calls failed in too many searches to compare them: 6 of 100 of mcts at 1,000 tokens. The notes name the cause. Fix it';
    const verdict = verdictOf(found({ points: points({ mcts: 6 }), differences: none }));
    expect(verdict.answer).toBe('undecided');
    expect(verdict.text).toContain(text);
    // What the sound comparisons say is still said.
    expect(verdict.text).toContain('The largest gain over best-of-n is 1.0 points (beam at');
    expect(verdictOf(found({ points: points({ mcts: 5 }), differences: none })).answer).toBe('no');
  });

  test('counts them among all searches, also those that were not scored', () => {
    const half = { n: 50, unscored: 50 };
    const of = (outages: number) =>
      verdictOf(
        found({
          points: [point('best-of-n', 1000), point('mcts', 1000, { ...half, outages })],
          differences: none.slice(0, 1),
        }),
      );
    expect(of(5).answer).toBe('no');
    expect(of(6).text).toContain('6 of 100 of mcts at 1,000 tokens');
  });

  test('says so where code failed, and adds up what failed through no fault of the method', () => {
    const mine = point('mcts', 1000, { failed: 6, outages: 2, broken: 4 });
    const { answer, text } = verdictOf(
      found({ points: [point('best-of-n', 1000), mine], differences: none.slice(0, 1) }),
    );
    expect(answer).toBe('undecided');
    expect(text).toContain(
      'Code of the task or of a method failed in too many searches to compare them: 6 of 100 of mcts at 1,000 tokens. The notes say what failed. Fix it',
    );
  });

  test('is no reason for a yes, where another search may still be one', () => {
    const differences = [gain('mcts', 1000), gain('beam', 1000, nothing)];
    const of = (failed: Readonly<Record<string, number>>) =>
      verdictOf(found({ points: points(failed), differences })).answer;
    expect(of({ 'best-of-n': 40 })).toBe('undecided');
    expect(of({ mcts: 40 })).toBe('undecided');
    expect(of({ beam: 100 })).toBe('yes');
  });
});
