import { describe, expect, test } from 'vitest';
import type { BenchCell } from '../../src/bench/cell.ts';
import { type BenchHeader, reportOf } from '../../src/bench/summary.ts';

const header: BenchHeader = {
  task: { name: 'sums', title: 'Sums', spec: null, source: null, licence: 'MIT', split: null },
  model: 'scripted:script',
  judgeModel: null,
  temperature: null,
  seeds: 1,
  seed: 7,
  baseline: 'best-of-n',
  baselines: ['greedy', 'best-of-n'],
  versions: { espalier: '1', node: '20' },
  bought: { calls: 1, tokens: 2, usd: 3 },
};

const plain: BenchCell = {
  instance: '',
  cluster: '',
  method: '',
  budget: { unit: 'tokens', limit: 1000 },
  attempt: 0,
  status: 'scored',
  right: false,
  isGuided: false,
  anyRight: false,
  ends: [],
  stopReason: 'budget',
  calls: 4,
  reused: 0,
  tokens: 1000,
  inputTokens: 600,
  cachedTokens: 100,
  outputTokens: 400,
  usd: 0.01,
  ms: 50,
  tree: { nodes: 5, depth: 2, width: 3 },
};

/** Searches of as many problems as there are marks: 1 right, 0 wrong, f failed, u unscored. */
function arm(method: string, marks: string, more: Partial<BenchCell> = {}): BenchCell[] {
  return [...marks].map((mark, place) => ({
    ...plain,
    instance: `p${place}`,
    cluster: `p${place}`,
    method,
    // What failed or was not scored does not count, whatever it says.
    right: mark !== '0',
    status: mark === 'f' ? 'failed' : mark === 'u' ? 'unscored' : 'scored',
    ...((mark === 'f' || mark === 'u') && { reason: `It was ${mark}.` }),
    ...more,
  }));
}

const times = (count: number, marks: string) => marks.repeat(count);

describe('points', () => {
  test('count failures as wrong and leave out what nobody scored', () => {
    const { points, problems, warnings } = reportOf(arm('best-of-n', '110fu'), header);
    expect(points).toMatchObject([{ accuracy: 0.5, n: 4, failed: 1, unscored: 1 }]);
    expect(problems.map(({ shares }) => shares)).toEqual([[1], [1], [0], [0], [null]]);
    expect(warnings).toEqual([
      '1 of 5 searches of best-of-n failed and count as wrong; the most common reason, as in `p3` of `sums`: It was f.',
      '1 of 5 searches of best-of-n could not be scored, are left out and are made again by the same command; the most common reason, as in `p4` of `sums`: It was u.',
    ]);
  });

  test('average what was spent, and know no dollars where one search knows none', () => {
    const cells = arm('best-of-n', '10');
    const [first = plain, second = plain] = cells;
    const { points, spend, warnings } = reportOf(
      [{ ...first, tokens: 400, usd: null, ms: 10, stopReason: 'solved' }, second],
      header,
    );
    expect(points).toMatchObject([
      { tokens: 700, usd: null, ms: 30, calls: 4, ends: { budget: 1, solved: 1 } },
    ]);
    expect(spend.charged).toEqual({ calls: 8, tokens: 1400, usd: 0.01 });
    expect(warnings.at(-1)).toBe(
      'Price unknown for `scripted:script`: dollars are missing. Name the price with `--price-in` and `--price-out` (`prices` in code) and another folder with `--out`; `--cache` with the `recording` of this one buys nothing again.',
    );
  });

  test('tell what was left unused by searches that did not end as solved', () => {
    const cells = [
      ...arm('mcts', '00', { tokens: 300, stopReason: 'exhausted' }),
      ...arm('best-of-n', '11', { tokens: 100, stopReason: 'solved' }),
      ...arm('greedy', '00', { tokens: 950 }),
    ];
    const { points, warnings } = reportOf(cells, header);
    expect(points.map(({ method, unused }) => [method, unused])).toEqual([
      ['greedy', expect.closeTo(0.05, 12)],
      ['best-of-n', 0],
      ['mcts', 0.7],
    ]);
    expect(warnings).toEqual([
      'mcts left budget unused in searches that were not solved: 70.0 % of 1,000 tokens, because nothing was left to search in 2 of 2.',
    ]);
  });

  test('say first and loudest that a budget was broken', () => {
    const { warnings } = reportOf(arm('mcts', '0', { tokens: 1001 }), header);
    expect(warnings[0]).toBe(
      'BUDGET EXCEEDED: mcts spent up to 1,001 tokens with a budget of 1,000 tokens, in 1 of 1 searches. Comparisons at this budget are not fair; please report this as a bug.',
    );
    const late = { budget: { unit: 'ms', limit: 50 }, ms: 52 } as const;
    expect(reportOf(arm('mcts', '0', late), header).warnings).toEqual([]);
  });

  test('keep pass@k of several searches and right ends apart from accuracy', () => {
    const ends = [
      { value: 0.9, right: false },
      { value: 0.2, right: true },
    ];
    const cells = [
      ...arm('best-of-n', '10', { attempt: 0, ends, anyRight: true }),
      ...arm('best-of-n', '00', { attempt: 1 }),
    ];
    const { points } = reportOf(cells, { ...header, seeds: 2 });
    expect(points).toMatchObject([
      { accuracy: 0.25, n: 4, anyEnd: 0.5, passAtK: [{ k: 2, any: 0.5, all: 0 }] },
    ]);
    // Twice a value of 0.9 that is wrong, and one of 0.2 that is right.
    expect(points[0]?.calibration?.expectedError).toBeCloseTo(0.85, 12);
    expect(points[0]?.calibration?.brier).toBeCloseTo((0.81 + 0.64) / 2, 12);
  });
});

