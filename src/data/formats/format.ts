import type { RowKind, TrainingRow } from '../rows.ts';
import type { Columns, FileRow } from './columns.ts';
import type { Reading } from './reading.ts';
import type { RenderPrompt } from './render.ts';

/** The row of a kind. */
export type RowOfKind<Kind extends RowKind> = Extract<TrainingRow, Readonly<Record<'kind', Kind>>>;

/** The form in which a trainer reads rows of one kind. */
export interface RowFormat {
  /** The format and the kind, such as `trl-preference`: the name of a configuration of the dataset. */
  readonly name: string;
  /** The rows it takes. */
  readonly kind: RowKind;
  /** The columns, in order. Every row of a file has them all, each of one type. */
  readonly columns: Columns;
  /** How its trainer is started on a file, as Markdown for the card; empty where nothing is to be said. */
  readonly usage: string;
  /** The row in this form; where this form cannot say it, why, in one sentence. */
  write(row: TrainingRow): FileRow | string;
  /** Further files that the trainer wants beside the data, by name, made once the data files are known. */
  extraFiles?(files: readonly string[]): Readonly<Record<string, string>>;
}

/** What all formats take. */
export interface FormatOptions {
  /** How a conversation becomes one text, where the form wants text. @defaultValue {@link plainPrompt} */
  readonly render?: RenderPrompt;
  /** Whether the columns that tell where a row comes from are written. @defaultValue `true` */
  readonly provenance?: boolean;
  /**
   * The end token of the model, put behind each completion after which nothing follows, where the form is text.
   *
   * @defaultValue `''`: none
   */
  readonly endToken?: string;
}

/**
 * How one trainer reads rows: a form for each kind that it has a use for. `Kinds` are those that it surely has.
 */
export interface DatasetFormat<Kinds extends RowKind = never> {
  /** The name in commands, in kebab-case. */
  readonly name: string;
  /** What it is for, in one line. @defaultValue nothing is said */
  readonly title?: string;
  /** The paper: authors, year, number. @defaultValue none */
  readonly paper?: string;
  /** Its form for each kind of rows. */
  readonly forms: Readonly<Record<Kinds, RowFormat>> &
    Readonly<Partial<Record<RowKind, RowFormat>>>;
  /**
   * How an audit knows its rows, and reads them.
   *
   * @internal
   */
  readonly readings?: readonly Reading[];
}
