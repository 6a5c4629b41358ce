import { gzipSync } from 'node:zlib';
import type { Columns, ColumnType, FileRow } from '../formats/columns.ts';
import {
  expectColumns,
  expectFields,
  expectLeaf,
  expectList,
  expectNames,
  isAbsent,
  type LeafType,
  namedOf,
  withoutOptional,
} from './leaf-values.ts';
import { outputFile, type RowWriter } from './output-file.ts';

const bufferSize = 256 * 1024;

/**
 * Writes rows as JSON, one a line, UTF-8. Keys are in the order of the columns, on every line the same; a float
 * always has a point or an exponent, so that no reader takes a column for one of integers; half a surrogate pair
 * becomes U+FFFD.
 *
 * @throws EspalierError `usage` where a column has no fields; `storage` if the file cannot be opened.
 */
export function jsonLinesWriter(path: string, columns: Columns): RowWriter {
  return linesWriter(path, columns, (bytes) => bytes);
}

/**
 * The same, compressed by gzip: each piece is a separate member, and readers join them.
 *
 * @throws EspalierError as {@link jsonLinesWriter}.
 */
export function gzipJsonLinesWriter(path: string, columns: Columns): RowWriter {
  return linesWriter(path, columns, gzipMember);
}

/** The tenth byte of a member names the system: 255 means none, so that equal rows are equal bytes everywhere. */
function gzipMember(bytes: Buffer): Buffer {
  const member = gzipSync(bytes);
  member[9] = 255;
  return member;
}

function linesWriter(
  path: string,
  columns: Columns,
  encoded: (bytes: Buffer) => Buffer,
): RowWriter {
  expectColumns(columns);
  const encode = rowEncoder(columns);
  const file = outputFile(path);
  let pending = '';
  const flush = (): void => {
    if (pending === '') return;
    file.append(encoded(Buffer.from(pending, 'utf8')));
    pending = '';
  };
  return {
    write(row) {
      pending += `${encode(row)}\n`;
      if (pending.length >= bufferSize) flush();
    },
    close() {
      flush();
      file.close();
    },
    abandon: () => file.close(),
  };
}

type Encode = (value: unknown) => string;

function rowEncoder(columns: Columns): (row: FileRow) => string {
  const names = namedOf(columns);
  const fields = fieldsOf(columns, '');
  return (row) => {
    expectNames(row, names);
    return encodeFields(fields, row);
  };
}

interface Field {
  readonly name: string;
  readonly key: string;
  readonly encode: Encode;
}

function fieldsOf(columns: Columns, path: string): readonly Field[] {
  return Object.entries(columns).map(([name, type]) => ({
    name,
    key: `${JSON.stringify(name)}:`,
    encode: encoderOf(type, path + name),
  }));
}

function encodeFields(fields: readonly Field[], values: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const { name, key, encode } of fields) {
    const value = values[name];
    // What may be missing stays so.
    if (value !== undefined) text += (text === '' ? '' : ',') + key + encode(value);
  }
  return `{${text}}`;
}

function encoderOf(type: ColumnType, path: string): Encode {
  const { inner, isOptional } = withoutOptional(type);
  const encode = requiredEncoder(inner, path);
  return isOptional ? (value) => (isAbsent(inner, value) ? 'null' : encode(value)) : encode;
}

function requiredEncoder(type: ReturnType<typeof withoutOptional>['inner'], path: string): Encode {
  if (typeof type === 'string') return leafEncoder(type, path);
  if ('list' in type) {
    const encode = encoderOf(type.list, `${path}[]`);
    return (value) => `[${expectList(path, value).map(encode).join(',')}]`;
  }
  const names = namedOf(type.struct);
  const fields = fieldsOf(type.struct, `${path}.`);
  return (value) => encodeFields(fields, expectFields(path, value, names));
}

function leafEncoder(type: LeafType, path: string): Encode {
  if (type === 'string') return textEncoder(path);
  const write = leafWriters[type];
  return (value) => {
    expectLeaf(path, type, value);
    return write(value);
  };
}

/** The data of a node or a tree occur in many consecutive rows. */
function textEncoder(path: string): Encode {
  let last: string | undefined;
  let written = '';
  return (value) => {
    if (last !== undefined && value === last) return written;
    expectLeaf(path, 'string', value);
    last = value as string;
    written = writeText(last);
    return written;
  };
}

const leafWriters = {
  boolean: String,
  float: writeFloat,
  // Minus zero is zero.
  int: String,
  // Within JSON a line break can only stand between tokens.
  json: (value: string) => value.replace(/[\r\n]+/g, ' '),
};

function writeFloat(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text;
}

function writeText(value: string): string {
  const text = JSON.stringify(value);
  // Half of a surrogate pair, which JSON escapes and no reader of UTF-8 accepts.
  return text.includes('\\ud') ? JSON.stringify(Buffer.from(value, 'utf8').toString('utf8')) : text;
}
