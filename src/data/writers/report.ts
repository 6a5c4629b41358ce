import type { Columns } from '../formats/columns.ts';
import type { IdlePairs, PairDepth } from '../pair-depths.ts';
import type { RowKind, RowProvenance, RowRule } from '../rows.ts';
import type { Histogram } from './histogram.ts';

/** What an export wrote. */
export interface DatasetReport {
  /** The folder. */
  readonly out: string;
  /** How many problems were read. */
  readonly problems: number;
  /** How many trees were read. */
  readonly trees: number;
  /** How many rows were written, over all configurations. */
  readonly rows: number;
  /** What each configuration holds, in the order given. */
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
    /** How the form is used, as Markdown; empty where nothing is to be said. */
    readonly usage: string;
    /** How many rows it has. */
    readonly rows: number;
    /** Its splits that have rows, in the order of the shares. */
    readonly splits: readonly {
      /** Its name. */
      readonly name: string;
      /** How many problems have rows in it. */
      readonly problems: number;
      /** How many rows it has. */
      readonly rows: number;
      /** Its files, within the folder of the configuration. */
      readonly files: readonly string[];
    }[];
    /** Rows that have no place in the form, by reason, most first. */
    readonly refused: readonly {
      /** Why, in one sentence. */
      readonly reason: string;
      /** How many. */
      readonly rows: number;
    }[];
    /** By how much the better side of a pair is better; `undefined` where rows are no pairs. */
    readonly margins: Histogram | undefined;
    /** How long completions are, in characters, by side: `chosen`, `rejected`, `completion` or `prompt`. */
    readonly lengths: Readonly<Record<string, Histogram>>;
    /** How many different texts there are, by side as for `lengths`: exactly up to 4,096, beyond that within some 3 %. */
    readonly distinct: Readonly<Record<string, number>>;
    /** Pairs by the depth at which their sides part; none where rows are no pairs. */
    readonly depths: readonly PairDepth[];
    /** Pairs that change little in what a model does; `undefined` where they are not most of the pairs. */
    readonly idle: IdlePairs | undefined;
    /** How many hard labels are of which kind; `undefined` where rows have none. */
    readonly labels: Readonly<Record<'negative' | 'positive', number>> | undefined;
    /** Where the rows come from. */
    readonly sources: {
      /** The methods that grew the trees, sorted. */
      readonly methods: readonly string[];
      /** The models that took part, sorted. */
      readonly models: readonly string[];
      /** How many rows have which guidance. */
      readonly guidance: Readonly<Record<RowProvenance['guidance'], number>>;
      /** Marks of the trees, sorted. */
      readonly stamps: readonly string[];
    };
  })[];
}

export type ConfigReport = DatasetReport['configs'][number];
