import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { withOpened, writtenLines } from '../../base/file-lines.ts';
import type { FileRow } from '../formats/columns.ts';
import { problemOf } from '../formats/problem-of-row.ts';
import type { ReadRow } from '../formats/reading.ts';
import { hashOf } from '../hash-table.ts';
import { NearDuplicates } from '../near-duplicates.ts';
import type { TrainingRow } from '../rows.ts';
import { jsonLinesWriter } from './json-lines-writer.ts';
import type { RowWriter } from './output-file.ts';

/** A row that is ready to be written. */
export interface ReadyRow {
  readonly row: TrainingRow;
  readonly written: FileRow;
  readonly split: string;
  /** Which of the problems it comes from, in their order. */
  readonly place: number;
}

interface NearFilterOptions {
  /** The folder of the configuration. */
  readonly folder: () => string;
  /** The names of the splits, in the order in which an audit reads their files. */
  readonly splits: readonly string[];
  readonly read: (written: FileRow, row: TrainingRow) => ReadRow;
  readonly write: (ready: ReadyRow) => void;
  readonly leaveOut: () => void;
}

/**
 * Leaves out near-duplicates. Rows wait in files until all are known, because phrases are common, and so ignored, or not
 * depending on all rows. What is left is compared again, exactly as an audit compares it, until nothing is found: an
 * audit then finds nothing either. Two or three passes are usual.
 */
export function nearFilter({ folder, splits, read, write, leaveOut }: NearFilterOptions): {
  add(ready: ReadyRow): void;
  /** Writes the rows that are left. */
  finish(): void;
  /** Closes the files of waiting rows, to be deleted. */
  abandon(): void;
} {
  const waiting = new Map<string, RowWriter>();
  const pathOf = (split: string): string => join(folder(), `.waiting-${split}`);

  function* rows(): Generator<readonly [number, ReadyRow]> {
    let number = 0;
    for (const split of splits.filter((name) => waiting.has(name))) {
      const path = pathOf(split);
      for (const { bytes } of writtenLines(path, (use) => withOpened(path, 'r', use))) {
        const { ready } = JSON.parse(bytes.toString()) as { readonly ready: string };
        yield [number++, deserialize(Buffer.from(ready, 'base64')) as ReadyRow];
      }
    }
  }
  const dropped = (): ReadonlySet<number> => {
    const found = new Set<number>();
    for (let before = -1; before < found.size; ) {
      before = found.size;
      const near = new NearDuplicates();
      for (const [number, ready] of rows()) {
        if (found.has(number)) continue;
        const asRead = read(ready.written, ready.row);
        const problem = hashOf(problemOf(asRead));
        const settled = (isNear: boolean) => isNear && found.add(number);
        near.look(asRead, { problem, isExact: false, settled });
      }
      near.finish();
    }
    return found;
  };
  return {
    add(ready) {
      const { split } = ready;
      const file = waiting.get(split) ?? jsonLinesWriter(pathOf(split), { ready: 'string' });
      waiting.set(split, file);
      // JSON has no -0, and would make `null` of numbers that the writer refuses.
      file.write({ ready: serialize(ready).toString('base64') });
    },
    finish() {
      for (const file of waiting.values()) file.close();
      const leftOut = dropped();
      for (const [number, ready] of rows()) {
        if (leftOut.has(number)) leaveOut();
        else write(ready);
      }
      for (const split of waiting.keys()) rmSync(pathOf(split));
    },
    abandon() {
      for (const file of waiting.values()) file.abandon();
    },
  };
}
