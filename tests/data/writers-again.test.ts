import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { datasetFiles } from '../../src/data/audit/dataset-files.ts';
import { expectWritable } from '../../src/data/writers/write-dataset.ts';
import { alpaca, folder, out, problem, read, text, twoEach, useFolders, write } from './writing.ts';

useFolders();

describe('an export again', () => {
  test('leaves no shard of a larger one, and files of others', async () => {
    await write(['a', 'b', 'c'], { rowsPerFile: 1 });
    writeFileSync(join(out, 'dpo', 'NOTES.md'), 'mine');
    writeFileSync(join(out, 'LICENSE'), 'mine too');
    await write(['a'], { rowsPerFile: 1 });
    expect(Object.keys(folder())).toEqual([
      'LICENSE',
      'README.md',
      'dpo/NOTES.md',
      'dpo/train-00000-of-00002.jsonl',
      'dpo/train-00001-of-00002.jsonl',
    ]);
  });

  test('with no rows is a report and a card, and no file of the old one', async () => {
    await write(['a']);
    const report = await write([]);
    expect(report).toMatchObject({ problems: 0, rows: 0, configs: [{ rows: 0, splits: [] }] });
    expect(Object.keys(folder())).toEqual(['README.md']);
    expect(read('README.md')).not.toContain('configs:');
  });

  test('that fails leaves the old dataset', async () => {
    await write(['a', 'b']);
    const before = folder();
    async function* broken() {
      yield await Promise.resolve(problem('c'));
      throw new Error('The run is broken.');
    }
    await expect(write([], { problems: broken() })).rejects.toThrow('The run is broken.');
    expect(folder()).toEqual(before);
    const mixed = [[...problem('a'), ...problem('b')]];
    await expect(write([], { problems: mixed })).rejects.toThrow(
      'Expected `problems` to be trees of `a` together, got `"b"`.',
    );
    expect(folder()).toEqual(before);
  });

  test.each([0, 1, 2])(
    'is completed where a kill left %i of its two parts in place',
    async (moved) => {
      await write(['a']);
      writeFileSync(join(out, 'dpo', 'NOTES.md'), 'mine');
      const other = mkdtempSync(join(tmpdir(), 'espalier-other-'));
      await write(['b'], { out: other });
      const left = join(out, '.espalier-ready');
      mkdirSync(left);
      if (moved === 0) renameSync(join(other, 'dpo'), join(left, 'dpo'));
      else cpSync(join(other, 'dpo'), join(out, 'dpo'), { recursive: true });
      const card = readFileSync(join(other, 'README.md'), 'utf8');
      writeFileSync(moved === 2 ? join(out, 'README.md') : join(left, 'README.md'), card);
      rmSync(other, { recursive: true });
      expect(datasetFiles(out).map(({ name }) => name)).toEqual(['dpo/train-00000-of-00001.jsonl']);
      const completed = folder();
      expect(Object.keys(completed)).toEqual([
        'README.md',
        'dpo/NOTES.md',
        'dpo/train-00000-of-00001.jsonl',
      ]);
      await write(['b']);
      expect(folder()).toEqual(completed);
    },
  );
});

const both = ['dpo', 'more'].map((name) => ({ name, rule: twoEach, format: text }));

