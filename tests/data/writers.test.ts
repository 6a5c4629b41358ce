import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/contracts/json.ts';
import type { Columns, ColumnType, FileRow } from '../../src/data/formats/columns.ts';
import { jsonLinesWriter } from '../../src/data/writers/json-lines-writer.ts';
import { parquetWriter } from '../../src/data/writers/parquet-writer.ts';
import { property } from '../support/property.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-writers-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

function write(open: typeof jsonLinesWriter, columns: Columns, rows: readonly FileRow[]): string {
  const path = join(folder, `${files++}`);
  const writer = open(path, columns);
  for (const row of rows) writer.write(row);
  writer.close();
  return path;
}

const columns: Columns = {
  text: 'string',
  score: 'float',
  visits: 'int',
  right: 'boolean',
  call: 'json',
  maybe: { optional: 'float' },
  steps: { list: 'string' },
  turns: { list: { struct: { role: 'string', name: { optional: 'string' } } } },
};

const rows: readonly FileRow[] = [
  {
    text: 'a "quoted"\nline, 4 °C 😀',
    score: 1,
    visits: 3,
    right: true,
    call: '{"city":\n"Oslo"}',
    maybe: Number.NaN,
    steps: [],
    turns: [{ role: 'user', name: null }],
  },
  {
    // Other order, half a surrogate pair, and what may be missing.
    turns: [],
    steps: ['x', ''],
    call: '[1]',
    right: false,
    visits: -9007199254740991,
    score: -0.5,
    text: 'half \ud83d',
  },
];

describe('JSON lines', () => {
  test('are these bytes', () => {
    const text = readFileSync(write(jsonLinesWriter, columns, rows), 'utf8');
    expect(text).toBe(
      [
        '{"text":"a \\"quoted\\"\\nline, 4 °C 😀","score":1.0,"visits":3,"right":true,"call":{"city": "Oslo"},"maybe":null,"steps":[],"turns":[{"role":"user","name":null}]}\n',
        '{"text":"half �","score":-0.5,"visits":-9007199254740991,"right":false,"call":[1],"steps":["x",""],"turns":[]}\n',
      ].join(''),
    );
  });

  test.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [2 ** 53, '9007199254740992.0'],
    [1e21, '1e+21'],
    [5e-324, '5e-324'],
    [0.1, '0.1'],
  ])('hold the float %d as %s', (value, text) => {
    const path = write(jsonLinesWriter, { value: 'float' }, [{ value }]);
    expect(readFileSync(path, 'utf8')).toBe(`{"value":${text}}\n`);
  });
});

async function readBack(path: string): Promise<readonly unknown[]> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path) });
  return rows.map(plain);
}

/** What hyparquet reads, with numbers for big integers and `null` for what is absent. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return value + 0;
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

describe('Parquet', () => {
  test('holds the same rows', async () => {
    const [first, second] = rows;
    expect(await readBack(write(parquetWriter, columns, rows))).toEqual([
      { ...first, maybe: null },
      { ...second, text: 'half �', maybe: null },
    ]);
  });

  test('has the types of the columns', async () => {
    const file = await asyncBufferFromFile(write(parquetWriter, columns, []));
    const { schema, num_rows } = await parquetMetadataAsync(file);
    expect(num_rows).toBe(0n);
    const look = schema.map(({ name, type, converted_type, logical_type, repetition_type }) =>
      [name, repetition_type, type, converted_type ?? logical_type?.type].join(' ').trimEnd(),
    );
    expect(look.map((line) => line.replace(/ +/g, ' '))).toEqual([
      'root',
      'text REQUIRED BYTE_ARRAY UTF8',
      'score REQUIRED DOUBLE',
      'visits REQUIRED INT64',
      'right REQUIRED BOOLEAN',
      'call REQUIRED BYTE_ARRAY JSON',
      'maybe OPTIONAL DOUBLE',
      'steps REQUIRED LIST',
      'list REPEATED',
      'element REQUIRED BYTE_ARRAY UTF8',
      'turns REQUIRED LIST',
      'list REPEATED',
      'element REQUIRED',
      'role REQUIRED BYTE_ARRAY UTF8',
      'name OPTIONAL BYTE_ARRAY UTF8',
    ]);
  });

  test('is compressed, in row groups that stay small', async () => {
    const long = 'x'.repeat(100_000);
    const many = Array.from({ length: 25_000 }, (_, id) => ({ id, text: id < 200 ? long : '' }));
    const path = write(parquetWriter, { id: 'int', text: 'string' }, many);
    const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
    // 84 texts of 100,000 characters are the first to exceed 8 · 2^20; the other 24,832 rows go by 2,500.
    expect(metadata.row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([
      84,
      84,
      ...Array.from({ length: 9 }, () => 2_500),
      2_332,
    ]);
    expect(statSync(path).size).toBeLessThan(2_000_000);
    const ids = (await readBack(path)).map((row) => (row as { id: number }).id);
    expect(ids).toEqual(many.map(({ id }) => id));
  });
});

describe('both writers', () => {
  const good: FileRow = { text: 'x', score: 1, turns: [{ role: 'user' }] };
  const three: Columns = {
    text: 'string',
    score: 'float',
    turns: { list: { struct: { role: 'string' } } },
  };
  const wrong: readonly (readonly [FileRow, string])[] = [
    [{ ...good, score: Number.NaN }, 'Expected `score` to be a finite number, got `NaN`.'],
    [
      { ...good, score: Number.POSITIVE_INFINITY },
      'Expected `score` to be a finite number, got `Infinity`.',
    ],
    [{ ...good, text: 1 }, 'Expected `text` to be a string, got `1`.'],
    [{ ...good, turns: 'x' }, 'Expected `turns` to be a list, got `"x"`.'],
    [{ ...good, turns: [null] }, 'Expected `turns[]` to be an object, got `null`.'],
    [{ ...good, turns: [{ role: null }] }, 'Expected `turns[].role` to be a string, got `null`.'],
    [{ ...good, turns: [{}] }, 'Expected each `turns[]` to have the column `role`, got none.'],
    [{ text: 'x', turns: [] }, 'Expected each row to have the column `score`, got none.'],
    [{ ...good, other: 1 }, 'Expected each row to have no column `"other"`, got one.'],
  ];
  const open = { jsonLinesWriter, parquetWriter };

  test.each(Object.entries(open))('%s names the column that is wrong', (_name, writer) => {
    for (const [row, message] of wrong) {
      expect(() => write(writer, three, [good, row])).toThrow(message);
    }
    expect(() => write(writer, { n: 'int' }, [{ n: 0.5 }])).toThrow(
      'Expected `n` to be an integer',
    );
    expect(() => write(writer, { n: 'int' }, [{ n: 2 ** 53 }])).toThrow(
      'Expected `n` to be an integer',
    );
    expect(() => write(writer, { j: 'json' }, [{ j: '{' }])).toThrow(
      'Expected `j` to be JSON text',
    );
    expect(() => write(writer, { b: 'boolean' }, [{ b: 0 }])).toThrow(
      'Expected `b` to be true or false',
    );
    expect(() => write(writer, {}, [])).toThrow('Expected `columns` to be one column or more');
    expect(() => write(writer, { s: { list: { struct: {} } } }, [])).toThrow('`columns.s`');
    expect(() => writer(join(folder, 'none', 'x'), three)).toThrow(
      'could not be used: there is no such file',
    );
  });
});

/** A type of a column with values of it. */
interface Typed {
  readonly type: ColumnType;
  readonly values: fc.Arbitrary<JsonValue>;
}