test('outages and broken code are in no accuracy, difference, pass@k or calibration', () => {
  const lost = { status: 'failed', isOutage: true, ms: null, tokens: 0 } as const;
  const ends = [{ value: 0.5, right: true }];
  // Of 24 searches 14 are right and 4 were lost: 14 of 20, and not 14 of 24.
  const some = [
    ...arm('greedy', `${times(14, '1')}${times(6, '0')}`, { ends }),
    ...arm('greedy', 'ffff', { ...lost, ends: [{ value: 0.9, right: false }] }).map(
      (cell, place) => ({ ...cell, instance: `p${20 + place}`, cluster: `p${20 + place}` }),
    ),
    ...arm('best-of-n', times(24, '0')),
  ];
  const { points, differences, warnings } = reportOf(some, header);
  const [greedy] = points;
  expect(greedy).toMatchObject({ searches: 24, n: 20, accuracy: 0.7, failed: 0, outages: 4 });
  expect(greedy).toMatchObject({ ms: 50, tokens: 1000 });
  expect(greedy?.calibration?.bins).toEqual([{ value: 0.5, right: 1, n: 20 }]);
  expect(differences).toMatchObject([{ clusters: 20, difference: 0.7 }]);
  expect(warnings.join()).toContain('4 of 24 searches of greedy could not ask their model, count');
  const all = reportOf(arm('greedy', 'ff', { ...lost }), header).points;
  expect(all).toMatchObject([{ searches: 2, n: 0, accuracy: null, passAtK: [] }]);
  const recorded = { ...header, task: { ...header.task, name: 'recorded' } };
  expect(reportOf(some, recorded).warnings.join()).toContain('asked for what was not recorded');
});

test('points tell searches that bought all of their calls from those that reused some', () => {
  const [a = plain, b = plain, c = plain, d = plain] = arm('best-of-n', '1010');
  const { points } = reportOf(
    [
      { ...a, ms: 10, calls: 4, reused: 0 },
      { ...b, ms: 40, calls: 4, reused: 0 },
      { ...c, ms: 90, calls: 4, reused: 3 },
      // It asked nobody.
      { ...d, ms: 0, calls: 0, reused: 0 },
    ],
    header,
  );
  expect(points).toMatchObject([{ ms: 35, calls: 3, reused: 0.75, cold: { n: 2, ms: 25 } }]);
  const warm = reportOf([{ ...c, ms: 90, calls: 4, reused: 4 }], header);
  expect(warm.points).toMatchObject([{ ms: 90, cold: { n: 0, ms: null } }]);
  const untimed = reportOf([{ ...a, ms: null, calls: 4, reused: 0 }], header);
  expect(untimed.points).toMatchObject([{ ms: null, reused: null, cold: null }]);
});

describe('warnings', () => {
  test('tell why budget was left at each limit, and nothing of greedy, which asks once', () => {
    const at = (limit: number, more: Partial<BenchCell>) =>
      arm('mcts', '000', { budget: { unit: 'tokens', limit }, ...more });
    const cells = [
      ...at(1_000, { tokens: 800 }),
      ...at(4_000, { tokens: 1_000, stopReason: 'exhausted' }),
      ...at(8_000, { tokens: 1_000, stopReason: 'exhausted' }),
      ...arm('greedy', '000', { tokens: 100, stopReason: 'exhausted' }),
    ];
    expect(reportOf(cells, header).warnings).toEqual([
      'mcts left budget unused in searches that were not solved: 20.0 % of 1,000 tokens, because the next call would have exceeded it in 3 of 3; 75.0 % of 4,000 tokens and 87.5 % of 8,000 tokens, because nothing was left to search in 6 of 6.',
    ]);
  });

  test('name the methods whose dollars are missing, where others have theirs', () => {
    const cells = [...arm('greedy', '1', { usd: null }), ...arm('best-of-n', '1')];
    const models = { model: null, judgeModel: null };
    expect(reportOf(cells, { ...header, ...models }).warnings).toEqual([
      'Price unknown for a model: dollars of greedy are missing. Name the price with `--price-in` and `--price-out` (`prices` in code) and another folder with `--out`; `--cache` with the `recording` of this one buys nothing again.',
    ]);
  });
});

