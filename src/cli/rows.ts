import { Command } from 'commander';
import { counted } from '../base/counted.ts';
import { EspalierError } from '../base/errors.ts';
import { expectation } from '../base/expect.ts';
import { nearestName } from '../base/nearest-name.ts';
import { type DatasetRow, datasetRows } from '../data/audit/dataset-rows.ts';
import { marginOf } from '../data/audit/row-checks.ts';
import { type RowContent, textOf } from '../data/formats/reading.ts';
import { short } from '../data/writers/card-numbers.ts';
import { expectDatasetFolder } from './dataset-conflicts.ts';
import { oneLine, print, printError } from './output.ts';
import { ruleNames } from './rule-option.ts';
import { integerOption, numberOption, withWords } from './values.ts';

/** What `espalier rows` was asked for. */
export interface RowsRequest {
  readonly rule?: string;
  readonly depth?: number;
  readonly minMargin?: number;
  readonly maxMargin?: number;
  readonly problem?: string;
  readonly limit: number;
  readonly whole?: boolean;
  readonly json?: boolean;
}

/** The command without its action. */
export function rowsCommand(): Command {
  return new Command('rows')
    .description('Show rows of a dataset.')
    .argument('<path>', 'a folder or file: JSON lines or JSON, also .gz, or Parquet')
    .option(
      '--rule <name>',
      'only rows of this rule',
      withWords((text: string) => text, ruleNames),
    )
    .option('--depth <n>', 'only rows that begin at this depth', integerOption('depth', 0))
    .option('--min-margin <n>', 'only pairs with at least this margin', numberOption('min-margin'))
    .option('--max-margin <n>', 'only pairs with at most this margin', numberOption('max-margin'))
    .option('--problem <id>', 'only rows of this problem')
    .option('--limit <n>', 'maximum number of rows', integerOption('limit'), 5)
    .option('--whole', 'complete texts, however long')
    .option(
      '--json',
      'print each row as a line of JSON, with numbers as in the file; from Parquet, 1.0 is printed as 1',
    )
    .addHelpText(
      'after',
      [
        '',
        '--rule, --depth and --problem need the columns `rule`, `depth` and `problem_id`.',
        'Exit codes: 0 rows shown, 1 no match, 2 nothing readable.',
        '',
        'Example: espalier rows data/ --depth 0 --max-margin 0.2 --limit 3',
      ].join('\n'),
    );
}

/** Runs `espalier rows`. Resolves to the exit code: 1 where no row matches, 2 where there is none. */
export async function runRowsCommand(path: string, request: RowsRequest): Promise<number> {
  const { minMargin, maxMargin, limit, json = false } = request;
  if (minMargin !== undefined && maxMargin !== undefined && minMargin > maxMargin) {
    throw expectation('--max-margin', `at least \`--min-margin\` (${minMargin})`, maxMargin);
  }
  expectDatasetFolder(path);
  const met: Met = { rows: 0, columns: new Set(), rules: new Set() };
  let shown = 0;
  for await (const each of datasetRows(path)) {
    meet(met, each);
    if (!isWanted(each, request)) continue;
    print(json ? lineOf(each) : describe(each, request));
    shown += 1;
    if (shown === limit) break;
  }
  if (met.rows === 0) {
    throw new EspalierError('usage', `\`${path}\` has no rows that can be read.`);
  }
  const told = shown === 0 ? noneOf(met, request) : closing(shown, limit);
  // Beside JSON, that there is none is for the person and not for the pipe.
  if (!json) print(told);
  else if (shown === 0) printError(told);
  return shown > 0 ? 0 : 1;
}

/** Parsed and written again, `1.0` would be `1`. A text of JSON holds no line break as it is. */
function lineOf({ source, columns }: DatasetRow): string {
  return source?.trim().replace(/\s*[\r\n]\s*/g, ' ') ?? JSON.stringify(columns);
}

function closing(shown: number, limit: number): string {
  return shown === limit
    ? `Showing ${counted(shown, 'row')}; use --limit for more.`
    : `${counted(shown, 'row')}, and no more.`;
}

/** The rows that were seen, for explaining why none matched. */
interface Met {
  rows: number;
  readonly columns: Set<string>;
  readonly rules: Set<string>;
}

const askedColumns = { rule: 'rule', depth: 'depth', problem: 'problem_id' } as const;

