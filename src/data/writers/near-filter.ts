import { problemOf } from '../formats/problem-of-row.ts';
import type { ReadRow } from '../formats/reading.ts';
import { hashOf } from '../hash-table.ts';
import { NearDuplicates } from '../near-duplicates.ts';

/** Tells of rows whether they are nearly the same as one before them. */
interface NearFilter {
  /** Answers once, in the order of the rows: now, or at the latest when it finishes. */
  look(row: ReadRow, answer: (isNear: boolean) => void): void;
  finish(): void;
}

/** Finds no row where near-duplicates are kept. */
export function nearFilter(nearDuplicates: 'drop' | 'keep'): NearFilter {
  if (nearDuplicates === 'keep') return { look: (_row, answer) => answer(false), finish() {} };
  const near = new NearDuplicates();
  return {
    look: (row, answer) =>
      near.look(row, { problem: hashOf(problemOf(row)), isExact: false, settled: answer }),
    finish: () => near.finish(),
  };
}
