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
  /** The columns, in order. Every row of a file has them all, each of one type. */
  readonly columns: Columns;
  /** How its trainer is started on a file, as Markdown for the card; empty where nothing is to be said. */
  readonly usage: string;
  /** The row in this form; where this form cannot say it, why, in one sentence. */
  write(row: TrainingRow): Readonly<Record<string, JsonValue>> | string;
  /** The types of files that its trainer reads, the usual one first. @defaultValue all, JSON lines first */
  readonly files?: readonly ('jsonl' | 'jsonl.gz' | 'parquet')[];
  /** Further files that the trainer wants beside the data, by name, made once the data files are known. */
  extraFiles?(files: readonly string[]): Readonly<Record<string, string>>;
}

/** What all formats take. */
export interface FormatOptions {
  /**
   * How a conversation becomes one text, where the form wants text: what a completion is appended to. A trailing
   * `assistant` turn is the beginning of that completion; behind any other turn the text ends where a turn of the
   * assistant begins. Templates that show tools are given those that the model was offered.
   *
   * @defaultValue {@link plainPrompt}
   */
  readonly render?: (messages: readonly Message[], tools?: readonly ToolDefinition[]) => string;
  /**
   * Whether the columns that tell where a row comes from are written.
   *
   * @defaultValue `true`; `false` for `openAiFiles`, whose readers refuse columns that they do not know
   */
  readonly provenance?: boolean;
  /**
   * The end token of the model, put behind each completion after which nothing follows, where the form is text.
   *
   * @defaultValue `''`: none
   */
  readonly endToken?: string;
}

export type RenderPrompt = NonNullable<FormatOptions['render']>;

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
