/** `node --import tsx tests/verify/formats.ts [<folder>]`: published rows are read and written back equal. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatasetFormat } from '../../src/data/formats/format.ts';
import { mathShepherdFiles, readMathShepherd } from '../../src/data/formats/math-shepherd.ts';
import { prm800kFiles, readPrm800k } from '../../src/data/formats/prm800k.ts';
import type { StepwiseRow } from '../../src/data/rows.ts';

const data = process.argv[2] ?? join(import.meta.dirname, '../../../shared/data');

/** Compares the text of each row, so that the order of keys counts. */
function writtenBackEqual(
  name: string,
  read: (text: string) => readonly StepwiseRow[],
  { forms: { stepwise: format } }: DatasetFormat<'stepwise'>,
): void {
  const path = join(data, name);
  assert.ok(existsSync(path), `Expected ${path}.`);
  const text = readFileSync(path, 'utf8');
  const published = text
    .trim()
    .split('\n')
    .map((line) => JSON.stringify(JSON.parse(line)));
  const rows = read(text);
  const written = rows.map((row) => JSON.stringify(format.write(row)));
  assert.deepEqual(written, published);
  const steps = rows.reduce((sum, row) => sum + row.steps.length, 0);
  process.stdout.write(
    `${name}: ${written.length} of ${published.length} rows equal, ${steps} steps\n`,
  );
}

writtenBackEqual('math-shepherd-sample.jsonl', readMathShepherd, mathShepherdFiles());
writtenBackEqual('prm800k-sample.jsonl', readPrm800k, prm800kFiles());
