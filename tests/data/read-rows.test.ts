import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readRows, type StoredRow } from '../../src/data/index.ts';

test('rows are read as their files have them, in order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-rows-'));
  try {
    const rows = [
      { prompt: 'a', completion: 'b' },
      { prompt: 'c', completion: 'd' },
    ];
    writeFileSync(
      join(folder, 'one.jsonl'),
      `${JSON.stringify(rows[0])}\n\n${JSON.stringify(rows[1])}\n`,
    );
    writeFileSync(
      join(folder, 'two.jsonl.gz'),
      gzipSync(JSON.stringify({ prompt: 'e', completion: 'f' })),
    );
    const read: StoredRow[] = [];
    for await (const row of readRows(folder)) read.push(row);
    const at = { config: 'default', split: 'train' };
    expect(read).toEqual([
      { ...at, file: 'one.jsonl', line: 1, columns: rows[0] },
      { ...at, file: 'one.jsonl', line: 3, columns: rows[1] },
      { ...at, file: 'two.jsonl.gz', line: 1, columns: { prompt: 'e', completion: 'f' } },
    ]);
    await expect(readRows(join(folder, 'none')).next()).rejects.toThrow(/none/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
