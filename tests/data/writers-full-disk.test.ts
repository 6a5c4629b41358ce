import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { jsonLinesWriter } from '../../src/data/writers/json-lines-writer.ts';
import { parquetWriter } from '../../src/data/writers/parquet-writer.ts';

/** Linux has a file whose disk is always full. */
const full = '/dev/full';

test.skipIf(!existsSync(full)).each([
  ['JSON lines', jsonLinesWriter],
  ['Parquet', parquetWriter],
])('a full disk is an error of one sentence: %s', (_name, open) => {
  const writer = open(full, { text: 'string' });
  const write = (): void => {
    for (let row = 0; row < 20_000; row++) writer.write({ text: `${row} ${'x'.repeat(200)}` });
    writer.close();
  };
  expect(write).toThrow(/^`?.*\/dev\/full`? could not be used: the disk is full\. .+\.$/);
  expect(() => writer.abandon()).not.toThrow();
});
