import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import { ColumnTypes } from '../../src/data/audit/column-types.ts';
import { estimateTokens, readTokenizer } from '../../src/data/audit/tokenizer.ts';
import { distinctCounter } from '../../src/data/distinct-count.ts';
import { HashTable, hashOf } from '../../src/data/hash-table.ts';
import { MinHash } from '../../src/data/min-hash.ts';
import { pairDepths } from '../../src/data/pair-depths.ts';
import { ShingleReader } from '../../src/data/shingles.ts';

const root = mkdtempSync(join(tmpdir(), 'espalier-parts-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function fileIn(name: string, content: Buffer | string): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

const pair = { prompt: 'Which is greater?\n', chosen: 'Seven.', rejected: 'Eight.' };

describe('files', () => {
  test('.gz is read, and a broken one is told', async () => {
    const bytes = gzipSync(`${JSON.stringify(pair)}\n`);
    const whole = await auditDataset(fileIn('whole.jsonl.gz', bytes));
    const cut = await auditDataset(fileIn('cut.jsonl.gz', bytes.subarray(0, 40)));

    expect([whole.sets[0]?.rows, whole.findings]).toEqual([1, []]);
    expect(cut.findings.map(({ code }) => code)).toEqual(['unreadable-file']);
  });

  test.each([
    ['rows.csv', 'is CSV'],
    ['rows.tsv.gz', 'is CSV'],
    ['rows.arrow', 'is Arrow'],
    ['rows.zip', 'is an archive'],
  ])('%s is named in one sentence', async (name, what) => {
    const path = fileIn(name, 'a,b\n1,2\n');

    await expect(auditDataset(path)).rejects.toThrow(
      `\`${path}\` ${what}, which is not supported: write it as JSON lines`,
    );
  });
});

describe('numbers of columns', () => {
  test('are told apart as the text has them, not as a text within it says', () => {
    const types = new ColumnTypes();
    const look = (source: string) =>
      types.look(JSON.parse(source) as Record<string, unknown>, source).map(({ code }) => code);

    expect(look('{"n": 1, "in": {"n": 2.0}, "said": "\\\\"}')).toEqual([]);
    expect(look('{"n": 1, "said": "so \\"n\\": 1.0"}')).toEqual([]);
    expect(look('{"said": "\\"n\\": 1", "\\u006e":1.0}')).toEqual(['int-and-float']);
  });

  test('take time in proportion to how many there are', () => {
    const names = Array.from({ length: 40_000 }, (_, place) => [`column ${place}`, place]);
    const columns = Object.fromEntries(names) as Record<string, number>;
    const source = JSON.stringify(columns);
    const before = process.cpuUsage();

    expect(new ColumnTypes().look(columns, source)).toEqual([]);
    // In proportion to their square it takes longer than ten seconds.
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});

/** Three tokens beside the letters: `ab`, `abc` and `Ġa`. */
const tokenizerJson = {
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
  post_processor: null,
  decoder: { type: 'ByteLevel' },
  model: {
    type: 'BPE',
    vocab: { a: 0, b: 1, c: 2, Ġ: 3, ab: 4, abc: 5, Ġa: 6 },
    merges: ['a b', 'ab c', 'Ġ a'],
  },
};

describe('tokens', () => {
  test('without a tokenizer, four bytes make one', () => {
    expect(['', 'abcd', 'abcde', 'äöüß', '中文'].map(estimateTokens)).toEqual([0, 1, 2, 2, 2]);
  });

  test('a tokenizer.json', async () => {
    const count = await readTokenizer(fileIn('tokenizer.json', JSON.stringify(tokenizerJson)));

    // abc · Ġa b c would join a and b first: `Ġ a` comes last, so that it is Ġ · abc.
    expect([count(''), count('abc'), count('abcab'), count('abc abc')]).toEqual([0, 1, 2, 3]);
  });

  test('a GGUF file', async () => {
    const count = await readTokenizer(join(import.meta.dirname, '../../models/tiny.gguf'));

    expect(count('')).toBe(0);
    expect(count('4 9 10 13')).toBeGreaterThan(3);
    expect(count('4 9 10 13')).toBeLessThan(12);
  });

  test.each([
    ['notes.json', '{"a": 1}'],
    ['cut.json', '{"model":'],
    ['none.json', undefined],
  ])('%s is refused', async (name, text) => {
    const path = text === undefined ? join(root, name) : fileIn(name, text);

    await expect(readTokenizer(path)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('to be a `tokenizer.json`') as string,
    });
  });

  test('count the tools, and both texts together', async () => {
    const row = {
      prompt: [{ role: 'user', content: 'x'.repeat(40) }],
      chosen: [{ role: 'assistant', content: 'y'.repeat(20) }],
      rejected: [{ role: 'assistant', content: 'z'.repeat(24) }],
      tools: JSON.stringify([{ function: { name: 'a' } }]),
    };
    const path = fileIn('tools.jsonl', JSON.stringify(row));
    const codes = async (maxLength: number) =>
      (await auditDataset(path, { maxLength })).findings.map(({ code }) => code);

    // 10 tokens and 4 around the turn; [{"function":{"name":"a"}}] are 27 bytes, 7 tokens; the longer side is 6 + 4.
    expect(await codes(31)).toEqual([]);
    expect(await codes(30)).toEqual(['row-too-long']);
    expect(await codes(22)).toEqual(['row-too-long']);
    expect(await codes(21)).toEqual(['prompt-too-long']);
  });
});

describe('different texts', () => {
  test.each([0, 1, 4096])('%i are counted exactly', (count) => {
    const counter = distinctCounter();
    for (let turn = 0; turn < 2; turn++) {
      for (let text = 0; text < count; text++) counter.add(hashOf(String(text)));
    }

    expect(counter.count()).toBe(count);
  });

  test('many within some 3 %', () => {
    const counter = distinctCounter();
    for (let text = 0; text < 60_000; text++) counter.add(hashOf(String(text % 30_000)));

    expect(Math.abs(counter.count() / 30_000 - 1)).toBeLessThan(0.04);
  });

  test('a table holds what a map holds', () => {
    const table = new HashTable();
    const map = new Map<number, number>();
    const random = seededRandom(1);
    for (let turn = 0; turn < 5_000; turn++) {
      const key = random.integer(3_000) * 2 ** 38;
      expect(table.get(key)).toBe(map.get(key));
      table.set(key, turn % 256);
      map.set(key, turn % 256);
    }
    expect([0, 0, 5].map((key) => new HashTable().add(key))).toEqual([true, true, true]);
  });
});

describe('shingles', () => {
  const reader = new ShingleReader();
  const read = (text: string) => {
    const { shingles, numbers } = reader.read([text]);
    return { shingles: [...shingles], numbers };
  };

  test('case and punctuation do not count, words and their order do', () => {
    expect(read('One, two; THREE four!')).toEqual(read('one two three four'));
    expect(read('one two three four').shingles).toHaveLength(2);
    expect(read('two one three four')).not.toEqual(read('one two three four'));
    expect(read('one two').shingles).toHaveLength(1);
    expect(read('… —').shingles).toEqual([]);
    // Each character of Chinese is a word: four of them make two shingles.
    expect(read('你好世界').shingles).toHaveLength(2);
  });

  test('numbers are told apart, whatever stands around them', () => {
    expect(read('a 12 b').numbers).toBe(read('c 12, d').numbers);
    expect(read('a 12 b').numbers).not.toBe(read('a 13 b').numbers);
  });

  test('the share of equal minima is an estimate of Jaccard’s similarity', () => {
    let sum = 0;
    const texts = 200;
    for (let text = 0; text < texts; text++) {
      const hash = new MinHash();
      const random = seededRandom(text);
      const [shared, one, other] = [60, 20, 20].map((count) =>
        Uint32Array.from({ length: count }, () => random.integer(2 ** 32)),
      );
      const [left, right] = [one, other].map((own) =>
        hash.signatureOf({
          shingles: Uint32Array.from([...(shared ?? []), ...(own ?? [])]),
          numbers: 0,
          text: 0,
        }),
      );
      sum += [...(left ?? [])].filter((byte, place) => byte === right?.[place]).length / 32;
    }

    // 60 of 100 shingles are in both.
    expect(sum / texts).toBeGreaterThan(0.57);
    expect(sum / texts).toBeLessThan(0.63);
  });
});

describe('pairs by depth', () => {
  const place = {
    depth: 1,
    isLast: false,
    chosenRight: true,
    rejectedRight: false,
    margin: 0.5,
  };

  test('are counted by what is right', () => {
    const depths = pairDepths();
    depths.add(place);
    depths.add({ ...place, rejectedRight: true, isLast: true, margin: 1 });
    depths.add({ ...place, depth: 0, chosenRight: false, margin: undefined });
    depths.add({ ...place, depth: 0, chosenRight: undefined, isLast: true, margin: undefined });

    expect(depths.report()).toEqual([
      {
        depth: 0,
        pairs: 2,
        last: 0,
        rightWrong: 0,
        rightRight: 0,
        wrongWrong: 1,
        unknown: 1,
        meanMargin: undefined,
      },
      {
        depth: 1,
        pairs: 2,
        last: 1,
        rightWrong: 1,
        rightRight: 1,
        wrongWrong: 0,
        unknown: 0,
        meanMargin: 0.75,
      },
    ]);
  });

  test.each([
    [11, 9, { pairs: 20, last: 11, wrongWrong: 0 }],
    [10, 10, undefined],
    [19, 0, undefined],
  ])('%i last ones and %i others', (last, others, expected) => {
    const depths = pairDepths();
    for (let pairs = 0; pairs < last; pairs++) depths.add({ ...place, isLast: true });
    for (let pairs = 0; pairs < others; pairs++) depths.add(place);

    expect(depths.idle()).toEqual(expected);
  });

  test('whole answers are no last steps', () => {
    const depths = pairDepths();
    for (let pairs = 0; pairs < 40; pairs++) depths.add({ ...place, depth: 0, isLast: true });

    expect(depths.idle()).toBeUndefined();
    expect(depths.report()).toMatchObject([{ pairs: 40, last: 0 }]);
  });
});
