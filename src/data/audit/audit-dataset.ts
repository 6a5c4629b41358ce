import { dirname } from 'node:path';
import { expectFunction, expectInteger, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isPlainObject } from '../../base/json.ts';
import { mappedColumns } from '../formats/dataset-info.ts';
import { problemOf } from '../formats/problem-of-row.ts';
import {
  type Reading,
  type ReadRow,
  type RowColumns,
  readRow,
  textOf,
} from '../formats/reading.ts';
import { readingFor } from '../formats/recognise.ts';
import { hashOf } from '../hash-table.ts';
import { NearDuplicates } from '../near-duplicates.ts';
import { ColumnTypes } from './column-types.ts';
import { type DatasetFile, datasetFiles, unreadFiles } from './dataset-files.ts';
import { excerptOf } from './excerpt.ts';
import { Findings } from './findings.ts';
import { ImageFiles } from './image-checks.ts';
import { Leakage } from './leakage.ts';
import { lengthFaults, tokensOf } from './lengths.ts';
import { misspeltColumns } from './misspelt.ts';
import { type FileItem, itemsOf } from './read-file.ts';
import { repeatedKey } from './repeated-key.ts';
import type { AuditLimits, AuditReport, AuditSet, RowFault } from './report.ts';
import { rowChecks } from './row-checks.ts';
import { SetTally } from './set-tally.ts';
import { textFaults } from './text-faults.ts';
import { estimateTokens, readTokenizer } from './tokenizer.ts';

/**
 * Audits a dataset, ours or not, for anything that would make training on it fail or go wrong.
 *
 * Takes JSON lines and JSON arrays, `.gz` or not, and Parquet, in the forms of TRL, LLaMA-Factory (with its `dataset_info.json`),
 * Step-DPO, Step-APO, OpenAI, PRM800K, Math-Shepherd, verl, axolotl and distilabel. Configurations and splits come from
 * the card, else from folders and file names. Rows are streamed, and about 200 bytes of each are kept; Parquet is read
 * by row groups, a JSON array in one piece.
 *
 * @param path - A folder or a file.
 * @throws EspalierError `usage` if nothing can be read, or an option is out of range.
 */
export async function auditDataset(
  path: string,
  options: {
    /** The minimum margin of the chosen side, if rows have one. @defaultValue no limit */
    readonly minMargin?: number;
    /** The maximum length of a row in tokens: an integer from 1 up. @defaultValue 1024 */
    readonly maxLength?: number;
    /**
     * The tokenizer for lengths: a `tokenizer.json` of Hugging Face, or a GGUF file with a SentencePiece vocabulary.
     * Each turn counts four extra tokens for the template.
     *
     * @defaultValue none: four bytes of UTF-8 count as a token
     */
    readonly tokenizer?: string;
    /**
     * The trainer's separator after each step of a stepwise row. @defaultValue the column `delimiter`, else a line
     * break
     */
    readonly separator?: string;
    /** Called for every row read, with the number of finished files. */
    readonly onProgress?: (progress: Readonly<Record<'done' | 'rows' | 'total', number>>) => void;
  } = {},
): Promise<AuditReport> {
  expectOptions('auditDataset', options, 'minMargin maxLength tokenizer separator onProgress');
  const { minMargin, maxLength = 1024, tokenizer, separator = '', onProgress } = options;
  if (onProgress !== undefined) expectFunction('onProgress', onProgress);
  if (minMargin !== undefined) expectNumber('minMargin', minMargin, { min: 0 });
  expectInteger('maxLength', maxLength, { min: 1 });
  const files = datasetFiles(path);
  const countTokens = tokenizer === undefined ? estimateTokens : await readTokenizer(tokenizer);
  const audit = new Audit({ minMargin, maxLength, separator, countTokens }, files);
  audit.passOver(unreadFiles(path));
  let rows = 0;
  for (const [done, file] of files.entries()) {
    await audit.read(file, () => {
      rows += 1;
      onProgress?.({ rows, done, total: files.length });
    });
  }
  return { path, tokenizer, ...audit.report() };
}

class Audit {
  readonly #limits: AuditLimits;
  readonly #findings = new Findings();
  readonly #sets = new Map<string, { readonly file: DatasetFile; readonly tally: SetTally }>();
  readonly #types = new Map<string, ColumnTypes>();
  readonly #leakage: Leakage;
  readonly #images = new ImageFiles();
  /** By configuration: near-duplicates may be in different splits. */
  readonly #near = new Map<string, NearDuplicates>();

  constructor(limits: AuditLimits, files: readonly DatasetFile[]) {
    this.#limits = limits;
    this.#leakage = new Leakage(new Set(files.map(({ split }) => split)));
  }

  /** Names data of a kind that is not read. */
  passOver(files: ReturnType<typeof unreadFiles>): void {
    for (const { name, kind } of files) {
      this.#findings.add('default', 'unsupported-file', { place: name, excerpt: kind });
    }
  }

