import { expectArray, expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { visible } from '../base/visible.ts';
import {
  byBudget,
  courseColumns,
  guidedColumns,
  type PointColumn,
  repeatedColumns,
  resultColumns,
} from './columns.ts';
import type { BenchPoint, BenchReport } from './report.ts';
import {
  answers,
  areaMeaning,
  areaRows,
  codeSpans,
  type DocumentOptions,
  guidedMeaning,
  repeatedMeaning,
  repeatWith,
  repetition,
  reportSetting,
  reportTitle,
  spendText,
  verdictText,
} from './sections.ts';

/**
 * A report as a Markdown document: the verdict first, then what to know about it, then the figures.
 *
 * @param options - What it says beside the report: the `command` that was typed, and why the benchmark was `stopped`.
 */
export function reportMarkdown(report: BenchReport, options: DocumentOptions = {}): string {
  expectObject('report', report);
  expectOptions('reportMarkdown', options, 'command stopped');
  expectArray('report.points', report.points);
  const { verdict, warnings, points } = report;
  const [introduction, command] = repeatWith(report, options);
  const repeated = points.filter(({ passAtK }) => passAtK.length > 0);
  return [
    `# ${escaped(reportTitle(report))}`,
    ...(options.stopped === undefined ? [] : [`**${prose(options.stopped)}**`]),
    `**${answers[verdict.answer]}** ${prose(verdictText(report))}`,
    escaped(reportSetting(report)),
    ...(warnings.length === 0
      ? []
      : ['## Read this first', warnings.map((one) => `- ${prose(one)}`).join('\n')]),
    '## Results',
    pointTable(resultColumns(report, { isWide: true }), byBudget(points)),
    ...(repeated.length === 0
      ? []
      : [
          '## Several searches of each problem',
          repeatedMeaning,
          pointTable(repeatedColumns(repeated), byBudget(repeated)),
        ]),
    ...guidedSection(report),
    ...areaSection(report),
    '## How searches went',
    pointTable(courseColumns, byBudget(points)),
    '## What it cost',
    escaped(spendText(report)),
    '## How to repeat it',
    markdownTable([
      ['what', 'which'],
      ...repetition(report).map(([name, value]) => [name, escaped(value)]),
    ]),
    introduction,
    codeBlock(command),
  ]
    .join('\n\n')
    .concat('\n');
}

function guidedSection({ guided }: BenchReport): readonly string[] {
  if (guided.length === 0) return [];
  return [
    '## Guided by an oracle: pass@k, not accuracy',
    guidedMeaning,
    pointTable(guidedColumns(), byBudget(guided)),
  ];
}

function areaSection(report: BenchReport): readonly string[] {
  const rows = areaRows(report);
  if (rows.length === 0) return [];
  return [
    '## Over all budgets',
    areaMeaning,
    markdownTable([['method', 'unit', 'mean'], ...rows.map((row) => row.map(escaped))]),
  ];
}

/** A table about points, and beneath it what its columns mean. */
function pointTable(columns: readonly PointColumn[], points: readonly BenchPoint[]): string {
  const rows = points.map((point) => columns.map(({ cell }) => escaped(cell(point))));
  const meanings = columns.flatMap(({ heading, meaning }) =>
    meaning === undefined ? [] : [`- **${escaped(heading)}**: ${escaped(meaning)}.`],
  );
  return `${markdownTable([columns.map(({ heading }) => escaped(heading)), ...rows])}\n\n${meanings.join('\n')}`;
}

function markdownTable([heading = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heading), line(heading.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A sentence of ours, in which names of options stand as code. */
function prose(text: string): string {
  return codeSpans(oneLine(text))
    .map(({ isCode, part }) => (isCode ? `\`${part}\`` : literal(part)))
    .join('');
}

/** Text of others as Markdown that shows it: no markup, no HTML, no link, no formula, no list, no new line. */
function escaped(text: string): string {
  return literal(oneLine(text));
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function literal(line: string): string {
  return visible(line)
    .replaceAll(/[\\`*_[\]<>#|~&]|\$(?![\d\s])|(?<!\w)@|@(?=[\w-]+\.)/g, String.raw`\$&`)
    .replaceAll('://', String.raw`\://`)
    .replaceAll(/www(?=\.)/gi, '$&\\')
    .replace(/^[-+=]+(?= |$)/, String.raw`\$&`)
    .replace(/^\d+(?=[.)]( |$))/, '$&\\');
}

/** Verbatim text, in a fence longer than any within it. */
function codeBlock(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}sh\n${visible(text)}\n${fence}`;
}
