import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import { verl } from '../../src/data/formats/verl.ts';
import type { PreferenceRow, RowRule } from '../../src/data/rows.ts';
import { splitter } from '../../src/data/writers/split.ts';
import { writeDataset } from '../../src/data/writers/write-dataset.ts';
import { asks, preference, provenance, says, unpaired } from './formats-rows.ts';
import { textOf as sentence } from './good-sets.ts';
import {
  alpaca,
  folder,
  line,
  out,
  problem,
  promptsOf,
  read,
  text,
  turns,
  twoEach,
  useFolders,
  write,
} from './writing.ts';

useFolders();

test('a row that equals one of another problem is left out, in whichever split', async () => {
  const alike: RowRule<PreferenceRow> = {
    name: 'alike',
    kind: 'preference',
    *rows([first]) {
      const own = { ...provenance, problem: first?.problem ?? '' };
      yield preference({ provenance: own });
      yield preference({ provenance: own, prompt: [asks(first?.problem ?? '')] });
    },
  };
  const { configs } = await write(['a', 'b', 'c', 'd'], {
    configs: [{ name: 'dpo', rule: alike, format: text }],
    splits: { train: 0.5, test: 0.5 },
  });

  expect(configs[0]).toMatchObject({
    rows: 5,
    refused: [{ reason: 'The same row was made of another problem.', rows: 3 }],
    distinct: { chosen: 1, rejected: 1 },
  });
});

test.each([
  [
    'preference',
    (first: boolean) => {
      const [yes, no] = [[says('Yes.')], [says('No.')]];
      return preference(first ? { chosen: yes, rejected: no } : { chosen: no, rejected: yes });
    },
  ],
  ['unpaired', (first: boolean) => unpaired({ label: first })],
] as const)(
  '%s rows of problems that disagree are written once, as the first one says, and pass an audit',
  async (kind, make) => {
    const split: RowRule = {
      name: 'split',
      kind,
      *rows(trees) {
        for (const { problem: id } of trees) yield make(id === 'a');
      },
    };
    const { configs } = await write(['a', 'b', 'c'], {
      configs: [{ name: 'split', rule: split, format: text }],
    });
    expect(configs[0]).toMatchObject({
      rows: 1,
      refused: [{ reason: 'A row before it says the opposite.', rows: 2 }],
    });
    expect((await auditDataset(out)).errors).toBe(0);
  },
);

test('rows that a rule leaves out because they contradict others of the problem are counted', async () => {
  const torn: RowRule = {
    name: 'torn',
    kind: 'unpaired',
    *rows(_trees, leaveOut) {
      leaveOut?.('Torn.');
      yield unpaired({});
    },
  };
  const configs = [{ name: 'torn', rule: torn, format: text }];
  const report = await write(['a'], { configs });
  expect(report.configs[0]).toMatchObject({ rows: 1, refused: [{ reason: 'Torn.', rows: 1 }] });
  expect(readFileSync(join(out, 'README.md'), 'utf8')).toContain('- 1 row: Torn.');
});

test('rows that are nearly those before them are dropped where that is asked for, and counted', async () => {
  const close: RowRule<PreferenceRow> = {
    name: 'close',
    kind: 'preference',
    *rows([first]) {
      const id = first?.problem ?? '';
      const own = { ...provenance, problem: id };
      for (const end of ['fifteen', 'sixteen']) {
        const side = (name: string) => [says(`${sentence(`${id} ${name}`, 0, 40)} ${end}`)];
        const [chosen, rejected] = [side('yes'), side('no')];
        yield preference({
          provenance: own,
          prompt: [asks(sentence(id, 0, 40))],
          chosen,
          rejected,
        });
      }
    },
  };
  const configs = [{ name: 'dpo', rule: close, format: text }];
  const ids = ['north', 'south', 'east'];
  const kept = await write(ids, { configs });
  expect(kept.configs[0]).toMatchObject({ rows: 6, refused: [] });
  const { findings } = await auditDataset(out);
  const near = findings.find(({ code }) => code === 'near-duplicate')?.count;
  const dropped = await write(ids, { configs, nearDuplicates: 'drop' });
  expect(dropped.configs[0]).toMatchObject({
    rows: 3,
    refused: [{ reason: 'It is nearly the same as a row before it.', rows: near }],
    splits: [{ problems: 3, rows: 3 }],
  });
  expect(read('README.md')).toContain('3 rows: It is nearly the same as a row before it.');
  expect((await auditDataset(out)).findings).not.toContainEqual(
    expect.objectContaining({ code: 'near-duplicate' }),
  );
});

