import { seededRandom } from '../../src/base/random.ts';
import { wilsonInterval } from '../../src/base/stats/wilson-interval.ts';
import type { BenchCell } from '../../src/bench/cell.ts';
import type {
  BenchBudget,
  BenchDifference,
  BenchPoint,
  BenchReport,
} from '../../src/bench/report.ts';

/** What an example is about; what is left out is that of a usual one. */
interface Example {
  readonly title?: string;
  readonly name?: string;
  readonly problems?: number;
  readonly budgets?: readonly BenchBudget[];
  readonly methods?: readonly string[];
  readonly baselines?: readonly string[];
  readonly guided?: readonly string[];
  readonly seeds?: number;
  readonly isPriced?: boolean;
  readonly isScored?: boolean;
  readonly id?: (place: number) => string;
  readonly warnings?: readonly string[];
  readonly verdict?: BenchReport['verdict'];
}

const baselines = ['greedy', 'self-consistency', 'best-of-n'];
const budgets = [1_000, 2_000, 8_000, 32_000].map((limit) => ({ unit: 'tokens' as const, limit }));

/** A report of three baselines and four methods at four budgets, with figures that look as they do in life. */
export function exampleReport(example: Example = {}): BenchReport {
  const methods = [
    ...(example.baselines ?? baselines),
    ...(example.methods ?? ['mcts', 'lats', 'beam', 'a-star']),
  ];
  const limits = example.budgets ?? budgets;
  const problems = example.problems ?? 40;
  const points = methods.flatMap((method, place) =>
    limits.map((budget) => examplePoint({ ...example, problems, method, place, budget })),
  );
  return {
    version: 1,
    task: {
      name: example.name ?? 'game24',
      title: example.title ?? 'Game of 24',
      spec: null,
      source: null,
      licence: 'MIT',
      split: 'unseen',
      instances: problems,
      clusters: problems,
    },
    model: 'ollama:qwen3',
    judgeModel: null,
    temperature: null,
    seeds: example.seeds ?? 5,
    seed: 0,
    baseline: methods.includes('best-of-n') ? 'best-of-n' : (methods[0] ?? ''),
    points,
    guided: (example.guided ?? ['gold-mcts']).flatMap((method) =>
      limits.map((budget) => examplePoint({ ...example, problems, method, place: 8, budget })),
    ),
    differences: differencesIn(points),
    areas: limits.length < 2 ? [] : methods.map((method, at) => areaOf(method, at)),
    warnings: example.warnings ?? [
      'greedy leaves 86 % of 32,000 tokens unused: it asks once.',
      'The price of 1 model is not known.',
    ],
    verdict: example.verdict ?? {
      answer: 'yes',
      text: 'From 2,000 tokens on mcts gets 10.8 points more right than best-of-n [7.0, 14.6], for $0.18 of 1,000 problems in place of $0.20. Try larger budgets: the curve still rises.',
    },
    problems: problemsOf(example, { problems, points }),
    spend: {
      bought: { calls: 48_210, tokens: 1_204_118, usd: example.isPriced === false ? 0 : 0.34 },
      charged: { calls: 130_400, tokens: 3_340_907, usd: example.isPriced === false ? 0 : 0.95 },
    },
    versions: { espalier: '0.2.0', node: '20.20.2' },
  };
}

