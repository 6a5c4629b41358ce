import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import { itemsOf } from '../../src/data/audit/read-file.ts';
import { repeatedKey } from '../../src/data/audit/repeated-key.ts';
import { declaredFiles } from '../../src/data/front-matter.ts';
import { matchesPattern } from '../../src/data/glob.ts';
import { parquetWriter } from '../../src/data/writers/parquet-writer.ts';
import { foldersOfFiles } from '../support/folders-of-files.ts';

const folder = foldersOfFiles();

describe('files', () => {
  const row = JSON.stringify({ prompt: 'Which?\n', completion: 'Seven.' });
  const blanks = ' \t\r\n'.repeat(500_000);

  async function items(content: string, name = 'train.jsonl') {
    const found: unknown[] = [];
    const bytes = name.endsWith('.gz') ? gzipSync(content) : content;
    for await (const item of itemsOf(join(folder({ [name]: bytes }), name))) found.push(item);
    return found;
  }

  test('one number of an array that nothing can hold spoils its row alone', async () => {
    expect(await items(`[${row}, {"prompt": 1e400}]`, 'train.json')).toEqual([
      expect.objectContaining({ value: JSON.parse(row) }),
      expect.objectContaining({ broken: 'prompt: `Infinity`', code: 'number-too-large' }),
    ]);
  });

  test.each([
    ['a row behind blanks', `${' '.repeat(1100)}${row}\n`, 1],
    ['a row behind many blank lines', `${blanks}${row}`, 500_001],
  ])('%s is read', async (_, content, line) => {
    expect(await items(content)).toEqual([
      expect.objectContaining({ line, value: JSON.parse(row) }),
    ]);
  });

  test('an array behind blanks, with blanks within', async () => {
    const found = await items(`${blanks}[${blanks}${row}${blanks},${row}]`);

    expect(found).toEqual(
      [1, 2].map((line) => ({ line, source: row, value: JSON.parse(row) as unknown })),
    );
  });

  test('a line that is too long is told, and its neighbours are read', async () => {
    const long = `{"prompt": "${'x'.repeat(33 << 20)}"}`;
    const path = folder({
      'train.jsonl.gz': gzipSync(`${row}\n${long}\n${row.replace('Seven', 'Eight')}\n`),
    });
    const { findings, sets } = await auditDataset(path);

    expect(findings.map(({ code, examples }) => [code, examples[0]?.place])).toEqual([
      ['line-too-long', 'train.jsonl.gz:2'],
    ]);
    expect(sets[0]?.rows).toBe(2);
  });

  test('what is not read is named beside what is', async () => {
    const files = { 'train.jsonl': row, 'more.csv': 'a,b\n', 'notes.txt': 'a' };
    const all = await auditDataset(folder(files));
    const declared = await auditDataset(
      folder({
        ...files,
        'README.md': '---\nconfigs:\n- config_name: a\n  data_files: train.jsonl\n---\n',
      }),
    );

    expect(all.findings.map(({ code, examples }) => [code, examples])).toEqual([
      ['unsupported-file', [{ place: 'more.csv', excerpt: 'CSV' }]],
    ]);
    expect(declared.findings).toEqual([]);
  });

  test.each([
    ['{"a":1,"b":{"a":2}}', undefined],
    ['{"a":"\\"a\\":","c":[{"a":1},{"a":2}]}', undefined],
    ['{"a\\\\":1,"a":"\\\\"}', undefined],
    ['{"a":1,"b":2,"a" : 3}', 'a'],
    ['{"b":{"a":1,"a":2}}', 'a'],
  ])('keys of %s', (source, expected) => {
    expect(repeatedKey(source, JSON.parse(source))).toBe(expected);
  });
});

