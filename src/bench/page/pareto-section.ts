import { budgetText, dollars, percent } from '../figures.ts';
import { type ScoredPoint, scored } from '../points.ts';
import type { BenchReport } from '../report.ts';
import { mark, titleOf } from './accuracy-plot.ts';
import { escaped, figure, paragraph, section } from './html.ts';
import { innerWidth, inset, type Painter, shareTick } from './painter.ts';
import { paretoFront } from './pareto.ts';
import { roundValues, shareDomain, shortDollars, shortTime, ticksThatFit } from './scales.ts';
import { legend, type Series, seriesOf } from './series.ts';

/** What accuracy can cost. */
interface Cost {
  readonly title: string;
  readonly of: (point: ScoredPoint) => number | null;
  /** In few letters, for an axis. */
  readonly short: (cost: number) => string;
  readonly text: (cost: number) => string;
  /** What to say if it is unknown. */
  readonly unknown: string;
  /** The text if it is empty. */
  readonly free: string;
}

const costs: readonly Cost[] = [
  {
    title: 'dollars per 1,000 searches',
    of: ({ usd }) => (usd === null ? null : 1_000 * usd),
    short: shortDollars,
    text: dollars,
    unknown: 'No price is known, so accuracy is not drawn against dollars.',
    free: 'No search cost any dollars.',
  },
  {
    title: 'time per search',
    of: ({ ms }) => ms,
    short: shortTime,
    text: shortTime,
    unknown: 'Recorded answers were reused without waiting, so accuracy is not drawn against time.',
    free: 'No search took any time that the clock could measure.',
  },
];

/** Accuracy against dollars and against time, with the choices that nothing cheaper beats. */
export function paretoSection(painter: Painter, report: BenchReport): string {
  const points = scored(report.points);
  if (points.length === 0) return '';
  const series = seriesOf(points, report.baseline);
  const plots = costs.map((cost) => costPlot(painter, cost, { points, series }));
  return section(
    'What accuracy costs',
    `<div class="plots">${plots.map(({ drawing }) => drawing).join('\n')}</div>`,
    ...plots.map(({ missing }) => missing),
    paragraph(
      'Each mark is one method at one budget. The line is the Pareto front: nothing that costs as little or less is more accurate. What lies below it is not worth its price on these problems.',
    ),
    legend(painter, series),
  );
}

function costPlot(
  painter: Painter,
  cost: Cost,
  {
    points,
    series,
  }: { readonly points: readonly ScoredPoint[]; readonly series: readonly Series[] },
): { readonly drawing: string; readonly missing: string } {
  const known = points.flatMap((point) => {
    const spent = cost.of(point);
    return spent === null || !Number.isFinite(spent) ? [] : [{ point, spent }];
  });
  if (known.length === 0) return { drawing: '', missing: paragraph(cost.unknown) };
  if (known.every(({ spent }) => spent === 0))
    return { drawing: '', missing: paragraph(cost.free) };
  const front = paretoFront(known, ({ point, spent }) => ({ cost: spent, gain: point.accuracy }));
  const left = points.length - known.length;
  const missing =
    left === 0
      ? ''
      : paragraph(
          `${left} of ${points.length} points are left out: their ${cost.title} is unknown.`,
        );
  const steps = front.map(
    ({ point, spent }) =>
      `<li>${escaped(`${cost.text(spent)}: ${percent(point.accuracy)} by ${point.method} at ${budgetText(point.budget)}`)}</li>`,
  );
  const caption = `On the front by ${escaped(cost.title)}:<ol>${steps.join('')}</ol>`;
  return { drawing: figure(drawn(painter, cost, { known, front, series }), caption), missing };
}

interface Known {
  readonly point: ScoredPoint;
  readonly spent: number;
}

function drawn(
  { plot, draw }: Painter,
  { title, short, text }: Cost,
  {
    known,
    front,
    series,
  }: {
    readonly known: readonly Known[];
    readonly front: readonly Known[];
    readonly series: readonly Series[];
  },
): string {
  const spent = known.map((one) => one.spent);
  const [low, high] = [Math.min(...spent), Math.max(...spent)];
  // A logarithm needs costs above 0, and an axis some width.
  const axis =
    low > 0 && low < high
      ? {
          type: 'log' as const,
          domain: [low, high],
          ticks: [...ticksOf(spent, short)],
        }
      : { domain: [0, 1.2 * high || 1], ticks: 4 };
  return draw(
    `accuracy against ${title}, and its Pareto front. The figures are in the list and the table.`,
    {
      x: { ...axis, inset, label: `${title} →`, labelAnchor: 'right', tickFormat: short },
      y: {
        domain: [...shareDomain(known.map(({ point }) => point.accuracy))],
        ...{ label: '↑ accuracy', tickFormat: shareTick, ticks: 6, inset: 6 },
      },
      marks: [
        plot.gridY({ strokeOpacity: 0.15 }),
        plot.line(front, {
          ...{ x: 'spent', y: ({ point }: Known) => point.accuracy, curve: 'step-after' },
          ...{ stroke: 'currentColor', strokeOpacity: 0.6, className: 'front' },
        }),
        ...series.map((one) =>
          plot.dot(
            known.filter(({ point }) => point.method === one.method),
            {
              ...mark(one),
              ...{ x: 'spent', y: ({ point }: Known) => point.accuracy },
              title: ({ point, spent: cost }: Known) => `${titleOf(point)}, ${text(cost)}`,
            },
          ),
        ),
      ],
    },
  );
}

/** Round costs; where these are few, the costs themselves. */
function ticksOf(spent: readonly number[], label: (cost: number) => string): readonly number[] {
  const round = roundValues(Math.min(...spent), Math.max(...spent));
  const values = round.length < 3 ? spent : round;
  return ticksThatFit(values, { width: innerWidth('large'), label });
}