test('an oracle’s method stands apart, and nothing is compared with it', () => {
  const marks = times(40, '10');
  const report = reportOf(
    [
      ...arm('best-of-n', times(40, '00')),
      ...arm('guided', marks, { isGuided: true }),
      ...arm('guided', marks, { budget: { unit: 'tokens', limit: 2000 } }),
    ],
    header,
  );
  expect(report.guided.map(({ method, budget }) => [method, budget.limit])).toEqual([
    ['guided', 1000],
    ['guided', 2000],
  ]);
  expect(report.points.map(({ method }) => method)).toEqual(['best-of-n']);
  expect(report.differences).toEqual([]);
  expect(report.verdict.answer).toBe('undecided');
});

test('differences pair equal searches, and are corrected within searches and within baselines', () => {
  const cells = [
    ...arm('best-of-n', '0000000000'),
    ...arm('best-of-n', '1111111111', { attempt: 1, budget: { unit: 'tokens', limit: 9 } }),
    ...arm('greedy', '0000011111'),
    ...arm('beam', '0011111111'),
    // The last is not scored, and of the others one is right.
    ...arm('mcts', '000000001u'),
  ];
  const { differences } = reportOf(cells, header);
  expect(
    differences.map(({ method, difference, clusters }) => [method, difference, clusters]),
  ).toEqual([
    ['greedy', 0.5, 10],
    ['beam', 0.8, 10],
    ['mcts', 1 / 9, 9],
  ]);
  // McNemar's mid-p of 5, 8 and 1 to nothing: 2⁻⁵, 2⁻⁸ and 2⁻¹; two searches, one baseline.
  expect(differences.map(({ p }) => p)).toEqual([1 / 32, 1 / 256, 0.5]);
  expect(differences.map(({ adjustedP }) => adjustedP)).toEqual([1 / 32, 1 / 128, 0.5]);
});

test('the same report byte for byte whatever the order of the cells', () => {
  const cells = ['greedy', 'best-of-n', 'mcts', 'beam'].flatMap((method, place) =>
    [1000, 3000].flatMap((limit) =>
      arm(method, times(9, '0110f10u'.slice(place)), {
        budget: { unit: 'tokens', limit },
        usd: 0.1 + place / 7,
        ends: [{ value: 1 / (place + 3), right: place === 2 }],
      }),
    ),
  );
  const written = JSON.stringify(reportOf(cells, header));
  expect(JSON.stringify(reportOf(cells.toReversed(), header))).toBe(written);
  const shuffled = cells.toSorted((a, b) =>
    a.instance + a.method < b.instance + b.method ? 1 : -1,
  );
  expect(JSON.stringify(reportOf(shuffled, header))).toBe(written);
});

test('areas are of methods with two budgets of a unit', () => {
  const at = (limit: number) => ({ budget: { unit: 'calls', limit } }) as const;
  const { areas } = reportOf(
    [
      ...arm('best-of-n', '0011', at(2)),
      ...arm('best-of-n', '1111', at(8)),
      ...arm('best-of-n', '1111', { budget: { unit: 'tokens', limit: 3 } }),
      ...arm('mcts', '1111', at(8)),
    ],
    header,
  );
  expect(areas).toEqual([{ method: 'best-of-n', unit: 'calls', area: 0.75 }]);
});

test('one search cannot be there twice', () => {
  expect(() => reportOf([...arm('mcts', '1'), ...arm('mcts', '0')], header)).toThrow(
    'Expected `cells` to be one for each search, got `"mcts at tokens=1000, search 0 of p0"`.',
  );
});

test('of nothing there is nothing to say', () => {
  expect(reportOf([], header)).toMatchObject({
    points: [],
    task: { instances: 0, clusters: 0 },
    verdict: { answer: 'undecided' },
  });
});

