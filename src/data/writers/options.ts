import type { Spend } from '../../contracts/spend.ts';
import type { DatasetFormat } from '../formats/format.ts';
import type { TreeRecord } from '../record.ts';
import type { RowRule } from '../rows.ts';

/** Options of `writeDataset`. */
export interface WriteDatasetOptions {
  /** The folder. Only one export may write to it at a time. */
  readonly out: string;
  /** The trees, grouped by problem. They are read once, one problem at a time. */
  readonly problems: AsyncIterable<readonly TreeRecord[]> | Iterable<readonly TreeRecord[]>;
  /** The configurations, made in a single pass: the rows of one rule in one form each. */
  readonly configs: readonly {
    /**
     * Its name, and that of its folder: letters, digits, `_`, `-` and `.`, not at the start.
     *
     * @defaultValue that of the rule, such as `agent-q`
     */
    readonly name?: string;
    /** Makes the rows. */
    readonly rule: RowRule;
    /** Their format, which must have a form for rows of their kind. */
    readonly format: DatasetFormat;
  }[];
  /**
   * The file type.
   *
   * @defaultValue `'jsonl'`; `'parquet'` for formats whose trainers read nothing else, such as `verl`
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
   * The ids of all problems. The shares of the splits are then exact to half a problem at each boundary: problems are
   * ranked by a draw from their ids, and the ranking is cut at the shares. When problems are added or removed, others
   * near a boundary move to another split.
   *
   * @defaultValue none: a problem always stays in its split, and the shares are approximate
   */
  readonly allProblems?: readonly string[];
  /**
   * What to do with near-duplicates of an earlier row of their configuration, as defined by `auditDataset`. Dropped
   * rows are counted in the report and on the card; the first one is kept, in the order of `splits`, and
   * `auditDataset` finds none in what is left. Until then all rows wait in a file in `out`.
   *
   * @defaultValue `'keep'`
   */
  readonly nearDuplicates?: 'drop' | 'keep';
  /** The maximum rows per file: an integer from 1 up. @defaultValue 500,000 */
  readonly rowsPerFile?: number;
  /** The seed for splitting problems. @defaultValue 0 */
  readonly seed?: number | string;
  /** Additional information for the card. */
  readonly card?: {
    /** The heading. @defaultValue `'Training data from tree search'` */
    readonly title?: string;
    /** The source of the trees, in one line. */
    readonly source?: string;
    /**
     * The files of the trees, with hashes for comparison.
     *
     * @defaultValue those named by the trees, as from `readRecords`
     */
    readonly files?: readonly NonNullable<TreeRecord['file']>[];
    /** The cost of the trees. */
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
