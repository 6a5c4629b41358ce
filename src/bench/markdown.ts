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
  guidedMeaning,
  repeatCommand,
  repeatedMeaning,
  repetition,
  reportSetting,
  reportTitle,
  spendText,
  verdictText,
} from './sections.ts';

/** A report as a Markdown document: the verdict first, then what to know about it, then the figures. */
export function reportMarkdown(report: BenchReport): string {
  const { verdict, warnings, points } = report;
  const repeated = points.filter(({ passAtK }) => passAtK.length > 0);
  return [
    `# ${escaped(reportTitle(report))}`,
    `**${answers[verdict.answer]}** ${escaped(verdictText(report))}`,
    escaped(reportSetting(report)),
    ...(warnings.length === 0
      ? []
      : ['## Read this first', warnings.map((one) => `- ${escaped(one)}`).join('\n')]),
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
    'Where the command line knows the task and the methods by these names:',
    codeBlock(repeatCommand(report)),
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

/** Text of others as Markdown that shows it: no markup, no HTML, no link, no formula, no list, no new line. */
function escaped(text: string): string {
  return visible(text.replaceAll(/\s+/g, ' ').trim())
    .replaceAll(/[\\`*_[\]<>#|~&]|\$(?![\d\s])|(?<!\w)@|@(?=[\w-]+\.)/g, String.raw`\$&`)
    .replaceAll('://', String.raw`\://`)
    .replaceAll(/www(?=\.)/gi, '$&\\')
    .replace(/^[-+=]+(?= |$)/, String.raw`\$&`)
    .replace(/^\d+(?=[.)]( |$))/, '$&\\');
}

/** Text as it is, in a fence longer than any within it. */
function codeBlock(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}sh\n${visible(text)}\n${fence}`;
}
