import type { Columns } from '../formats/columns.ts';
import type { IdlePairs, PairDepth } from '../pair-depths.ts';
import type { RowKind, RowProvenance, RowRule } from '../rows.ts';
import type { Histogram } from './histogram.ts';

/** The report of an export. */
export interface DatasetReport {
  /** The folder. */
  readonly out: string;
  /** The number of problems read. */
  readonly problems: number;
  /** The number of trees read. */
  readonly trees: number;
  /** The number of rows written, over all configurations. */
  readonly rows: number;
  /** The contents of each configuration, in the order given. */
  readonly configs: readonly (Pick<RowRule, 'options' | 'paper' | 'title'> & {
    /** Its name, and that of its folder. */
    readonly name: string;
    /** The rule that made its rows. */
    readonly rule: string;
    /** The form of its files. */
    readonly format: string;
    /** The kind of its rows. */
    readonly kind: RowKind;
    /** The columns of its files. */
    readonly columns: Columns;
    /** How to use the form, as Markdown; may be empty. */
    readonly usage: string;
    /** How many rows it has. */
    readonly rows: number;
    /** Its non-empty splits, in the order of the shares. */
    readonly splits: readonly {
      /** Its name. */
      readonly name: string;
      /** The number of problems with rows in it. */
      readonly problems: number;
      /** How many rows it has. */
      readonly rows: number;
      /** Its files, within the folder of the configuration. */
      readonly files: readonly string[];
    }[];
    /** Rows left out: repeated, contradicted, or not expressible in the form; by reason, most frequent first. */
    readonly refused: readonly {
      /** Why, in one sentence. */
      readonly reason: string;
      /** How many. */
      readonly rows: number;
    }[];
    /** The margins of pairs; `undefined` for other rows. */
    readonly margins: Histogram | undefined;
    /** The lengths of completions, in characters, by side: `chosen`, `rejected`, `completion` or `prompt`. */
    readonly lengths: Readonly<Record<string, Histogram>>;
    /** The number of distinct texts, by side as for `lengths`: exact up to 4,096, beyond that within about 3 %. */
    readonly distinct: Readonly<Record<string, number>>;
    /** Pairs by the depth at which their sides diverge; empty for other rows. */
    readonly depths: readonly PairDepth[];
    /** Pairs that change little in a model's behaviour; `undefined` unless they are the majority. */
    readonly idle: IdlePairs | undefined;
    /** The number of hard labels of each kind; `undefined` for rows without labels. */
    readonly labels: Readonly<Record<'negative' | 'positive', number>> | undefined;
    /** The sources of the rows. */
    readonly sources: {
      /** The methods that grew the trees, sorted. */
      readonly methods: readonly string[];
      /** The models used, sorted. */
      readonly models: readonly string[];
      /** The number of rows with each guidance. */
      readonly guidance: Readonly<Record<RowProvenance['guidance'], number>>;
      /** Stamps of the trees, sorted. */
      readonly stamps: readonly string[];
    };
  })[];
}

export type ConfigReport = DatasetReport['configs'][number];