function meet(met: Met, { columns, row }: DatasetRow): void {
  met.rows += 1;
  for (const name of Object.values(askedColumns)) {
    if (toldIn(columns, name) !== undefined) met.columns.add(name);
  }
  if (row?.kind === 'preference' && marginOf(row) !== undefined) met.columns.add('margin');
  const rule = toldIn(columns, 'rule');
  if (typeof rule === 'string') met.rules.add(rule);
}

function noneOf({ columns, rules }: Met, request: RowsRequest): string {
  const { rule, minMargin, maxMargin } = request;
  const asked = Object.entries(askedColumns).flatMap(([option, column]) =>
    request[option as keyof typeof askedColumns] === undefined ? [] : [column],
  );
  const margins = minMargin === undefined && maxMargin === undefined ? [] : ['margin'];
  const missing = [...asked, ...margins].find((column) => !columns.has(column));
  if (missing !== undefined) return `The rows have no column \`${missing}\`.`;
  if (rule === undefined || rules.has(rule)) return 'No row matches.';
  const known = [...rules].toSorted();
  const meant = nearestName(rule, known);
  const hint =
    meant === undefined ? `Its rules are: ${known.join(', ')}.` : `Did you mean \`${meant}\`?`;
  return `No row is of the rule \`${rule}\`. ${hint}`;
}

function isWanted({ columns, row }: DatasetRow, request: RowsRequest): boolean {
  const { rule, depth, problem, minMargin, maxMargin } = request;
  if (rule !== undefined && toldIn(columns, 'rule') !== rule) return false;
  if (depth !== undefined && toldIn(columns, 'depth') !== depth) return false;
  if (problem !== undefined && toldIn(columns, 'problem_id') !== problem) return false;
  if (minMargin === undefined && maxMargin === undefined) return true;
  const margin = row?.kind === 'preference' ? marginOf(row) : undefined;
  return margin !== undefined && margin >= (minMargin ?? margin) && margin <= (maxMargin ?? margin);
}

/** What a row says of where it comes from: in columns of its own, or within `extra_info`. */
function toldIn(columns: DatasetRow['columns'], name: string): unknown {
  const { extra_info: info } = columns;
  const nested = typeof info === 'object' && info !== null ? info : {};
  return columns[name] ?? (nested as Readonly<Record<string, unknown>>)[name];
}

function describe({ file, line, columns, row }: DatasetRow, { whole }: RowsRequest): string {
  const told = ['rule', 'depth', 'margin', 'problem_id'].flatMap((name) => {
    const value = toldIn(columns, name);
    return value === undefined || value === null
      ? []
      : [`${name} ${typeof value === 'number' ? short(value) : oneLine(String(value))}`];
  });
  const heading = [`${file.name}:${line}`, row?.kind ?? 'unknown form', ...told].join(' · ');
  const parts = row === undefined ? [['columns', JSON.stringify(columns)] as const] : partsOf(row);
  const lines = parts.flatMap(([name, text]) => [`  ${name}`, ...shown(text, whole === true)]);
  return [heading, ...lines, ''].join('\n');
}

/** How much of a text is shown, in characters. */
const mostShown = 600;

function shown(text: string, whole: boolean): readonly string[] {
  const isCut = !whole && text.length > mostShown;
  const part = isCut ? `${text.slice(0, mostShown)}…` : text;
  return part.split('\n').map((each) => `    ${each}`.trimEnd());
}

type Part = readonly [name: string, text: string];

function partsOf(row: NonNullable<DatasetRow['row']>): readonly Part[] {
  const { kind, prompt, chosen, rejected, steps = [], labels = [] } = row;
  const part = (name: string, content: RowContent | undefined): readonly Part[] =>
    content === undefined ? [] : [[name, said(content)]];
  return [
    ...part('prompt', prompt),
    ...part(kind === 'preference' ? 'chosen' : 'completion', chosen),
    ...part('rejected', rejected),
    ...steps.map(
      (step, place): Part => [`step ${place + 1}, ${String(labels[place])}`, String(step)],
    ),
    ...(steps.length === 0 && labels.length > 0 ? [['label', String(labels[0])] as const] : []),
  ];
}

function said(content: RowContent): string {
  if (typeof content === 'string') return content;
  return content.map((turn) => `${turn.role}: ${textOf([turn])}`).join('\n');
}