const leaf: fc.Arbitrary<Typed> = fc.constantFrom<Typed[]>(
  { type: 'boolean', values: fc.boolean() },
  { type: 'float', values: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { type: 'int', values: fc.maxSafeInteger().map((value) => value + 0) },
  { type: 'string', values: fc.string({ unit: 'grapheme' }) },
  { type: 'json', values: fc.json() },
);
const names = fc.stringMatching(/^[a-z]{1,3}$/);

const typed: fc.Arbitrary<Typed> = fc.letrec<{ typed: Typed }>((tie) => ({
  typed: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    tie('typed').map(({ type, values }) => ({
      type: { list: type },
      values: fc.array(values, { maxLength: 4 }),
    })),
    tie('typed').map(({ type, values }) => ({
      type: { optional: type },
      values: fc.option(values),
    })),
    fc
      .dictionary(names, tie('typed'), { minKeys: 1, maxKeys: 3, noNullPrototype: true })
      .map(structOf),
  ),
})).typed;

function structOf(fields: Record<string, Typed>): Typed & { readonly columns: Columns } {
  const entries = Object.entries(fields);
  const struct = Object.fromEntries(entries.map(([name, { type }]) => [name, type]));
  const values = fc.record(
    Object.fromEntries(entries.map(([name, field]) => [name, field.values])),
    {
      noNullPrototype: true,
    },
  );
  return { type: { struct }, columns: struct, values };
}

const tables = fc
  .dictionary(names, typed, { minKeys: 1, maxKeys: 4, noNullPrototype: true })
  .map(structOf)
  .chain(({ columns: own, values }) =>
    fc.record({ own: fc.constant(own), rows: fc.array(values, { maxLength: 30 }) }),
  );

describe('any row of any columns', () => {
  property([tables], { numRuns: 300 })('survives both writers and their readers', async (table) => {
    const { own, rows: any } = table;
    const given = any as readonly FileRow[];
    const parquet = await readBack(write(parquetWriter, own, given));
    expect(parquet).toEqual(given.map((row) => sameZero(row)));
    const lines = readFileSync(write(jsonLinesWriter, own, given), 'utf8')
      .split('\n')
      .slice(0, -1);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      given.map((row) => lineOf({ struct: own }, row)),
    );
  });
});

/** Zero has a sign in JSON lines only: a dictionary of Parquet holds one zero. */
function sameZero(value: JsonValue): unknown {
  if (typeof value === 'number') return value + 0;
  if (Array.isArray(value)) return value.map((part: JsonValue) => sameZero(part));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, sameZero(part)]));
}

/** What a line holds: JSON text stands there as its value. */
function lineOf(type: ColumnType, value: JsonValue): unknown {
  if (type === 'json') return JSON.parse(value as string);
  if (typeof type === 'string' || value === null) return value;
  if ('optional' in type) return lineOf(type.optional, value);
  if ('list' in type) return (value as JsonValue[]).map((part) => lineOf(type.list, part));
  return Object.fromEntries(
    Object.entries(type.struct).map(([name, part]) => [
      name,
      lineOf(part, (value as Record<string, JsonValue>)[name] ?? null),
    ]),
  );
}
