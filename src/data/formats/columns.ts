import type { JsonValue } from '../../contracts/json.ts';

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

/** A row as it stands in a file: a value for each column that is not optional, and none for anything else. */
export type FileRow = Readonly<Record<string, JsonValue>>;
