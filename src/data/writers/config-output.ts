import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withStorageErrors } from '../../base/with-storage-errors.ts';
import type { RowFormat } from '../formats/format.ts';
import type { ReadRow } from '../formats/reading.ts';
import { KnownRows, type Repetition } from '../known-rows.ts';
import { infoOf } from '../provenance.ts';
import type { TreeRecord } from '../record.ts';
import { rowsOf } from '../row-rule.ts';
import type { RowKind, RowRule, TrainingRow } from '../rows.ts';
import { gzipJsonLinesWriter, jsonLinesWriter } from './json-lines-writer.ts';
import { nearFilter, type ReadyRow } from './near-filter.ts';
import type { DatasetFile } from './options.ts';
import type { RowWriter } from './output-file.ts';
import { parquetWriter } from './parquet-writer.ts';
import type { ConfigReport } from './report.ts';
import { rowStatistics } from './row-statistics.ts';
import { stepsOf, writtenRows } from './written-row.ts';

/** A configuration with the form of its rows. */
export interface FormedConfig {
  readonly name: string;
  readonly rule: RowRule;
  readonly form: RowFormat;
}

/** A configuration that is being written. */
export interface ConfigOutput {
  add(trees: readonly TreeRecord[], split: string): void;
  /** Closes the files under their last names, and tells what they hold. */
  finish(): ConfigReport;
  /** Closes the files as they are, to be deleted. */
  abandon(): void;
}

interface ConfigOutputOptions {
  readonly config: FormedConfig;
  /** Where its files go: made when the first row comes. */
  readonly folder: () => string;
  readonly file: DatasetFile;
  /** The names of the splits, in order. */
  readonly splits: readonly string[];
  readonly rowsPerFile: number;
  readonly nearDuplicates: 'drop' | 'keep';
}

/** Beyond this many reasons they are counted together: a reason is a sentence, but nothing holds a form to it. */
const maxReasons = 20;

/** Writes a configuration. */
export function configOutput(options: ConfigOutputOptions): ConfigOutput {
  const { config, folder, splits, nearDuplicates } = options;
  const { name, rule, form } = config;
  const outputs = new Map<string, SplitOutput>();
  const refused = new Map<string, number>();
  const statistics = rowStatistics();
  const known = new KnownRows();
  const read = writtenRows(form);
  const refuse = (own: string): void => {
    const reason = refused.has(own) || refused.size < maxReasons ? own : 'For other reasons.';
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
  };
  let problems = 0;
  /** The last problem with rows: problems come one after another within a split. */
  let last: number | undefined;
  const write = ({ row, written, split, place }: ReadyRow): void => {
    const output = outputs.get(split) ?? splitOutput(split, options);
    outputs.set(split, output);
    if (place !== last) output.problems += 1;
    last = place;
    output.write(written);
    statistics.add(row);
  };
  const near =
    nearDuplicates === 'drop' && form.kind !== 'rollout'
      ? nearFilter({ folder, splits, read, write, leaveOut: () => refuse(nearlyMade) })
      : undefined;
  return {
    add(trees, split) {
      problems += 1;
      for (const row of rowsOf(rule, trees, refuse)) {
        const written = form.write(row);
        if (typeof written === 'string') {
          refuse(written);
          continue;
        }
        const asRead = read(written, row);
        const repetition = repetitionOf(known, row, asRead);
        if (repetition !== undefined) {
          refuse(reasonFor(repetition, form.kind));
          continue;
        }
        (near?.add ?? write)({ row, written, split, place: problems });
      }
    },
    finish() {
      near?.finish();
      const reports = splits.flatMap((split) => outputs.get(split)?.finish() ?? []);
      const files = reports.flatMap((report) => report.files);
      writeExtraFiles(options, files);
      return {
        name,
        rule: rule.name,
        ...infoOf(rule),
        format: form.name,
        kind: form.kind,
        columns: form.columns,
        usage: form.usage,
        rows: reports.reduce((sum, { rows }) => sum + rows, 0),
        splits: reports,
        refused: [...refused]
          .map(([reason, rows]) => ({ reason, rows }))
          .toSorted((a, b) => b.rows - a.rows),
        ...statistics.report(),
      };
    },
    abandon() {
      near?.abandon();
      for (const output of outputs.values()) output.abandon();
    },
  };
}

function writeExtraFiles(
  { config: { form }, folder }: ConfigOutputOptions,
  files: readonly string[],
): void {
  const extra = files.length === 0 ? {} : (form.extraFiles?.(files) ?? {});
  for (const [file, text] of Object.entries(extra)) {
    withStorageErrors(`The file \`${file}\``, () => writeFileSync(join(folder(), file), text));
  }
}

function repetitionOf(known: KnownRows, row: TrainingRow, asRead: ReadRow): Repetition | undefined {
  // A group must stay whole.
  if (row.kind === 'rollout') return undefined;
  return known.add(row.kind === 'stepwise' ? { ...asRead, ...stepsOf(row) } : asRead);
}

/** Why a row is left out that repeats or contradicts one before it. No rule makes a row of a problem twice. */
function reasonFor(repetition: Repetition, kind: RowKind): string {
  if (repetition === 'duplicate') return 'The same row was made of another problem.';
  if (repetition === 'label-conflict') return 'A row before it labels the same steps otherwise.';
  return kind === 'prompt'
    ? 'A row before it has the same prompt and another answer.'
    : 'A row before it says the opposite.';
}

const nearlyMade = 'It is nearly the same as a row before it.';

interface SplitOutput extends Pick<RowWriter, 'abandon' | 'write'> {
  /** How many problems have rows here. */
  problems: number;
  finish(): ConfigReport['splits'][number];
}

const writers = {
  jsonl: jsonLinesWriter,
  'jsonl.gz': gzipJsonLinesWriter,
  parquet: parquetWriter,
};

function splitOutput(
  name: string,
  { config, folder, file, rowsPerFile }: ConfigOutputOptions,
): SplitOutput {
  const { columns } = config.form;
  let writer: RowWriter | undefined;
  let rows = 0;
  let shards = 0;
  const shard = (place: number): string => `${name}-${String(place).padStart(5, '0')}`;
  const open = (): RowWriter => {
    writer?.close();
    shards = rows / rowsPerFile + 1;
    return writers[file](join(folder(), shard(shards - 1)), columns);
  };
  return {
    problems: 0,
    write(row) {
      if (writer === undefined || rows % rowsPerFile === 0) writer = open();
      writer.write(row);
      rows += 1;
    },
    finish() {
      writer?.close();
      const of = `-of-${String(shards).padStart(5, '0')}.${file}`;
      const files = Array.from({ length: shards }, (_, place) => {
        const [from, to] = [shard(place), `${shard(place)}${of}`];
        withStorageErrors(`The file \`${to}\``, () =>
          renameSync(join(folder(), from), join(folder(), to)),
        );
        return to;
      });
      return { name, problems: this.problems, rows, files };
    },
    abandon() {
      writer?.abandon();
    },
  };
}