test('where no search was scored, a verdict says that alone', () => {
  const spent = { tokens: 0, stopReason: 'failed' } as const;
  const broken = ['best-of-n', 'mcts'].flatMap((method) =>
    arm(method, 'fff', { ...spent, isBroken: true }),
  );
  const text = (cells: readonly BenchCell[]) => reportOf(cells, header).verdict.text;
  expect(text(broken)).toBe(
    'Undecided. No search was scored. Code of the task or of a method failed in too many searches to compare them: 3 of 3 of mcts at 1,000 tokens and 3 of 3 of best-of-n at 1,000 tokens. The notes say what failed. Fix it and run the same command again, which repeats what failed.',
  );
  // A benchmark that was stopped before its first search with a model.
  expect(text(broken.slice(0, 3))).toBe('Undecided. No search was scored.');
  expect(text(['best-of-n', 'mcts'].flatMap((method) => arm(method, 'uuu', spent)))).toBe(
    'Undecided. No search was scored.',
  );
  expect(text([...arm('best-of-n', '01u'), ...arm('mcts', '01u')])).toBe(
    'Undecided. 2 independent problems are too few. Use 30 or more.',
  );
});

test('what searches lost on their way, and what limits or rewards nothing, is said', () => {
  const lost = { lost: { count: 3, reason: 'No judge.' } };
  const warningsFor = (ends: BenchCell['ends']) =>
    reportOf(
      [
        ...arm('best-of-n', times(30, '0'), { exceeded: 'simulations', isUnrewarded: true }),
        ...arm('mcts', times(30, '0'), { ...lost, isUnrewarded: true, ends }),
      ],
      header,
    ).warnings;
  const warnings = warningsFor([{ value: 0.5, right: false }]);
  expect(warnings).toEqual(
    expect.arrayContaining([
      '30 of 30 searches of mcts dropped steps that came to nothing; the most common reason, as in `p0` of `sums`: No judge.',
      expect.stringContaining('30 of 30 searches of best-of-n ended after 10,000 simulations'),
      expect.stringContaining('Nothing can be right: no step of any search was rewarded'),
    ]),
  );
  // Searches that came to no end tell nothing of it.
  expect(warningsFor([]).join()).not.toContain('Nothing can be right');
});

test('a comparison that is left out of the verdict does not count as one of several', () => {
  const right = `${times(24, '1')}${times(36, '0')}`;
  const cells = [...arm('best-of-n', times(60, '0')), ...arm('mcts', right)];
  const broken = arm('beam', times(60, '0')).map((cell, place) =>
    place < 4 ? { ...cell, status: 'failed' as const, isBroken: true as const } : cell,
  );
  const adjusted = (...more: readonly BenchCell[]) =>
    reportOf([...cells, ...more], header).differences.map(({ method, p, adjustedP }) => [
      method,
      adjustedP / p,
    ]);
  expect(adjusted()).toEqual([['mcts', 1]]);
  expect(adjusted(...arm('beam', times(60, '0')))).toContainEqual(['mcts', 2]);
  expect(adjusted(...broken)).toContainEqual(['mcts', 1]);
});

test('an answer that is right is counted among those that any end has right', () => {
  // Two clusters of unequal size: 1 of 1 and 0 of 3 are right.
  const cells = arm('mcts', '1000', { ends: [{ value: 1, right: true }] }).map((cell, place) => ({
    ...cell,
    cluster: place === 0 ? 'a' : 'b',
    anyRight: cell.right,
  }));
  const [point] = reportOf(cells, header).points;
  expect([point?.accuracy, point?.anyEnd]).toEqual([0.5, 0.5]);
});

test('searches that the budget ended before an answer are told of, unless they are few', () => {
  const cut = { isUnfinished: true } as const;
  const cells = (unfinished: number) => [
    ...arm('best-of-n', times(30, '0'), { ...cut, stopReason: 'exhausted' }),
    ...arm('mcts', times(30 - unfinished, '1')),
    ...arm('mcts', times(unfinished, '0'), cut).map((cell, place) => {
      const name = `p${30 - unfinished + place}`;
      return { ...cell, instance: name, cluster: name };
    }),
  ];
  expect(reportOf(cells(2), header).warnings).toContain(
    'mcts came to no final answer in 2 of 30 searches at 1,000 tokens, because the budget ended first. Try larger budgets.',
  );
  expect(reportOf(cells(1), header).warnings.join()).not.toContain('no final answer');
});

test('a deadline that was noticed late is no broken budget', () => {
  const late = (ms: number) =>
    reportOf(arm('mcts', times(30, '1'), { budget: { unit: 'ms', limit: 150 }, ms }), header)
      .warnings;
  expect(late(199).join()).not.toContain('deadline');
  expect(late(279).join()).toContain('mcts ran for up to 279 ms with a deadline of 150 ms');
  expect(late(279).join()).not.toContain('bug');
});