describe('a dataset', () => {
  test('has the rows in order, in shards', async () => {
    const report = await write(['a', 'b'], { rowsPerFile: 3 });
    expect(readdirSync(out).toSorted()).toEqual(['README.md', 'dpo']);
    expect(read('dpo/train-00000-of-00002.jsonl')).toBe(
      line('a 0.25') + line('a 1') + line('b 0.25'),
    );
    expect(read('dpo/train-00001-of-00002.jsonl')).toBe(line('b 1'));
    expect(report).toMatchObject({ problems: 2, trees: 2, rows: 4 });
    expect(report.configs[0]?.splits).toEqual([
      {
        name: 'train',
        problems: 2,
        rows: 4,
        files: ['train-00000-of-00002.jsonl', 'train-00001-of-00002.jsonl'],
      },
    ]);
  });

  test('is full shards where the rows just fill them', async () => {
    await write(['a', 'b'], { rowsPerFile: 2 });
    expect(readdirSync(join(out, 'dpo'))).toEqual([
      'train-00000-of-00002.jsonl',
      'train-00001-of-00002.jsonl',
    ]);
  });

  test('is the same bytes for the same trees', async () => {
    for (const file of ['jsonl', 'parquet'] as const) {
      await write(['a', 'b', 'c'], { file, splits: { train: 0.5, test: 0.5 } });
      const once = folder();
      await write(['a', 'b', 'c'], { file, splits: { train: 0.5, test: 0.5 } });
      expect(folder()).toEqual(once);
    }
  });

  test('has several configurations, read in one pass', async () => {
    let passes = 0;
    async function* once() {
      passes += 1;
      yield await Promise.resolve(problem('a'));
    }
    const report = await writeDataset({
      out,
      file: 'jsonl',
      problems: once(),
      configs: [
        { rule: twoEach, format: text },
        { name: 'lf', rule: twoEach, format: alpaca },
      ],
    });
    expect(passes).toBe(1);
    expect(report.rows).toBe(4);
    expect(readdirSync(out).toSorted()).toEqual(['README.md', 'lf', 'two-each']);
    const info = JSON.parse(read('lf/dataset_info.json')) as { train: { file_name: string } };
    expect(info.train.file_name).toBe('train-00000-of-00001.jsonl');
    expect(existsSync(join(out, 'lf', info.train.file_name))).toBe(true);
  });

  test('tells which rows have no place in a form', async () => {
    const begun: RowRule<PreferenceRow> = {
      ...twoEach,
      *rows(trees) {
        yield* twoEach.rows(trees);
        yield preference({ prompt: [asks('Q'), says('Step 1:')] });
      },
    };
    const report = await write(['a', 'b'], {
      configs: [{ rule: begun, format: turns }],
    });
    const reason = expect.stringContaining('this form has whole turns only') as string;
    expect(report.configs[0]).toMatchObject({ rows: 4, refused: [{ reason, rows: 2 }] });
    expect(read('README.md')).toContain('- 2 rows: A step goes on within the turn');
  });
});

describe('splits', () => {
  const shares = { train: 0.8, validation: 0.1, test: 0.1 };
  const ids = Array.from({ length: 2_000 }, (_, id) => `problem ${id}`);

  test('are drawn from the id alone, in their shares', async () => {
    const split = splitter(shares, 3);
    const counts = { train: 0, validation: 0, test: 0 };
    for (const id of ids) counts[split(id) as keyof typeof counts] += 1;
    // Three standard deviations of a binomial share over 2,000.
    expect(Math.abs(counts.train - 1_600)).toBeLessThan(54);
    expect(Math.abs(counts.validation - 200)).toBeLessThan(41);
    const other = splitter(shares, 4);
    expect(ids.some((id) => other(id) !== split(id))).toBe(true);

    const some = ids.slice(0, 30);
    await write(some, { splits: shares, seed: 3 });
    for (const [name] of Object.entries(shares)) {
      const expected = some
        .filter((id) => split(id) === name)
        .flatMap((id) => [`${id} 0.25\n`, `${id} 1\n`]);
      expect(promptsOf(`dpo/${name}-00000-of-00001.jsonl`)).toEqual(expected);
    }
  });

  test('need names that the Hub takes, and a share', () => {
    expect(() => splitter({ 'my-train': 1 }, 0)).toThrow('named by letters, digits and _');
    expect(() => splitter({ train: 0 }, 0)).toThrow('Expected `splits` to be shares');
    expect(() => splitter({ train: -1 }, 0)).toThrow('Expected `splits.train`');
    expect(splitter({ train: 0, test: 1 }, 0)('a')).toBe('test');
  });
});

