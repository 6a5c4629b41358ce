import { table } from '../base/table.ts';
import { byBudget, resultColumns } from './columns.ts';
import { shortened } from './figures.ts';
import type { BenchReport } from './report.ts';

/** The results of a benchmark as a table for a terminal, with the figures of its Markdown. */
export function reportTable(report: BenchReport): string {
  const columns = resultColumns(report, { isWide: false });
  const rows = byBudget(report.points).map((point) =>
    columns.map(({ cell }) => shortened(cell(point), 24)),
  );
  return table([columns.map(({ heading }) => shortened(heading, 24)), ...rows]);
}