/** One method at one budget. */
function examplePoint(
  options: Example & {
    readonly problems: number;
    readonly method: string;
    readonly place: number;
    readonly budget: BenchBudget;
  },
): BenchPoint {
  const { method, place, budget, problems, seeds = 5, isPriced = true, isScored = true } = options;
  const random = seededRandom(`${place}/${budget.limit}`);
  const height = 0.25 + 0.05 * place + 0.07 * Math.log2(1 + budget.limit / 1_000) * (place % 4);
  const right = Math.round(problems * Math.min(0.97, height + 0.03 * random.next()));
  const n = isScored ? problems * seeds : 0;
  const tokens = budget.unit === 'tokens' ? budget.limit * (0.4 + 0.08 * place) : 900 + 100 * place;
  return {
    method,
    budget,
    isBaseline: baselines.includes(method),
    accuracy: isScored ? right / problems : null,
    ...wilsonInterval(isScored ? right : 0, isScored ? problems : 0),
    searches: problems * seeds,
    n,
    failed: place === 4 ? 2 : 0,
    outages: 0,
    broken: 0,
    unscored: isScored ? 0 : problems * seeds,
    passAtK:
      seeds > 1 && isScored
        ? [1, seeds].map((k) => ({
            k,
            any: Math.min(1, (right / problems) * (1 + 0.05 * (k - 1))),
            all: right / problems / (1 + 0.1 * (k - 1)),
          }))
        : [],
    anyEnd: place < 2 ? null : Math.min(1, right / problems + 0.1),
    tokens,
    inputTokens: tokens * 0.8,
    cachedTokens: tokens * 0.3,
    outputTokens: tokens * 0.2,
    usd: isPriced ? tokens * 2e-7 : null,
    calls: tokens / 40,
    reused: tokens / 80,
    cold: { n: 9, ms: tokens / 9 },
    ms: place === 2 ? null : tokens / 8,
    unused: Math.max(0, 0.6 - 0.08 * place),
    ends: isScored ? { solved: right * seeds, budget: (problems - right) * seeds } : {},
    calibration: place < 2 || !isScored ? null : calibrationOf(place),
    tree: { nodes: tokens / 30, depth: 3, width: 4 + place },
  };
}

function calibrationOf(place: number): NonNullable<BenchPoint['calibration']> {
  const bins = [0.08, 0.27, 0.44, 0.65, 0.93].map((value, at) => ({
    value,
    right: Math.min(1, Math.max(0, value ** (0.6 + 0.15 * place))),
    n: [120, 31, 18, 40, 210][at] ?? 0,
  }));
  return { expectedError: 0.02 * place, brier: 0.12 + 0.01 * place, bins };
}

function differencesIn(points: readonly BenchPoint[]): readonly BenchDifference[] {
  return points.flatMap(({ method, budget, accuracy }) => {
    const base = points.find(
      (one) => one.method === 'best-of-n' && one.budget.limit === budget.limit,
    );
    if (base === undefined || method === 'best-of-n') return [];
    const difference = (accuracy ?? 0) - (base.accuracy ?? 0);
    const p = Math.min(1, 0.2 / (1 + 400 * difference ** 2));
    return [
      {
        method,
        than: 'best-of-n',
        budget,
        difference,
        low: difference - 0.05,
        high: difference + 0.05,
        clusters: 200,
        p,
        adjustedP: Math.min(1, 3 * p),
      },
    ];
  });
}

function areaOf(method: string, place: number) {
  return { method, unit: 'tokens' as const, area: 0.4 + 0.05 * place };
}

function problemsOf(
  { id = (place) => `game-${place}`, seeds = 5, isScored = true }: Example,
  { problems, points }: { readonly problems: number; readonly points: readonly BenchPoint[] },
): BenchReport['problems'] {
  const random = seededRandom('problems');
  return Array.from({ length: problems }, (_, place) => {
    const hardness = random.next();
    return {
      id: id(place),
      shares: points.map(({ accuracy }) =>
        isScored && random.next() > 0.02
          ? Math.round(seeds * Math.min(1, Math.max(0, (accuracy ?? 0) + 0.7 - 1.4 * hardness))) /
            seeds
          : null,
      ),
    };
  });
}

/** A report of a model that costs nothing, with the words of a real verdict. */
function freeReport(): BenchReport {
  const report = exampleReport({
    verdict: { answer: 'undecided', text: 'Undecided. 40 problems are too few.' },
  });
  return { ...report, points: report.points.map((point) => ({ ...point, usd: 0 })) };
}

