import { expectArray, expectObject } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import {
  byBudget,
  courseColumns,
  guidedColumns,
  repeatedColumns,
  resultColumns,
} from '../columns.ts';
import type { BenchReport } from '../report.ts';
import {
  answers,
  areaMeaning,
  areaRows,
  type DocumentOptions,
  guidedMeaning,
  repeatedMeaning,
  repeatWith,
  repetition,
  reportSetting,
  reportTitle,
  spendText,
  verdictText,
} from '../sections.ts';
import { accuracySection, guidedPlots } from './accuracy-section.ts';
import { calibrationSection } from './calibration-section.ts';
import { escaped, paragraph, prose, section } from './html.ts';
import { htmlTable, pointTable } from './html-table.ts';
import { matrixSection } from './matrix-section.ts';
import { type Painter, painter } from './painter.ts';
import { paretoSection } from './pareto-section.ts';
import { style } from './style.ts';

/**
 * A report as one HTML page that needs nothing else: no script, no request to any host. What plots it is loaded when the
 * first page is made.
 *
 * @param options - What it says beside the report: the `command` that was typed, and why the benchmark was `stopped`.
 */
export async function reportPage(
  report: BenchReport,
  options: DocumentOptions = {},
): Promise<string> {
  expectObject('report', report);
  expectOptions('reportPage', options, 'command stopped');
  expectArray('report.points', report.points);
  const title = escaped(reportTitle(report));
  const brush = await painter();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
${unscoredPattern}
<main>
<h1>${title}</h1>
${body(brush, report, options).join('\n')}
</main>
</body>
</html>
`;
}

/** The drawing for a problem that could not be scored. */
const unscoredPattern = `<svg class="defs" aria-hidden="true"><defs><pattern id="unscored" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="1.2" height="4" fill="var(--quiet)"></rect></pattern></defs></svg>`;

function body(brush: Painter, report: BenchReport, options: DocumentOptions): readonly string[] {
  const { verdict, warnings, points } = report;
  const repeated = points.filter(({ passAtK }) => passAtK.length > 0);
  return [
    options.stopped === undefined ? '' : `<p><strong>${prose(options.stopped)}</strong></p>`,
    `<div class="verdict ${escaped(verdict.answer)}"><p><strong>${answers[verdict.answer]}</strong> ${prose(verdictText(report))}</p></div>`,
    `<p class="setting">${escaped(reportSetting(report))}</p>`,
    section('Read this first', list(warnings)),
    accuracySection(brush, report),
    paretoSection(brush, report),
    section(
      'Results',
      pointTable(
        'All methods at all budgets',
        resultColumns(report, { isWide: true }),
        byBudget(points),
      ),
    ),
    repeated.length === 0
      ? ''
      : section(
          'Several searches of each problem',
          paragraph(repeatedMeaning),
          pointTable(
            'What several searches of a problem get right',
            repeatedColumns(repeated),
            byBudget(repeated),
          ),
        ),
    guidedSection(brush, report),
    matrixSection(brush, report),
    calibrationSection(brush, report),
    areaSection(report),
    section('How searches went', pointTable('How searches went', courseColumns, byBudget(points))),
    section('What it cost', paragraph(spendText(report))),
    repetitionSection(report, options),
  ];
}

function guidedSection(brush: Painter, report: BenchReport): string {
  const { guided } = report;
  if (guided.length === 0) return '';
  return section(
    'Guided by an oracle: pass@k, not accuracy',
    paragraph(guidedMeaning),
    guidedPlots(brush, report),
    pointTable('Methods that an oracle guided', guidedColumns(), byBudget(guided)),
  );
}

function areaSection(report: BenchReport): string {
  const rows = areaRows(report);
  if (rows.length === 0) return '';
  const headings = ['method', 'unit', 'mean'];
  return section(
    'Over all budgets',
    paragraph(areaMeaning),
    htmlTable({ caption: 'Mean accuracy over all budgets', headings, rows }),
  );
}

function repetitionSection(report: BenchReport, options: DocumentOptions): string {
  const [introduction, command] = repeatWith(report, options);
  const facts = repetition(report).map(
    ([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`,
  );
  return section(
    'How to repeat it',
    `<dl class="facts">${facts.join('')}</dl>`,
    paragraph(introduction),
    `<pre><code>${escaped(command)}</code></pre>`,
  );
}

function list(texts: readonly string[]): string {
  if (texts.length === 0) return '';
  return `<ul>${texts.map((text) => `<li>${prose(text)}</li>`).join('')}</ul>`;
}
