import type { RowKind, TrainingRow } from '../rows.ts';
import type { RenderPrompt } from './render.ts';

/**
 * The type of a column. `json` is any JSON value as text: JSON lines hold the value itself, Parquet the text,
 * marked as JSON. Keys of a struct are in the order of the file. What is `optional` may be `null` or missing;
 * nothing else may.
 */
export type ColumnType =
  | 'boolean'
  | 'float'
  | 'int'
  | 'json'
  | 'string'
  | ListColumn
  | OptionalColumn
  | StructColumn;

/** Any number of values of one type. */
export interface ListColumn {
  /** The type of each. */
  readonly list: ColumnType;
}

/** A value that may be `null`. */
export interface OptionalColumn {
  /** The type of one that is not. */
  readonly optional: ColumnType;
}

/** Named values. */
export interface StructColumn {
  /** Their types, in the order of the file. */
  readonly struct: Columns;
}

/** The columns of a file, in order. */
export type Columns = Readonly<Record<string, ColumnType>>;

/** A value of a column. */
export type ColumnValue =
  | boolean
  | number
  | string
  | null
  | readonly ColumnValue[]
  | { readonly [name: string]: ColumnValue };

/** A row as it stands in a file: a value for each column that is not optional, and none for anything else. */
export type FileRow = Readonly<Record<string, ColumnValue>>;

/** The form in which a trainer reads rows of one kind. */
export interface RowFormat<Row extends TrainingRow = TrainingRow> {
  /** The family and the kind, such as `trl-preference`: the name of a configuration of the dataset. */
  readonly name: string;
  /** The rows it takes. */
  readonly kind: Row['kind'];
  /** The columns, in order. Every row of a file has them all, each of one type. */
  readonly columns: Columns;
  /** How its trainer is started on a file, as Markdown for the card; empty where nothing is to be said. */
  readonly usage: string;
  /** The row in this form. `undefined`: this form cannot say it, and `refusal` tells why. */
  toFile(row: Row): FileRow | undefined;
  /** Why a row has no place in this form, in one sentence. */
  refusal?(row: Row): string;
  /** Further files that the trainer wants beside the data, by name, made once the data files are known. */
  extraFiles?(files: readonly string[]): Readonly<Record<string, string>>;
}

/** What all forms take. */
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

/** Makes the form of one kind of rows. */
export type MakeRowFormat = (options?: FormatOptions) => RowFormat;

/**
 * The forms of one trainer, by the kind of rows. A trainer that has no use for a kind lacks it; `Kinds` are those that
 * it surely has.
 */
export interface FormatFamily<Kinds extends RowKind = never> {
  /** The name in commands, in kebab-case. */
  readonly name: string;
  /** What it is for, in one line. */
  readonly title: string;
  /** Its form for each kind of rows. */
  readonly formats: Readonly<Record<Kinds, MakeRowFormat>> &
    Readonly<Partial<Record<RowKind, MakeRowFormat>>>;
}
