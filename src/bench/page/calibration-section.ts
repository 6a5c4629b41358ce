import { amount, budgetText, percent, shortened } from '../figures.ts';
import type { BenchPoint, BenchReport, Calibration } from '../report.ts';
import { figure, paragraph, section } from './html.ts';
import { type Painter, shareTick, sizes } from './painter.ts';
import { named, type Series, seriesOf } from './series.ts';

type Bin = Calibration['bins'][number];

/** How often ends of a value are right: each method at the budget where it has the most ends. */
export function calibrationSection(painter: Painter, report: BenchReport): string {
  const panels = seriesOf(report.points, report.baseline).flatMap((one) => {
    const most = report.points
      .filter(({ method }) => method === one.method)
      .map((point) => ({ point, ends: endsOf(point) }))
      .reduce((best, next) => (next.ends > best.ends ? next : best));
    const { calibration, budget } = most.point;
    if (calibration === null || most.ends === 0) return [];
    const caption = `${shortened(one.method, 60)} at ${budgetText(budget)}: error ${(100 * calibration.expectedError).toFixed(1)} points, Brier ${calibration.brier.toFixed(3)}`;
    return [figure(drawn(painter, one, calibration), named(painter, one, caption))];
  });
  if (panels.length === 0) return '';
  return section(
    'Do values predict what is right?',
    paragraph(
      'Each mark stands for the ends of trees with similar values: their mean value on the horizontal axis, the share of them that is right on the vertical one. Larger marks stand for more ends. Calibrated values lie on the dashed diagonal; below it, values are too high. The budget shown is the one at which the method has the most ends.',
    ),
    `<div class="plots small">${panels.join('\n')}</div>`,
  );
}

function endsOf({ calibration }: BenchPoint): number {
  return calibration === null ? 0 : calibration.bins.reduce((sum, { n }) => sum + n, 0);
}

function drawn({ plot, draw }: Painter, { method, colour }: Series, { bins }: Calibration): string {
  const filled = bins.filter(({ n }) => n > 0);
  const label = `The share of right ends against their value, by ${method}.`;
  return draw(label, {
    ...{ ...sizes.small, height: 290 },
    x: { domain: [0, 1], inset: 8, label: 'mean value →', labelAnchor: 'right', ticks: 5 },
    y: { domain: [0, 1], inset: 8, label: '↑ share right', tickFormat: shareTick, ticks: 5 },
    r: { domain: [0, Math.max(...filled.map(({ n }) => n))], range: [2, 11] },
    marks: [
      plot.line([0, 1], {
        x: (at: number) => at,
        y: (at: number) => at,
        stroke: 'currentColor',
        strokeOpacity: 0.5,
        strokeDasharray: '3 3',
      }),
      plot.line(filled, { x: 'value', y: 'right', stroke: colour }),
      plot.dot(filled, {
        ...{
          x: 'value',
          y: 'right',
          r: 'n',
          fill: colour,
          stroke: 'var(--page)',
          className: 'bin',
        },
        title: ({ value, right, n }: Bin) =>
          `value ${value.toFixed(2)}: ${percent(right)} of ${amount(n)} ends are right`,
      }),
    ],
  });
}
