import type { PointColumn } from '../columns.ts';
import type { BenchPoint } from '../report.ts';
import { escaped } from './html.ts';

/** A table whose first cells name their rows. */
interface Rows {
  /** What the table shows, in words. */
  readonly caption: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How many cells at the start of a row name it. @defaultValue 1 */
  readonly names?: number;
}

/** A table that can be read aloud, and be scrolled by keyboard where it is wider than the page. */
export function htmlTable({ caption, headings, rows, names = 1 }: Rows): string {
  const heading = headings.map((text) => `<th scope="col">${escaped(text)}</th>`).join('');
  const body = rows.map(
    (cells) => `<tr>${cells.map((cell, at) => htmlCell(cell, at < names)).join('')}</tr>`,
  );
  return [
    `<div class="scroll" role="region" tabindex="0" aria-label="${escaped(caption)}">`,
    `<table><caption>${escaped(caption)}</caption>`,
    `<thead><tr>${heading}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody></table></div>`,
  ].join('\n');
}

/** A table about points, and beneath it what its columns mean. */
export function pointTable(
  caption: string,
  columns: readonly PointColumn[],
  points: readonly BenchPoint[],
): string {
  const meanings = columns.flatMap(({ heading, meaning }) =>
    meaning === undefined
      ? []
      : [`<div><dt>${escaped(heading)}</dt><dd>${escaped(meaning)}.</dd></div>`],
  );
  const table = htmlTable({
    caption,
    headings: columns.map(({ heading }) => heading),
    rows: points.map((point) => columns.map(({ cell }) => cell(point))),
    names: 2,
  });
  return `${table}\n<dl class="meanings">${meanings.join('')}</dl>`;
}

function htmlCell(text: string, isName: boolean): string {
  return isName ? `<th scope="row">${escaped(text)}</th>` : `<td>${escaped(text)}</td>`;
}
