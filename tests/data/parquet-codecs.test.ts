import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, test } from 'vitest';
import { auditDataset, readRows } from '../../src/data/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'codecs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const codecs = {
  GZIP: gzipSync,
  BROTLI: brotliCompressSync,
  LZ4_RAW: (bytes: Uint8Array) => bytes,
};

function fileOf(codec: keyof typeof codecs): string {
  const path = join(folder, `${codec}.parquet`);
  const prompt = Array.from({ length: 100 }, (_, place) => `Which is ${place}?`);
  const type = 'STRING' as const;
  const columnData = [
    { name: 'prompt', data: prompt, type },
    { name: 'note', data: prompt.map(() => null), type },
  ];
  const bytes = parquetWriteBuffer({ columnData, codec, compressors: { [codec]: codecs[codec] } });
  writeFileSync(path, new Uint8Array(bytes));
  return path;
}

test.each(['GZIP', 'BROTLI'] as const)('Parquet compressed by %s is read', async (codec) => {
  const rows: unknown[] = [];
  for await (const { columns } of readRows(fileOf(codec))) rows.push(columns);
  expect(rows).toHaveLength(100);
  expect(rows[99]).toEqual({ prompt: 'Which is 99?', note: null });
});

test('another compression is named, with those that are read', async () => {
  const { findings } = await auditDataset(fileOf('LZ4_RAW'));
  expect(findings.map(({ code }) => code)).toEqual(['unreadable-file']);
  expect(findings[0]?.examples[0]?.excerpt).toMatch(
    /^Its compression LZ4_RAW cannot be read: write it with one of UNCOMPRESSED, /,
  );
});