  async read(file: DatasetFile, onRow: () => void): Promise<void> {
    const tally = this.#tallyOf(file);
    tally.files += 1;
    let items = 0;
    let reading: Reading | undefined;
    try {
      for await (const item of itemsOf(file.path)) {
        items += 1;
        onRow();
        const columns = this.#columnsOf(file, item);
        if (columns === undefined) continue;
        if (reading === undefined) {
          const place = `${file.name}:${item.line}`;
          for (const fault of misspeltColumns(columns)) this.#add(file, place, fault);
          reading = readingFor(columns);
        }
        if (reading === undefined) {
          const excerpt = Object.keys(columns).join(', ');
          this.#findings.add(file.config, 'unknown-format', { place: file.name, excerpt });
          return;
        }
        tally.formats.add(reading.name);
        this.#row(file, item, readRow(reading, columns, file.mapping?.turns));
      }
    } catch (error) {
      const excerpt = error instanceof Error ? error.message : error;
      this.#findings.add(file.config, 'unreadable-file', { place: file.name, excerpt });
      return;
    }
    if (items === 0) {
      this.#findings.add(file.config, 'no-rows', { place: file.name, excerpt: '' });
    }
  }

  report(): Omit<AuditReport, 'path' | 'tokenizer'> {
    for (const near of this.#near.values()) near.finish();
    for (const { config, code, ...example } of this.#images.missing()) {
      this.#findings.add(config, code, example);
    }
    const sets = [...this.#sets.values()].map(({ file, tally }): AuditSet => {
      const { config, split } = file;
      const isTraining = split === 'train';
      for (const fault of tally.faults(isTraining)) this.#add(file, `${config}/${split}`, fault);
      return {
        config: excerptOf(config),
        split: excerptOf(split),
        formats: [...tally.formats].toSorted(),
        files: tally.files,
        rows: tally.rows,
        facts: tally.facts(),
        depths: tally.depths(),
      };
    });
    const findings = this.#findings.list((config) =>
      sets.filter((set) => set.config === config).reduce((sum, { rows }) => sum + rows, 0),
    );
    const errors = findings.filter(({ severity }) => severity === 'error').length;
    return { sets, findings, errors, warnings: findings.length - errors };
  }

  #columnsOf(file: DatasetFile, item: FileItem): RowColumns | undefined {
    const place = `${file.name}:${item.line}`;
    if (item.misencoded === true) {
      const excerpt = 'broken' in item ? item.broken : (item.source ?? '');
      this.#add(file, place, { code: 'invalid-utf8', excerpt: fromLost(excerpt) });
    }
    if ('broken' in item) {
      this.#add(file, place, { code: item.code ?? 'not-json', excerpt: item.broken });
      return undefined;
    }
    if (!isPlainObject(item.value)) {
      this.#add(file, place, { code: 'wrong-type', excerpt: item.value });
      return undefined;
    }
    const twice = item.source === undefined ? undefined : repeatedKey(item.source, item.value);
    if (twice !== undefined) this.#add(file, place, { code: 'repeated-key', excerpt: twice });
    return mappedColumns(item.value, file.mapping);
  }

  #row(file: DatasetFile, item: FileItem, row: ReadRow): void {
    const place = `${file.name}:${item.line}`;
    const types = this.#typesOf(file.config);
    const source = 'source' in item ? item.source : undefined;
    const isShort = row.faults.some(({ code }) => code.startsWith('missing-'));
    const tokens = tokensOf(row, this.#limits.countTokens);
    const repeated = this.#tallyOf(file).add(row, tokens);
    const faults: readonly RowFault[] = [
      ...row.faults,
      // Replacement characters for lost bytes have been reported with the invalid bytes.
      ...(item.misencoded === true ? [] : textFaults(row.columns, source)),
      ...rowChecks.flatMap((check) => check(row, this.#limits)),
      ...lengthFaults(tokens, this.#limits.maxLength),
      ...types.look(row.columns, source),
      // That a column is missing has been said.
      ...(isShort ? [] : types.keys(row.columns)),
      ...repeated,
    ];
    for (const fault of faults) this.#add(file, place, fault);
    const folder = file.path.slice(0, -file.name.length);
    this.#images.look(row.columns, file.config, { place, folders: [folder, dirname(file.path)] });
    this.#compare(file, place, {
      row,
      isExact: repeated.some(({ code }) => code !== 'label-conflict'),
    });
  }

  /** Looks for the row and its problem among those of before. */
  #compare(
    file: DatasetFile,
    place: string,
    { row, isExact }: { readonly isExact: boolean; readonly row: ReadRow },
  ): void {
    const name = problemOf(row);
    const problem = name === '' ? 0 : hashOf(name);
    const leaked = this.#leakage.look(row, problem, file.split);
    if (leaked !== undefined) this.#add(file, place, leaked);
    // Samples of a group may be equal, and so nearly equal.
    if (row.repeats === true) return;
    const near = this.#near.get(file.config) ?? new NearDuplicates();
    this.#near.set(file.config, near);
    const excerpt = () => excerptOf(textOf(row.chosen) || textOf(row.prompt));
    near.look(row, {
      problem,
      isExact,
      settled: (isNear) => {
        if (isNear) this.#add(file, place, { code: 'near-duplicate', excerpt: excerpt() });
      },
    });
  }

  #add(file: DatasetFile, place: string, { code, excerpt }: RowFault): void {
    this.#findings.add(file.config, code, { place, excerpt });
  }

  #tallyOf(file: DatasetFile): SetTally {
    const key = JSON.stringify([file.config, file.split]);
    const known = this.#sets.get(key);
    if (known !== undefined) return known.tally;
    const tally = new SetTally();
    this.#sets.set(key, { file, tally });
    return tally;
  }

  #typesOf(config: string): ColumnTypes {
    const types = this.#types.get(config) ?? new ColumnTypes();
    this.#types.set(config, types);
    return types;
  }
}

/** The part of a text in which the first byte was lost. */
function fromLost(text: string): string {
  return text.slice(Math.max(0, text.indexOf('\ufffd') - 20));
}