describe('exact shares', () => {
  const ids = Array.from({ length: 37 }, (_, place) => `p${place}`);
  const countOf = (split: (id: string) => string, names: readonly string[]) =>
    names.reduce<Record<string, number>>((counts, id) => {
      counts[split(id)] = (counts[split(id)] ?? 0) + 1;
      return counts;
    }, {});

  test('are those asked for, whatever the seed and the order', () => {
    const shares = { train: 0.7, validation: 0.1, test: 0.2 };
    const drawn = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const exact = splitter(shares, seed, ids);
      // 25.9, 3.7 and 7.4 of 37: each within one problem.
      const { train = 0, validation = 0, test: tests = 0 } = countOf(exact, ids);
      expect(Math.abs(train - 25.9)).toBeLessThan(1);
      expect(Math.abs(validation - 3.7)).toBeLessThan(1);
      expect(Math.abs(tests - 7.4)).toBeLessThan(1);
      const other = splitter(shares, seed, ids.toReversed());
      expect(ids.map(exact)).toEqual(ids.map(other));
      drawn.add(JSON.stringify(countOf(splitter(shares, seed), ids)));
    }
    // By their ids alone the shares are chance.
    expect(drawn.size).toBeGreaterThan(5);
    expect(
      countOf(splitter({ train: 0.9, test: 0.1 }, 1, ids.slice(0, 20)), ids.slice(0, 20)),
    ).toEqual({ train: 18, test: 2 });
  });

  test('move only problems near a cut', () => {
    const many = Array.from({ length: 2_000 }, (_, place) => `p${place}`);
    const [drawn, exact] = [splitter({ a: 1, b: 1 }, 3), splitter({ a: 1, b: 1 }, 3, many)];
    expect(many.filter((id) => drawn(id) !== exact(id)).length).toBeLessThan(80);
    expect(countOf(exact, many)).toEqual({ a: 1_000, b: 1_000 });
  });

  test('want all problems', async () => {
    const splits = { train: 0.5, test: 0.5 };
    const { configs } = await write(['a', 'b', 'c', 'd'], {
      splits,
      allProblems: ['d', 'c', 'b', 'a'],
    });
    expect(configs[0]?.splits.map(({ problems }) => problems)).toEqual([2, 2]);
    await expect(write(['a', 'b'], { splits, allProblems: ['a'] })).rejects.toThrow(
      'Expected `allProblems` to be all problems, got `"none of b"`.',
    );
  });
});

describe('compressed JSON lines', () => {
  test('hold what the others hold, and the card declares them', async () => {
    const ids = Array.from({ length: 4_000 }, (_, place) => `problem ${place}`);
    await write(ids);
    const plain = read('dpo/train-00000-of-00001.jsonl');
    await write(ids, { file: 'jsonl.gz' });
    const path = join(out, 'dpo', 'train-00000-of-00001.jsonl.gz');
    expect(readdirSync(join(out, 'dpo'))).toEqual(['train-00000-of-00001.jsonl.gz']);
    const bytes = readFileSync(path);
    // More than one piece was compressed, and together they are the file.
    expect(plain.length).toBeGreaterThan(2 * 256 * 1024);
    expect(gunzipSync(bytes).toString('utf8')).toBe(plain);
    expect(bytes.subarray(0, 10).toString('hex')).toBe('1f8b08000000000000ff');
    expect(read('README.md')).toContain('path: "dpo/train-*.jsonl.gz"');
    expect(read('README.md')).toContain('dataset_info:');
    await write(ids.slice(0, 1));
    expect(readdirSync(join(out, 'dpo'))).toEqual(['train-00000-of-00001.jsonl']);
  });

  test('are refused where LLaMA-Factory is to read them', async () => {
    const configs = [{ rule: twoEach, format: alpaca }];
    await expect(write(['a'], { configs, file: 'jsonl.gz' })).rejects.toThrow(
      'Expected `file` to be jsonl or parquet for llama-factory-preference',
    );
  });
});

describe('options that are wrong', () => {
  const config = { rule: twoEach, format: text };

  test('are told', async () => {
    await expect(write(['a'], { configs: [] })).rejects.toThrow(
      'Expected `configs` to be one or more',
    );
    await expect(write(['a'], { configs: [config, config] })).rejects.toThrow('different names');
    await expect(write(['a'], { configs: [{ ...config, name: '../x' }] })).rejects.toThrow(
      'Expected `configs.name`',
    );
    await expect(write(['a'], { rowsPerFile: 0 })).rejects.toThrow('Expected `rowsPerFile`');
    await expect(write(['a'], { configs: [{ ...config, format: verl() }] })).rejects.toThrow(
      'Expected `configs.two-each.format` to be a format for rows of kind preference, got `"prompt"`.',
    );
    expect(readdirSync(out)).toEqual([]);
  });
});