describe('an export into a folder of others', () => {
  test('leaves no configuration that only the old card lists, and files of others in it', async () => {
    await write(['a'], { configs: both });
    writeFileSync(join(out, 'more', 'NOTES.md'), 'mine');
    mkdirSync(join(out, '.espalier-replaced'));
    writeFileSync(join(out, '.espalier-replaced', 'train-00000-of-00001.jsonl'), 'of a kill');
    mkdirSync(join(out, 'mine'));
    writeFileSync(join(out, 'mine', 'train-00000-of-00001.jsonl'), 'mine too');
    const [dpo, more] = both;
    if (dpo === undefined || more === undefined) expect.fail('There are two.');
    await write(['a'], { configs: [dpo, { ...more, rule: { ...twoEach, *rows() {} } }] });
    expect(Object.keys(folder())).toEqual([
      'README.md',
      'dpo/train-00000-of-00001.jsonl',
      'mine/train-00000-of-00001.jsonl',
      'more/NOTES.md',
    ]);
  });

  test.each([
    ['fewer', [{ name: 'dpo', rule: twoEach, format: text }]],
    ['other rules', both.map((one) => ({ ...one, rule: { ...twoEach, name: 'other' } }))],
    ['other forms', both.map((one) => ({ ...one, format: alpaca }))],
    ['other names', both.map((one) => ({ ...one, name: `${one.name}-2` }))],
  ])('is refused where it has %s, and the one before it stays', async (_name, configs) => {
    await write(['a'], { configs: both });
    const before = folder();
    const sentence = `\`${out}\` holds another dataset, of other rules or forms, and this one would take its place. Choose another folder, or delete that one.`;
    await expect(write(['a'], { configs })).rejects.toThrow(sentence);
    expect(() => expectWritable({ out, configs })).toThrow(sentence);
    expect(folder()).toEqual(before);
    await write(['a'], { configs: both });
    expect(folder()).toEqual(before);
  });

  test('beside another one is refused, and so is a look whether it can be', async () => {
    await write(['a']);
    async function* slow() {
      yield await Promise.resolve(problem('b'));
      await expect(write(['c'])).rejects.toThrow(/^Process \d+ on .* is writing to this folder\./);
      const configs = [{ name: 'dpo', rule: twoEach, format: text }];
      expect(() => expectWritable({ out, configs })).toThrow('is writing to this folder');
      yield problem('d');
    }
    const report = await write([], { problems: slow() });
    expect(report.rows).toBe(4);
    expect(read('dpo/train-00000-of-00001.jsonl').trim().split('\n')).toHaveLength(4);
    expect(Object.keys(folder())).toEqual(['README.md', 'dpo/train-00000-of-00001.jsonl']);
  });

  test('cannot go where it may not', async () => {
    writeFileSync(join(out, 'file'), '');
    await expect(write(['a'], { out: join(out, 'file') })).rejects.toThrow(
      /^The folder `.*file` could not be used: there is a file where a folder is needed/,
    );
  });
});

describe('an export into a folder in which a link stands', () => {
  test('is refused, and nothing behind the link is touched', async () => {
    await write(['a']);
    const elsewhere = join(out, 'elsewhere');
    renameSync(join(out, 'dpo'), elsewhere);
    writeFileSync(join(elsewhere, 'mine.txt'), 'mine');
    symlinkSync('elsewhere', join(out, 'dpo'));
    const before = folder();
    const sentence = `\`${join(out, 'dpo')}\` was not written by espalier`;
    await expect(write(['b'])).rejects.toThrow(sentence);
    expect(folder()).toEqual(before);
    // One that was put there when all was written and not yet in place.
    const left = join(out, '.espalier-ready');
    mkdirSync(join(left, 'dpo'), { recursive: true });
    writeFileSync(join(left, 'README.md'), read('README.md'));
    await expect(write(['b'])).rejects.toThrow(sentence);
    expect(readdirSync(elsewhere)).toEqual(['mine.txt', 'train-00000-of-00001.jsonl']);
    rmSync(join(out, 'dpo'));
    await write(['b']);
    expect(readdirSync(join(out, 'dpo'))).toEqual(['train-00000-of-00001.jsonl']);
  });
});

describe('a process that is killed', () => {
  test('leaves the old dataset whole', async () => {
    await write(['a', 'b']);
    const before = folder();
    const script = join(import.meta.dirname, 'writers-killed.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', script, out], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // It tells when rows are on the disk, and goes on for ever.
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    const aside = readdirSync(join(out, '.espalier-partial'), { recursive: true });
    expect(aside.length).toBeGreaterThan(1);
    child.kill('SIGKILL');
    await new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const { '.espalier-partial': _, ...after } = withoutPartial(folder());
    expect(after).toEqual(before);
    await write(['a', 'b']);
    expect(folder()).toEqual(before);
  }, 30_000);
});

function withoutPartial(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).filter(([path]) => !path.startsWith('.espalier-')),
  );
}
