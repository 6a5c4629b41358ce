import type { Spend } from '../../contracts/spend.ts';
import type { DatasetFormat } from '../formats/format.ts';
import type { TreeRecord } from '../record.ts';
import type { RowRule } from '../rows.ts';

/** What is written, and where. */
export interface WriteDatasetOptions {
  /** The folder. One export writes to it at a time. */
  readonly out: string;
  /** The trees, those of one problem together. They are read once, one problem after another. */
  readonly problems: AsyncIterable<readonly TreeRecord[]> | Iterable<readonly TreeRecord[]>;
  /** What is made of them, all of it in one pass: rows of one rule in one form each. */
  readonly configs: readonly {
    /**
     * Its name, and that of its folder: letters, digits, `_`, `-` and `.`, not at the start.
     *
     * @defaultValue that of the rule, such as `agent-q`
     */
    readonly name?: string;
    /** Makes the rows. */
    readonly rule: RowRule;
    /** How they are written: a format that has a form for rows of their kind. */
    readonly format: DatasetFormat;
  }[];
  /**
   * What the files are; JSON lines may be compressed by gzip.
   *
   * @defaultValue `'jsonl'`; `'parquet'` for forms whose trainers read nothing else, such as `verl`
   */
  readonly file?: 'jsonl' | 'jsonl.gz' | 'parquet';
  /**
   * The shares of the splits by name, such as `{ train: 0.9, test: 0.1 }`; they are divided by their sum. A problem's
   * split is drawn from its id alone.
   *
   * @defaultValue `{ train: 1 }`
   */
  readonly splits?: Readonly<Record<string, number>>;
  /**
   * The ids of all problems. The shares of the splits are then exact, to half a problem at each cut: the problems are
   * ranked by what is drawn of their ids, and the ranks are cut at the shares. When others come or go, problems near a
   * cut move to another split.
   *
   * @defaultValue they are not known: a problem stays in its split whatever comes or goes, and the shares are those of
   * many problems
   */
  readonly allProblems?: readonly string[];
  /**
   * What becomes of rows that are nearly the same as one before them in their configuration, as `auditDataset` knows
   * them. Those that are dropped are counted, in the report and on the card; the first one stays.
   *
   * @defaultValue `'keep'`
   */
  readonly nearDuplicates?: 'drop' | 'keep';
  /** How many rows a file has at most: an integer from 1 up. @defaultValue 500,000 */
  readonly rowsPerFile?: number;
  /** The seed by which problems are split. @defaultValue 0 */
  readonly seed?: number | string;
  /** What the card tells besides what is counted. */
  readonly card?: {
    /** The heading. @defaultValue `'Training data from tree search'` */
    readonly title?: string;
    /** Where the trees come from, in one line. */
    readonly source?: string;
    /**
     * The files of the trees, by which others can tell whether theirs are the same.
     *
     * @defaultValue those that the trees name, such as all that `readRecords` reads
     */
    readonly files?: readonly NonNullable<TreeRecord['file']>[];
    /** What the trees have cost. */
    readonly spend?: Spend;
    /** The name of the repository on the Hub, for the commands. */
    readonly repo?: string;
    /** The license, by its name on the Hub. @defaultValue `'other'` */
    readonly license?: string;
    /** Further tags. */
    readonly tags?: readonly string[];
  };
}

export type DatasetConfig = WriteDatasetOptions['configs'][number];
export type DatasetFile = NonNullable<WriteDatasetOptions['file']>;
export type CardOptions = NonNullable<WriteDatasetOptions['card']>;
export type SourceFile = NonNullable<CardOptions['files']>[number];
