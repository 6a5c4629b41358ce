import { listed, shortened } from '../figures.ts';
import { type ScoredPoint, scored } from '../points.ts';
import type { BenchReport } from '../report.ts';
import { groupsOf } from '../statistics.ts';
import { accuracyCurves, accuracyRows } from './accuracy-plot.ts';
import { figure, paragraph, section } from './html.ts';
import type { Painter } from './painter.ts';
import { unitTitles } from './scales.ts';
import { legend, named, type Series, seriesOf } from './series.ts';

/** Accuracy against budget: all methods together, then each one beside the baseline with its band. */
export function accuracySection(painter: Painter, report: BenchReport): string {
  const points = scored(report.points);
  const series = seriesOf(points, report.baseline);
  return section(
    'Accuracy against budget',
    ...unitsOf(points).map((ofUnit) => unitPart(painter, report, { points: ofUnit, series })),
  );
}

/** The same for methods that were guided by an oracle, under its right name. */
export function guidedPlots(painter: Painter, { guided }: BenchReport): string {
  const points = scored(guided);
  const series = seriesOf(points);
  return unitsOf(points)
    .map((ofUnit) => {
      const unit = ofUnit[0]?.budget.unit ?? 'tokens';
      const bands = series.map(({ method }) => method);
      const curves = {
        unit,
        points: ofUnit,
        series,
        bands,
        measure: 'pass@k',
        size: 'large' as const,
      };
      const drawing = isOneBudget(ofUnit)
        ? accuracyRows(painter, curves)
        : accuracyCurves(painter, curves);
      return `<div class="overview">${figure(drawing, legend(painter, series))}</div>`;
    })
    .join('\n');
}

interface Part {
  readonly points: readonly ScoredPoint[];
  readonly series: readonly Series[];
}

function unitPart(
  painter: Painter,
  { baseline, verdict }: BenchReport,
  { points, series }: Part,
): string {
  const unit = points[0]?.budget.unit ?? 'tokens';
  const all = { unit, points, series, measure: 'accuracy', size: 'large' as const };
  if (isOneBudget(points)) {
    return [
      `<div class="overview">${figure(accuracyRows(painter, { ...all, bands: [] }), legend(painter, series))}</div>`,
      paragraph(
        `Each mark is one method at the only ${unitTitles[unit]} that was measured; its line is the 95 % interval. Point at a mark to see its figures.`,
      ),
    ].join('\n');
  }
  const best = verdict.best?.method;
  const shown = [...(best === undefined ? [] : [best]), baseline];
  const overview = figure(
    accuracyCurves(painter, { ...all, bands: shown }),
    legend(painter, series),
  );
  const reference = series.filter(({ method }) => method === baseline);
  const others = series.filter(({ method }) => method !== baseline);
  const panels = others.map((one) => {
    const pair = [...reference, one];
    const bands = pair.map(({ method }) => method);
    return figure(
      accuracyCurves(painter, { ...all, series: pair, bands, size: 'small' }),
      named(painter, one, shortened(one.method, 60)),
    );
  });
  return [
    `<div class="overview">${overview}</div>`,
    paragraph(
      `Each mark is one method at one ${unitTitles[unit]}; the axis is logarithmic. Bands (for ${listed(shown)} only) are 95 % intervals. Point at a mark to see its figures.`,
    ),
    ...equalCurves(points),
    ...(reference.length > 0 && panels.length > 0
      ? [
          paragraph(
            `Each method next to ${baseline} (grey circles, dashed line), both with their bands:`,
          ),
        ]
      : []),
    `<div class="plots small">${panels.join('\n')}</div>`,
  ].join('\n');
}

/** Says which curves lie on top of each other: only the last of them is seen. */
function equalCurves(points: readonly ScoredPoint[]): readonly string[] {
  const methods = [...new Set(points.map(({ method }) => method))];
  const curves = methods.map((name) => {
    const own = points.filter(({ method }) => method === name);
    return JSON.stringify(own.map(({ budget, accuracy }) => [budget.limit, accuracy]));
  });
  return groupsOf(methods, curves)
    .filter((equal) => equal.length > 1)
    .map((equal) =>
      paragraph(`The lines of ${listed(equal)} coincide: all their points are equal.`),
    );
}

function unitsOf(points: readonly ScoredPoint[]): readonly (readonly ScoredPoint[])[] {
  const units = [...new Set(points.map(({ budget }) => budget.unit))];
  return units.map((unit) => points.filter(({ budget }) => budget.unit === unit));
}

function isOneBudget(points: readonly ScoredPoint[]): boolean {
  return new Set(points.map(({ budget }) => budget.limit)).size === 1;
}
