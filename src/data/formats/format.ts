import type { JsonValue } from '../../contracts/json.ts';
import type { Message, ToolDefinition } from '../../contracts/language-model.ts';
import type { RowKind, TrainingRow } from '../rows.ts';
import type { Columns } from './columns.ts';
import type { Reading } from './reading.ts';

/** The row of a kind. */
export type RowOfKind<Kind extends RowKind> = Extract<TrainingRow, Readonly<Record<'kind', Kind>>>;

/** The form in which a trainer reads rows of one kind. */
export interface RowFormat {
  /** The format and the kind, such as `trl-preference`. */
  readonly name: string;
  /** The rows it takes. */
  readonly kind: RowKind;
  /** The columns, in order. Every row of a file has all of them, with one type each. */
  readonly columns: Columns;
  /** How to run its trainer on a file, as Markdown for the card; may be empty. */
  readonly usage: string;
  /** The row in this form, or one sentence that says why it cannot be written. */
  write(row: TrainingRow): Readonly<Record<string, JsonValue>> | string;
  /** The file types that its trainer reads, the default first. @defaultValue all, JSON Lines first */
  readonly files?: readonly ('jsonl' | 'jsonl.gz' | 'parquet')[];
  /** Additional files for the trainer, by name, given the data files. */
  extraFiles?(files: readonly string[]): Readonly<Record<string, string>>;
}

/** Options common to all formats. */
export interface FormatOptions {
  /**
   * Renders a conversation as the text that a completion is appended to, for text formats. A trailing `assistant` turn
   * is the beginning of that completion; after any other turn the text ends where an assistant turn begins. Templates
   * with tools get those offered to the model.
   *
   * @defaultValue {@link plainPrompt}
   */
  readonly render?: (messages: readonly Message[], tools?: readonly ToolDefinition[]) => string;
  /**
   * Whether to write the provenance columns.
   *
   * @defaultValue `true`; `false` for `openAiFiles`, whose readers refuse unknown columns
   */
  readonly provenance?: boolean;
  /**
   * The model's end token, appended to final completions in text formats.
   *
   * @defaultValue `''`: none
   */
  readonly endToken?: string;
}

export type RenderPrompt = NonNullable<FormatOptions['render']>;

/**
 * The row format of one trainer: a form for each kind of row that it supports. `Kinds` are those that it always has.
 */
export interface DatasetFormat<Kinds extends RowKind = never> {
  /** The name in commands, in kebab-case. */
  readonly name: string;
  /** Its purpose, in one line. @defaultValue none */
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
