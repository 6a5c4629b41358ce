import type { JsonValue } from '../../contracts/json.ts';

/**
 * The type of a column. `json` is any JSON value: JSON Lines have the value itself, Parquet its text, marked as JSON.
 * Keys of a struct are in file order. Only `optional` values may be `null` or missing.
 */
export type ColumnType =
  | 'boolean'
  | 'float'
  | 'int'
  | 'json'
  | 'string'
  | {
      /** Any number of values of this type. */
      readonly list: ColumnType;
    }
  | {
      /** A value of this type, or `null`. */
      readonly optional: ColumnType;
    }
  | {
      /** Named values, in the order of the file. */
      readonly struct: Columns;
    };

/** The columns of a file, in order. */
export type Columns = Readonly<Record<string, ColumnType>>;

/** A row of a file: a value for each non-optional column, and no others. */
export type FileRow = Readonly<Record<string, JsonValue>>;
