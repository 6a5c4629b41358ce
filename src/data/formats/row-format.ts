import type { RowKind, TrainingRow } from '../rows.ts';
import type { Columns, FileRow, FormatOptions, RowFormat } from './format.ts';
import { provenanceColumns, writeProvenance } from './provenance-columns.ts';

/** The row of a kind. */
export type RowOfKind<Kind extends RowKind> = Extract<TrainingRow, OfKind<Kind>>;

/** Whatever is of a kind. */
export interface OfKind<Kind extends RowKind> {
  /** The kind. */
  readonly kind: Kind;
}

/** What a format is made of. */
export interface RowFormatParts<Kind extends RowKind> {
  /** The family and the kind. */
  readonly name: string;
  /** The rows it takes. */
  readonly kind: Kind;
  /** What the trainer reads, in order. */
  readonly columns: Columns;
  /** How its trainer is started, as Markdown. */
  readonly usage: string;
  /** What the trainer reads, of one row; a sentence where this form cannot say it. */
  readonly write: (row: RowOfKind<Kind>) => FileRow | string;
  /** Further files, by name. */
  readonly extraFiles?: NonNullable<RowFormat['extraFiles']>;
}

/** A format: what its trainer reads, and behind it the columns that tell where a row comes from. */
export function rowFormat<Kind extends RowKind>(
  { name, kind, columns, usage, write, extraFiles }: RowFormatParts<Kind>,
  { provenance = true }: FormatOptions = {},
): RowFormat<RowOfKind<Kind>> {
  // A column that the trainer reads stands once, where the trainer looks for it.
  const added = provenance ? provenanceColumns[kind] : {};
  const all: Columns = { ...columns, ...omit(added, columns) };
  const format: RowFormat<RowOfKind<Kind>> = {
    name,
    kind: kind as RowOfKind<Kind>['kind'],
    columns: all,
    usage,
    toFile(row) {
      const written = write(row);
      if (typeof written === 'string') return undefined;
      if (!provenance) return written;
      // Not by spreading: an object of that many keys would then be a slow one.
      const draft = writeProvenance(row);
      for (const column in written) draft[column] = written[column] ?? null;
      return draft;
    },
    refusal(row) {
      const written = write(row);
      return typeof written === 'string' ? written : '';
    },
  };
  return extraFiles === undefined ? format : { ...format, extraFiles };
}

function omit(columns: Columns, others: Columns): Columns {
  return Object.fromEntries(Object.entries(columns).filter(([name]) => !(name in others)));
}
