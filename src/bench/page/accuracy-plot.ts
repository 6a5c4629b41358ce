import type { DotOptions, Markish, PlotOptions } from '@observablehq/plot';
import { visible } from '../../base/visible.ts';
import { budgetText, percentWithin, shortened } from '../figures.ts';
import type { ScoredPoint } from '../points.ts';
import type { BenchBudget } from '../report.ts';
import { innerWidth, inset, type Painter, shareTick, sizes } from './painter.ts';
import { shareDomain, shortLimit, ticksThatFit, unitTitles } from './scales.ts';
import type { Series } from './series.ts';

/** Curves of accuracy against budgets of one unit. */
interface Curves {
  readonly unit: BenchBudget['unit'];
  /** All points of the unit: plots that stand beside each other have the same axes. */
  readonly points: readonly ScoredPoint[];
  /** The methods whose curves are drawn; later ones above earlier ones. */
  readonly series: readonly Series[];
  /** The methods whose intervals are drawn as bands. */
  readonly bands: readonly string[];
  readonly size: keyof typeof sizes;
  /** The measured quantity, such as accuracy. */
  readonly measure: string;
}

/** Accuracy against the logarithm of the budget. */
export function accuracyCurves({ plot, draw }: Painter, curves: Curves): string {
  const { unit, points, series, bands, measure } = curves;
  const marks = series.flatMap((one) => {
    const own = points.filter(({ method }) => method === one.method);
    const band = { x: limitOf, y1: 'low', y2: 'high', fill: one.colour, fillOpacity: 0.16 };
    return [
      ...(bands.includes(one.method) ? [plot.areaY(own, band)] : []),
      plot.line(own, {
        ...{ x: limitOf, y: 'accuracy', stroke: one.colour, strokeWidth: 2 },
        strokeDasharray: one.dashes,
      }),
      dots(plot, own, one),
    ];
  });
  const names = series.map(({ method }) => method).join(', ');
  return draw(`${measure} against ${unitTitles[unit]}: ${names}. The figures are in the table.`, {
    ...sizes[curves.size],
    ...axes(curves),
    marks: [plot.gridY({ strokeOpacity: 0.15 }), ...marks],
  });
}

/** Accuracy with its interval, a row for each method, where there is one budget. */
export function accuracyRows({ plot, draw }: Painter, { points, series, measure }: Curves): string {
  const methods = series.map(({ method }) => method);
  const marks = series.flatMap((one) => {
    const own = points.filter(({ method }) => method === one.method);
    const row = () => methods.indexOf(one.method);
    return [
      plot.ruleY(own, { y: row, x1: 'low', x2: 'high', stroke: one.colour, strokeWidth: 2 }),
      plot.dot(own, { ...mark(one), x: 'accuracy', y: row }),
    ];
  });
  return draw(`${measure} of each method with its interval. The figures are in the table.`, {
    ...{ marginLeft: 150, marginTop: 8 },
    height: 60 + 26 * methods.length,
    x: {
      domain: domainOf(points),
      label: `${measure} →`,
      labelAnchor: 'right',
      tickFormat: shareTick,
      ticks: 5,
    },
    y: {
      ...{ type: 'band', domain: methods.map((_, place) => place), axis: null },
    },
    marks: [
      plot.gridX({ strokeOpacity: 0.15 }),
      plot.text(methods, {
        ...{
          y: (_: string, place: number) => place,
          frameAnchor: 'left',
          textAnchor: 'end',
          dx: -8,
        },
        ...{ lineWidth: 11, textOverflow: 'ellipsis-middle' },
        text: (method: string) => shortened(method, 60),
      }),
      ...marks,
    ],
  });
}

/** The text shown when a mark is pointed at. */
export function titleOf(point: ScoredPoint): string {
  const { method, budget, accuracy, n } = point;
  return visible(
    `${method}, ${budgetText(budget)}: ${percentWithin(accuracy, point)} of ${n} searches`,
  );
}

/** How the marks of a method look. */
export function mark({ colour, symbol }: Series): DotOptions {
  return {
    symbol,
    fill: colour,
    stroke: 'var(--page)',
    strokeWidth: 1,
    r: 5.5,
    title: titleOf,
    className: 'point',
  };
}

function dots(plot: Painter['plot'], own: readonly ScoredPoint[], one: Series): Markish {
  return plot.dot(own, { ...mark(one), x: limitOf, y: 'accuracy' });
}

function axes({ unit, points, measure, size }: Curves): PlotOptions {
  const limits = points.map(({ budget }) => budget.limit);
  const label = (limit: number) => shortLimit({ unit, limit });
  const width = innerWidth(size);
  return {
    x: {
      ...{ type: 'log', inset, label: `${unitTitles[unit]} →`, labelAnchor: 'right' },
      ticks: [...ticksThatFit(limits, { width, label })],
      tickFormat: label,
    },
    y: {
      domain: domainOf(points),
      label: `↑ ${measure}`,
      tickFormat: shareTick,
      ticks: size === 'small' ? 4 : 6,
    },
  };
}

function domainOf(points: readonly ScoredPoint[]): [number, number] {
  return [...shareDomain(points.flatMap(({ low, high, accuracy }) => [low, high, accuracy]))];
}

function limitOf({ budget }: ScoredPoint): number {
  return budget.limit;
}
