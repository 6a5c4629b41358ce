import { visible } from '../../base/visible.ts';
import { none, percent, shortened } from '../figures.ts';
import type { BenchPoint, BenchReport } from '../report.ts';
import { figure, paragraph, section } from './html.ts';
import { htmlTable } from './html-table.ts';
import type { Painter } from './painter.ts';
import { shortLimit } from './scales.ts';
import { legend, type Series, seriesOf } from './series.ts';

type Problem = BenchReport['problems'][number];

/** The number of problems in a panel that is still legible on a phone. */
const perPanel = 100;

const row = 15;

/** Problems against methods at budgets: which ones who gets right, the easiest first. */
export function matrixSection(painter: Painter, report: BenchReport): string {
  const { problems, points } = report;
  if (problems.length === 0 || points.length === 0) return '';
  const sorted = problems.toSorted((a, b) => (meanShare(b) ?? -1) - (meanShare(a) ?? -1));
  const series = seriesOf(points, report.baseline);
  const panels: string[] = [];
  for (let first = 0; first < sorted.length; first += perPanel) {
    const shown = sorted.slice(first, first + perPanel);
    const drawing = drawMatrix(painter, { problems: shown, points, series });
    const last = first + shown.length;
    panels.push(figure(drawing, `Problems ${first + 1} to ${last} of ${sorted.length}`));
  }
  return section(
    'Problem by problem',
    paragraph(
      'Each column is a problem, with the easiest on the left; each row is a method at a budget. The stronger the colour of a cell, the larger the share of its searches that were right; cells that could not be scored are hatched. Point at a column to see its problem.',
    ),
    legend(painter, series),
    `<div class="plots">${panels.join('\n')}</div>`,
    problemTable(sorted, points),
  );
}

interface Matrix {
  readonly problems: readonly Problem[];
  readonly points: readonly BenchPoint[];
  readonly series: readonly Series[];
}

function drawMatrix({ plot, draw }: Painter, { problems, points, series }: Matrix): string {
  const runs = points.flatMap((_, arm) =>
    runsOf(
      problems.map(({ shares }) => shares[arm] ?? null),
      arm,
    ),
  );
  const box = { x1: 'from', x2: 'to', y1: 'arm', y2: ({ arm }: Run) => arm + 1, insetTop: 1 };
  const count = Math.max(problems.length, 20);
  return draw(
    `The share of right searches of ${problems.length} problems by ${points.length} methods at budgets. The figures are in the table of problems.`,
    {
      ...{ marginLeft: 164, marginTop: 6, marginBottom: 6, height: row * points.length + 12 },
      ...{
        x: { domain: [0, count], axis: null },
        y: { domain: [0, points.length], reverse: true, axis: null },
      },
      marks: [
        plot.rect(
          runs.filter(({ share }) => share !== null),
          {
            ...{
              ...box,
              fill: 'var(--right)',
              fillOpacity: ({ share }: Run) => 0.1 + 0.9 * (share ?? 0),
              className: 'cells',
            },
          },
        ),
        plot.rect(
          runs.filter(({ share }) => share === null),
          {
            ...{ ...box, fill: 'url(#unscored)', className: 'cells' },
          },
        ),
        plot.text(points, {
          ...{ x: 0, y: (_: BenchPoint, arm: number) => arm + 0.5, dx: -18, textAnchor: 'end' },
          ...{ lineWidth: 10, textOverflow: 'ellipsis-middle' },
          text: ({ method, budget }: BenchPoint) =>
            `${shortened(method, 60)} ${shortLimit(budget)}`,
          title: ({ method }: BenchPoint) => visible(method),
        }),
        ...series.map(({ method, symbol, colour }) =>
          plot.dot(
            points.flatMap((point, arm) => (point.method === method ? [arm] : [])),
            { x: 0, y: (arm: number) => arm + 0.5, dx: -9, symbol, fill: colour, r: 4 },
          ),
        ),
        plot.rect(problems, {
          ...{ x1: (_: Problem, at: number) => at, x2: (_: Problem, at: number) => at + 1 },
          ...{ y1: 0, y2: points.length, fill: 'transparent', className: 'problems' },
          title: (problem: Problem) =>
            `${visible(shortened(problem.id, 80))}: ${meanText(problem)}`,
        }),
      ],
    },
  );
}

/** Neighbours of equal shares in one row, drawn as one. */
interface Run {
  readonly arm: number;
  readonly from: number;
  readonly to: number;
  readonly share: number | null;
}

function runsOf(shares: readonly (number | null)[], arm: number): readonly Run[] {
  const runs: Run[] = [];
  for (const [at, share] of shares.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && last.share === share) runs[runs.length - 1] = { ...last, to: at + 1 };
    else runs.push({ arm, from: at, to: at + 1, share });
  }
  return runs;
}

function problemTable(problems: readonly Problem[], points: readonly BenchPoint[]): string {
  const table = htmlTable({
    caption: 'The share of searches of each problem that were right',
    headings: [
      'problem',
      ...points.map(({ method, budget }) => `${shortened(method, 24)} ${shortLimit(budget)}`),
    ],
    rows: problems.map(({ id, shares }) => [
      shortened(id, 80),
      ...points.map((_, arm) => shareText(shares[arm] ?? null)),
    ]),
  });
  return `<details><summary>All problems as a table</summary>${table}</details>`;
}

function shareText(share: number | null): string {
  return share === null ? none : `${Math.round(100 * share)} %`;
}

function meanText(problem: Problem): string {
  const mean = meanShare(problem);
  return mean === undefined ? 'not scored' : `${percent(mean)} right on average`;
}

function meanShare({ shares }: Problem): number | undefined {
  const known = shares.filter((share) => share !== null);
  return known.length === 0
    ? undefined
    : known.reduce((sum, share) => sum + share, 0) / known.length;
}
