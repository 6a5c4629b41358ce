import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import type { AuditCode, AuditReport } from '../../src/data/audit/report.ts';
import { jsonLinesWriter } from '../../src/data/writers/json-lines-writer.ts';
import { parquetWriter } from '../../src/data/writers/parquet-writer.ts';
import { type FlawedRow, type GoodSet, goodRows, goodSets, type SetName } from './good-sets.ts';
import { type Flaw, wrongByte } from './planted-flaws.ts';

/** So many rows of a set are spoilt. */
const planted = 10;

/** Writes a set with a flaw, or a good one, and audits it. */
export async function auditSet(folder: string, name: SetName, flaw?: Flaw): Promise<AuditReport> {
  mkdirSync(folder, { recursive: true });
  const { file } = goodSets[name];
  const { form, rows } = goodRows(name);
  if (file === 'parquet') {
    const writer = parquetWriter(join(folder, 'train.parquet'), form.columns);
    for (const row of spoilt(rows, flaw)) writer.write(row);
    writer.close();
    return auditDataset(folder, flaw?.options);
  }
  const path = join(folder, 'rows.tmp');
  const writer = jsonLinesWriter(path, form.columns);
  for (const row of rows) writer.write(row);
  writer.close();
  writeLines(folder, file, spoiltLines(path, flaw));
  return auditDataset(folder, flaw?.options);
}

function writeLines(folder: string, file: GoodSet['file'], lines: readonly Buffer[]): void {
  const all = (from: number, to?: number) => Buffer.concat(lines.slice(from, to));
  if (file === 'gz') writeFileSync(join(folder, 'train.jsonl.gz'), gzipSync(all(0)));
  else if (file === 'splits') {
    writeFileSync(join(folder, 'test.jsonl'), all(0, 5));
    writeFileSync(join(folder, 'train.jsonl'), all(5));
  } else writeFileSync(join(folder, 'train.jsonl'), all(0));
}

function spoiltLines(path: string, flaw: Flaw | undefined): readonly Buffer[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  rmSync(path);
  const first = JSON.parse(lines[0] ?? '') as FlawedRow;
  const isSpoilt = isSpoiltBy(flaw);
  return lines.flatMap((line, place) => {
    const changed = isSpoilt(place)
      ? [flaw?.spoil(JSON.parse(line) as FlawedRow, place, first) ?? line].flat()
      : [line];
    return changed.map((each) =>
      bytesOf(`${typeof each === 'string' ? each : JSON.stringify(each)}\n`),
    );
  });
}

function spoilt(rows: readonly FlawedRow[], flaw: Flaw | undefined): readonly FlawedRow[] {
  const isSpoilt = isSpoiltBy(flaw);
  return rows.flatMap((row, place) =>
    isSpoilt(place) ? ((flaw?.spoil(row, place, row) ?? row) as FlawedRow) : row,
  );
}

/** Ten rows from the seventh on, or all. */
function isSpoiltBy(flaw: Flaw | undefined): (place: number) => boolean {
  if (flaw === undefined) return () => false;
  return (place) => flaw.isOfSet === true || (place % 7 === 6 && place < 7 * planted);
}

function bytesOf(text: string): Buffer {
  const [before = '', ...after] = text.split(JSON.stringify(wrongByte).slice(1, -1));
  return Buffer.concat([
    Buffer.from(before),
    ...after.flatMap((part) => [Buffer.of(0xff), Buffer.from(part)]),
  ]);
}

/** What an audit made of a flaw. */
export interface FlawResult {
  readonly name: string;
  readonly code: AuditCode;
  /** How many of the planted rows were found, of how many. */
  readonly found: number;
  readonly of: number;
  /** What was said besides. */
  readonly falseAlarms: readonly AuditCode[];
}

/** Plants a flaw, and looks whether it is found. */
export async function plant(folder: string, name: string, flaw: Flaw): Promise<FlawResult> {
  const { findings } = await auditSet(folder, flaw.set, flaw);
  const of = flaw.isOfSet === true ? 1 : planted;
  const count = findings.find(({ code }) => code === flaw.code)?.count ?? 0;
  const expected: readonly AuditCode[] = [flaw.code, ...(flaw.besides ?? [])];
  return {
    name,
    code: flaw.code,
    found: Math.min(of, count),
    of,
    falseAlarms: findings.map(({ code }) => code).filter((code) => !expected.includes(code)),
  };
}
