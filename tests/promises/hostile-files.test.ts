import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openJournal, readJournal } from '../../src/calls/index.ts';
import { auditDataset } from '../../src/data/index.ts';
import { jsonLinesStore } from '../../src/memory/index.ts';
import { openRun, readRun } from '../../src/runs/index.ts';
import { build, endless, fileIn, start, temporaryFolder } from '../cli/espalier.ts';

const folder = temporaryFolder();

/** A pipe that nobody writes to; `undefined` where the system has none. */
function pipe(...names: readonly string[]): string | undefined {
  const path = join(folder, ...names);
  mkdirSync(join(path, '..'), { recursive: true });
  return spawnSync('mkfifo', [path]).status === 0 ? path : undefined;
}

const given = pipe('given') ?? '';
const sentence = /^[^\n]*pipe or a device[^\n]*\n$/;

describe.runIf(given !== '')('a pipe', () => {
  beforeAll(build, 300_000);

  const rows = pipe('dataset', 'train.jsonl') ?? '';
  const run = join(pipe('run', 'trees.jsonl') ?? '', '..');
  writeFileSync(join(run, 'run.json'), '{}');
  const locked = join(pipe('locked', 'lock') ?? '', '..');
  const parquet = pipe('rows.parquet') ?? '';

  test.each([
    [
      'problems',
      ['generate', '--problems', given, '--out', join(folder, 'out'), '--model', 'none'],
    ],
    ['a puzzle', ['search', '--task', 'blocksworld', '--input', given, '--model', 'none']],
    ['a run folder to draw', ['tree', run]],
    ['the lock of a run folder', [...endless, '--save', locked]],
    ['a dataset', ['check-dataset', given]],
    ['a file in a dataset', ['check-dataset', join(rows, '..')]],
    ['a Parquet file', ['check-dataset', parquet]],
    ['a dataset to show', ['rows', given]],
    ['a tokenizer', ['check-dataset', import.meta.filename, '--tokenizer', given]],
  ])('as %s is refused in a sentence', async (_name, args) => {
    const { process: child, finished } = start(...args);
    const late = setTimeout(() => child.kill('SIGKILL'), 40_000);
    const { code, stdout, stderr } = await finished;
    clearTimeout(late);
    expect(code).toBeGreaterThan(0);
    expect(`${stdout}${stderr}`).toMatch(/is a pipe/);
    expect(stderr === '' || sentence.test(stderr)).toBe(true);
  });

  test.each([
    ['a journal to write', () => openJournal(given)],
    ['a journal to read', () => readJournal(given)],
    ['the trees of a run', () => readRun(run).trees],
    ['a lock', () => openRun(locked)],
  ])('as %s is refused in a sentence', (_name, open) => {
    expect(open).toThrowError(
      expect.objectContaining({
        code: 'storage',
        message: expect.stringContaining('is a pipe or a device') as string,
      }) as Error,
    );
  });

  test('as a memory is refused in a sentence', async () => {
    await expect(async () => jsonLinesStore(given).all()).rejects.toThrowError(/pipe or a device/);
  });
});

/** Node's own recursive `mkdir` tries for ever there. */
test.runIf(existsSync('/proc/self/stat')).each([
  ['--run', ['generate', '--out', join(folder, 'never'), '--run', '/proc/nowhere/run']],
  ['--out', ['generate', '--run', join(folder, 'unused'), '--out', '/proc/nowhere/data']],
  ['--save', ['search', '--task', 'game24', '--input', '4 9 10 13', '--save', '/proc/nowhere']],
])('%s where no folder can be made is refused in a sentence', async (_name, args) => {
  await build();
  const puzzles = fileIn(folder, 'puzzles.txt', '4 9 10 13\n');
  const asked = args[0] === 'generate' ? ['--problems', puzzles, '--task', 'game24'] : [];
  const { process: child, finished } = start(...args, ...asked, '--model', 'none');
  const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const { code, stderr } = await finished;
  clearTimeout(late);
  expect(stderr).toMatch(/^[^\n]*`\/proc\/nowhere[^\n]* could not be used: [^\n]+\.\n$/);
  expect(code).toBe(2);
  expect(existsSync(join(folder, 'never'))).toBe(false);
});

test('problems that differ in halves of surrogate pairs alone have a journal each', () => {
  const path = join(folder, 'surrogates');
  const run = openRun(path);
  for (const problem of ['a\ud800', 'a\ud801', 'a\udc00', 'a\ufffd', 'a\u{10000}']) {
    run.journalOf(problem, 0).close();
  }
  run.close();
  expect(readdirSync(join(path, 'journals'))).toHaveLength(5);
});

/** A small Parquet file of which two bits are flipped. */
function broken(name: string, ...bits: readonly number[]): string {
  const bytes = Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'prompt', data: Array.from({ length: 40 }, (_, i) => `p${i % 7}`), type: 'STRING' },
        { name: 'label', data: Array.from({ length: 40 }, (_, i) => i % 3 === 0), type: 'BOOLEAN' },
        { name: 'n', data: Array.from({ length: 40 }, (_, i) => i % 5), type: 'INT32' },
      ],
    }),
  );
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

test('a Parquet file at which its reader spins for ever is broken', async () => {
  // It would never end: the limit of 10 s comes early.
  const { timeout } = AbortSignal;
  const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 20));
  onTestFinished(() => void limit.mockRestore());
  const { findings } = await auditDataset(broken('spinning.parquet', 2556, 511));
  expect(findings).toContainEqual(
    expect.objectContaining({
      code: 'unreadable-file',
      examples: [
        {
          place: 'spinning.parquet',
          excerpt: 'Its rows were not read within 10 s: it is broken.',
        },
      ],
    }),
  );
  expect(limit).toHaveBeenCalledWith(10_000);
});