/** What a page or a document must bear, by name. */
export const exampleReports: Readonly<Record<string, BenchReport>> = {
  usual: exampleReport(),
  small: exampleReport({
    baselines: [],
    methods: ['mcts'],
    budgets: [{ unit: 'calls', limit: 60 }],
    guided: [],
    seeds: 1,
    problems: 12,
    warnings: ['12 problems are too few for an interval to be trusted: take 30 or more.'],
    verdict: { answer: 'undecided', text: 'Nothing was compared: there is one method.' },
  }),
  'one-budget': exampleReport({ budgets: [{ unit: 'ms', limit: 2_000 }], seeds: 1, guided: [] }),
  unpriced: exampleReport({
    isPriced: false,
    verdict: { answer: 'no', text: 'No method gets 3 points more right than best-of-n.' },
  }),
  free: freeReport(),
  unscored: exampleReport({
    isScored: false,
    verdict: { answer: 'undecided', text: 'No answer could be scored.' },
  }),
  empty: exampleReport({ baselines: [], methods: [], guided: [], problems: 0 }),
  large: exampleReport({ problems: 500, seeds: 2 }),
  'two-units': exampleReport({
    budgets: [...budgets, { unit: 'usd', limit: 0.001 }, { unit: 'usd', limit: 0.01 }],
  }),
  hostile: exampleReport({
    title: '<script>alert(1)</script> & "quotes" | `code` [a](javascript:b)',
    name: "$(touch /tmp/x) 'quoted'\n```",
    methods: ['<script>alert(1)</script>', '"><img src=x onerror=alert(2)>', 'm'.repeat(300)],
    guided: ['</title><style>*{display:none}</style>'],
    id: (place) => `${'long-'.repeat(60)}${place}<b onclick="alert(3)">\u202e`,
    warnings: [
      '<iframe src="https://example.com/"> and [a link](https://example.com/)',
      '1. | a cell | ![image](https://example.com/x.png)',
    ],
    verdict: {
      answer: 'yes',
      text: '<img src="https://example.com/x.png"> **wins** ]]> --> \u0007',
    },
  }),
};

/** The searches of a report, as far as its points say how they went. */
export function exampleCells(report: BenchReport): readonly BenchCell[] {
  const { points, guided, problems, seeds } = report;
  return [...points, ...guided].flatMap((point, arm) =>
    problems.flatMap(({ id, shares }, place) =>
      Array.from({ length: seeds }, (_, attempt) => ({
        ...{ instance: id, cluster: id, method: point.method, budget: point.budget, attempt },
        ...exampleEnd({ share: shares[arm] ?? null, place, attempt, seeds }),
        ...{
          isGuided: arm >= points.length,
          anyRight: false,
          ends: [],
          calls: 12,
          reused: 4,
          tokens: 480 + place,
        },
        ...{ inputTokens: 400 + place, cachedTokens: 100, outputTokens: 80 },
        usd: point.usd === null ? null : 0.001 * (1 + place),
        ms: point.ms === null ? null : 250 + place,
        tree: { nodes: 20, depth: 3, width: 2 },
      })),
    ),
  );
}

/** How a search of an example ended: the fourth of every seven problems fails. */
function exampleEnd({
  share,
  place,
  attempt,
  seeds,
}: {
  readonly share: number | null;
  readonly place: number;
  readonly attempt: number;
  readonly seeds: number;
}): Pick<BenchCell, 'answer' | 'reason' | 'right' | 'status' | 'stopReason'> {
  if (share === null) {
    return { status: 'unscored', reason: 'It was unscored.', right: false, stopReason: 'budget' };
  }
  if (place % 7 === 3) {
    return { status: 'failed', reason: 'It was failed.', right: false, stopReason: 'failed' };
  }
  const right = attempt < share * seeds;
  return { status: 'scored', answer: right ? '24' : '23', right, stopReason: 'budget' };
}