test('a Parquet file with two broken columns is told of, and ends nothing else', async () => {
  const columns = ['first_list', 'other_list'].map((name) => ({
    name,
    data: Array.from({ length: 50 }, (_, place) => [place, place + 0.5]),
  }));
  const bytes = Buffer.from(parquetWriteBuffer({ columnData: columns }));
  // The first column cannot be unpacked. The name of the other one stands in the schema and at the column: the latter is spoilt.
  bytes.fill(0xff, 40, 200);
  bytes.write('x', bytes.lastIndexOf('other_list'), 'latin1');
  const { findings } = await auditDataset(folder({ 'train.parquet': bytes }));
  expect(findings.map(({ severity }) => severity)).toContain('error');
  // Longer than a thread is given to end.
  await new Promise((resolve) => setTimeout(resolve, 150));
});

test('null in Parquet stays null, wherever it stands, and nothing beside it is lost', async () => {
  const inner = {
    optional: { struct: { a: { optional: 'string' }, b: { optional: 'int' } } },
  } as const;
  const rows = [
    { id: 0, text: 'a', pair: { a: 'x', b: 1 }, list: [{ a: 'y', b: null }], deep: { in: null } },
    { id: 1, text: null, pair: null, list: null, deep: null },
    { id: 2, text: '', pair: { a: null, b: null }, list: [], deep: { in: { a: null, b: 2 } } },
    {
      id: 3,
      text: 'b',
      pair: { a: null, b: 3 },
      list: [null, { a: null, b: null }, null],
      deep: null,
    },
    { id: 4, text: 'c', pair: null, list: [{ a: 'z', b: 4 }], deep: { in: { a: 'w', b: null } } },
  ];
  const path = join(folder({ 'train.parquet': '' }), 'train.parquet');
  const writer = parquetWriter(path, {
    id: 'int',
    text: { optional: 'string' },
    pair: inner,
    list: { optional: { list: inner } },
    deep: { optional: { struct: { in: inner } } },
  });
  for (const row of rows) writer.write(row);
  writer.close();
  const read: unknown[] = [];
  for await (const item of itemsOf(path)) if ('value' in item) read.push(item.value);

  expect(read).toStrictEqual(rows);
});

describe('patterns of a card', () => {
  /** As a regular expression has it, for short texts. */
  function expected(path: string, pattern: string): boolean {
    const parts: Readonly<Record<string, string>> = {
      '**/': '(?:.*/)?',
      '**': '.*',
      '*': '[^/]*',
      '?': '[^/]',
    };
    const source = pattern.split(/(\*\*\/?|\*|\?)/).map((part) => parts[part] ?? part);
    return new RegExp(`^${source.join('')}$`).test(path);
  }

  function* wordsOf(letters: string, length: number): Generator<string> {
    yield '';
    if (length === 0) return;
    for (const letter of letters)
      for (const rest of wordsOf(letters, length - 1)) yield letter + rest;
  }

  test('are those of a regular expression', () => {
    const paths = [...new Set(wordsOf('ab/', 4))];
    const patterns = [...new Set(wordsOf('ab/*?', 4))].filter((each) => !/^\.|\*\*\*/.test(each));
    const wrong = patterns.flatMap((pattern) =>
      paths
        .filter((path) => matchesPattern(path, pattern) !== expected(path, pattern))
        .map((path) => [path, pattern]),
    );

    expect(patterns.length).toBeGreaterThan(700);
    expect(wrong).toEqual([]);
  });

  test.each([
    ['a'.repeat(4000), `${'*a'.repeat(30)}*b`],
    ['a/'.repeat(1000), `${'**/a'.repeat(40)}b`],
    ['a.jsonl', `${'*a'.repeat(100_000)}b`],
  ])('do not hang on any text', (path, pattern) => {
    const before = process.cpuUsage();

    expect(matchesPattern(path, pattern)).toBe(false);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });

  test('nor does a line of the card', () => {
    const card = `---\nconfigs:\n- ${' '.repeat(50_000)}:\n- "data/*.jsonl"\n---\n`;
    const before = process.cpuUsage();

    expect(declaredFiles(card)).toEqual([
      { config: 'default', split: 'train', pattern: 'data/*.jsonl' },
    ]);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});
