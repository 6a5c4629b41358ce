import { Command } from 'commander';
import { counted } from '../base/counted.ts';
import { table } from '../base/table.ts';
import { auditDataset } from '../data/audit/audit-dataset.ts';
import { escapeControls } from '../data/audit/excerpt.ts';
import type { AuditFinding, AuditReport, AuditSet } from '../data/audit/report.ts';
import { expectDatasetFolder } from './dataset-conflicts.ts';
import { print } from './output.ts';
import { timeLeft, withStatus } from './progress.ts';
import { integerOption, numberOption } from './values.ts';

/** What `espalier check-dataset` was asked for. */
export interface CheckDatasetRequest {
  readonly json?: boolean;
  readonly minMargin?: number;
  readonly maxLength?: number;
  readonly tokenizer?: string;
  readonly separator?: string;
}

/** The command without its action. */
export function checkDatasetCommand(): Command {
  return new Command('check-dataset')
    .description('Find what would make training on a dataset fail or go wrong.')
    .argument('<path>', 'a folder or file: JSON lines or JSON, also .gz, or Parquet')
    .option('--json', 'print the findings as one JSON document')
    .option('--min-margin <n>', 'minimum margin of the chosen side', numberOption('min-margin'))
    .option(
      '--max-length <n>',
      'maximum row length of the trainer, in tokens (default: 1024)',
      integerOption('max-length'),
    )
    .option('--tokenizer <file>', 'a tokenizer.json or GGUF file for counting tokens')
    .option('--separator <text>', 'what the trainer puts after each step (default: a line break)')
    .addHelpText(
      'after',
      [
        '',
        'It reads the formats of TRL, LLaMA-Factory, Step-DPO, Step-APO, OpenAI, PRM800K,',
        'Math-Shepherd, verl, axolotl and distilabel. Without --tokenizer, lengths in',
        'tokens are estimated at four bytes per token.',
        'Exit codes: 0 clean or only warnings, 1 errors, 2 nothing to train on or nothing',
        'readable.',
        '',
        'Example: espalier check-dataset data/ --min-margin 0.1',
      ].join('\n'),
    );
}

/** Runs `espalier check-dataset`. Resolves to the exit code: 1 where there are errors, 2 where there are no rows. */
export async function runCheckDatasetCommand(
  path: string,
  { json, ...options }: CheckDatasetRequest,
): Promise<number> {
  expectDatasetFolder(path);
  const left = timeLeft(performance.now());
  const report = await withStatus((status) =>
    auditDataset(path, {
      ...options,
      onProgress: ({ rows, done, total }) =>
        status.show(
          () => `${many(rows, 'row')} read · ${done} of ${many(total, 'file')}${left(done, total)}`,
        ),
    }),
  );
  print(json === true ? JSON.stringify(report, undefined, 2) : describe(report));
  if (report.errors > 0) return 1;
  return rowsOf(report) === 0 ? 2 : 0;
}

/** A report for people. All text that comes from a dataset has its control characters escaped. */
function describe(report: AuditReport): string {
  const { path, sets, findings } = report;
  const of = (severity: AuditFinding['severity']) =>
    findings.filter((finding) => finding.severity === severity);
  return [
    `Read ${escapeControls(path)}`,
    '',
    table([['set', 'rows', 'files', 'form'], ...sets.map(setRow)]),
    ...section('Errors', of('error')),
    ...section('Warnings', of('warning')),
    ...factLines(sets),
    ...sets.flatMap(depthLines),
    '',
    closing(report),
  ].join('\n');
}

function setRow({ config, split, rows, files, formats }: AuditSet): readonly string[] {
  const forms = formats.length === 0 ? 'not known' : formats.join(', ');
  return [`${config}/${split}`, grouped(rows), grouped(files), forms];
}

function section(title: string, findings: readonly AuditFinding[]): readonly string[] {
  return findings.length === 0 ? [] : ['', title, ...findings.flatMap(findingLines)];
}

function findingLines({ code, config, count, message, examples }: AuditFinding): readonly string[] {
  return [
    `  ${code}, ${grouped(count)} in ${config}`,
    `    ${message}`,
    ...examples.map(({ place, excerpt }) => `    ${place}${excerpt === '' ? '' : `   ${excerpt}`}`),
  ];
}

function factLines(sets: readonly AuditSet[]): readonly string[] {
  const known = sets.filter(({ facts }) => facts.length > 0);
  return known.flatMap(({ config, split, facts }) => [
    '',
    `Facts of ${config}/${split}`,
    ...table(facts.map(factRow))
      .split('\n')
      .map((line) => `  ${line}`),
  ]);
}

/** Beyond this depth, pairs are shown in one line. */
const mostDepths = 12;

function depthLines({ config, split, depths }: AuditSet): readonly string[] {
  if (depths.length === 0) return [];
  const rows = depths.slice(0, mostDepths).map((depth) => depthRow(String(depth.depth), depth));
  const deeper = depths.slice(mostDepths).reduce((sum, { pairs }) => sum + pairs, 0);
  return [
    '',
    `Pairs of ${config}/${split} by depth (0 is the first step; a side is right if a right end was found at or below it)`,
    ...table([depthHeading, ...rows])
      .split('\n')
      .map((line) => `  ${line}`),
    ...(deeper === 0 ? [] : [`  ${grouped(deeper)} deeper`]),
  ];
}

const depthHeading: readonly string[] = [
  'depth',
  'pairs',
  'last steps',
  'right : wrong',
  'right : right',
  'wrong : wrong',
  'unknown',
  'mean margin',
];

function depthRow(name: string, depth: AuditSet['depths'][number]): readonly string[] {
  const { pairs, last, rightWrong, rightRight, wrongWrong, unknown, meanMargin } = depth;
  const counts = [pairs, last, rightWrong, rightRight, wrongWrong, unknown].map(grouped);
  return [name, ...counts, meanMargin === undefined ? '' : meanMargin.toFixed(3)];
}

function factRow({ name, value }: AuditSet['facts'][number]): readonly string[] {
  return [name, Number.isInteger(value) ? grouped(value) : value.toFixed(3)];
}

function rowsOf({ sets }: AuditReport): number {
  return sets.reduce((sum, set) => sum + set.rows, 0);
}

function closing(report: AuditReport): string {
  const { findings, errors, warnings } = report;
  const rows = rowsOf(report);
  if (rows === 0 && errors === 0) return 'There are no rows to train on.';
  if (findings.length === 0) return `No problems found in ${many(rows, 'row')}. You can train.`;
  const fix = `Fix the ${errors === 1 ? 'error' : 'errors'} before training.`;
  return `${many(errors, 'error')}, ${many(warnings, 'warning')} in ${many(rows, 'row')}. ${errors > 0 ? fix : 'You can train.'}`;
}

function many(count: number, noun: string): string {
  return counted(count, noun, grouped(count));
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
