import { describe, expect, test } from 'vitest';
import { datasetCard } from '../../src/data/writers/card.ts';
import { histogramCounter } from '../../src/data/writers/histogram.ts';
import { codeSpan, prose, yamlString } from '../../src/data/writers/markdown.ts';
import type { ConfigReport, DatasetReport } from '../../src/data/writers/report.ts';

const config: ConfigReport = {
  name: 'dpo',
  rule: 'mcts-dpo',
  format: 'trl-preference',
  kind: 'preference',
  columns: {
    prompt: 'string',
    margin: { optional: 'float' },
    turns: { list: { struct: { role: 'string', call: 'json' } } },
    ids: { list: 'int' },
  },
  usage: 'load_dataset("<this dataset>", "<configuration>")',
  rows: 1_200,
  splits: [
    { name: 'train', problems: 9, rows: 1_100, files: ['train-00000-of-00001.parquet'] },
    { name: 'test', problems: 1, rows: 100, files: ['test-00000-of-00001.parquet'] },
  ],
  refused: [{ reason: 'The completion is empty.', rows: 1 }],
  margins: {
    bins: [
      { from: 0.1, to: 0.2, count: 4 },
      { from: 0.2, to: 0.3, count: 1 },
    ],
    count: 5,
    mean: 0.15,
  },
  lengths: {
    chosen: { bins: [{ from: 16, to: Number.POSITIVE_INFINITY, count: 5 }], count: 5, mean: 20 },
  },
  distinct: { chosen: 4 },
  depths: [
    {
      depth: 0,
      pairs: 5,
      last: 0,
      rightWrong: 1,
      rightRight: 0,
      wrongWrong: 3,
      unknown: 1,
      meanMargin: 0.15,
    },
  ],
  idle: undefined,
  labels: { positive: 3, negative: 2 },
  sources: {
    methods: ['mcts'],
    models: ['openai:gpt'],
    guidance: { 'oracle-guided': 0, rewarded: 1_200, 'self-evaluated': 0 },
    stamps: [],
  },
};

const report: DatasetReport = {
  out: 'data',
  problems: 10,
  trees: 12,
  rows: 1_200,
  configs: [config],
};

test('the card tells what a rule makes, whose it is, and its options', () => {
  const named = (rule: Partial<ConfigReport>) =>
    datasetCard({ ...report, configs: [{ ...config, ...rule }] }, { file: 'parquet' })
      .split('\n')
      .find((line) => line.startsWith('Rule'));

  expect(named({})).toBe('Rule `mcts-dpo`, form `trl-preference`.');
  expect(
    named({
      title: 'best against worst',
      paper: 'Xie et al., 2024',
      options: { rightOnly: true },
    }),
  ).toBe(
    'Rule `mcts-dpo` (best against worst; Xie et al., 2024; `{"rightOnly":true}`), form `trl-preference`.',
  );
  expect(named({ options: { back: () => '' } })).toBe('Rule `mcts-dpo`, form `trl-preference`.');
});

describe('the card', () => {
  test('has front matter that the Hub reads', () => {
    const [, front] = datasetCard(report, { file: 'parquet', tags: ['math'] }).split('---\n');
    expect(front).toBe(
      `configs:
- config_name: "dpo"
  default: true
  data_files:
  - split: "train"
    path: "dpo/train-*.parquet"
  - split: "test"
    path: "dpo/test-*.parquet"
tags:
- "dpo"
- "preference"
- "math"
- "tree-search"
task_categories:
- text-generation
size_categories:
- 1K<n<10K
license: "other"
`,
    );
  });

  test('tells the types of JSON lines, which do not tell them', () => {
    const [, front = ''] = datasetCard(report, { file: 'jsonl' }).split('---\n');
    expect(front.slice(front.indexOf('dataset_info'), front.indexOf('tags:'))).toBe(
      `dataset_info:
- config_name: "dpo"
  features:
  - name: "prompt"
    dtype: string
  - name: "margin"
    dtype: float64
  - name: "turns"
    list:
    - name: "role"
      dtype: string
    - name: "call"
      dtype: json
  - name: "ids"
    list: int64
`,
    );
  });

  test.each([
    [0, 'n<1K'],
    [999, 'n<1K'],
    [1_000, '1K<n<10K'],
    [10_000, '10K<n<100K'],
    [1_000_000, '1M<n<10M'],
    [2e9, 'n>1B'],
  ])('says how large %d rows are', (rows, size) => {
    expect(datasetCard({ ...report, rows }, { file: 'jsonl' })).toContain(`\n- ${size}\n`);
  });

  test('tells what is in it', () => {
    const spend = { simulations: 0, nodes: 0, calls: 5, tokens: 1_000, usd: 0.125, ms: 2_500 };
    const text = datasetCard(report, {
      file: 'parquet',
      source: 'runs/a_b',
      spend,
      repo: 'me/data',
    });
    for (const part of [
      '1200 rows made by [espalier](https://www.npmjs.com/package/espalier) from 12 search trees over 10 problems.',
      'Source: runs/a\\_b',
      'Spent: 5 calls, 1000 tokens, $0.125.\n',
      'Rule `mcts-dpo`, form `trl-preference`.',
      '| train | 9 | 1100 |\n| test | 1 | 100 |',
      'Labels: 3 positive, 2 negative.',
      'Different texts: chosen 4.',
      '| 0 | 5 | 0 | 1 | 0 | 3 | 1 | 0.15 |',
      `margin, mean 0.15\n0.1 to 0.2  4  ${'#'.repeat(40)}\n0.2 to 0.3  1  ${'#'.repeat(10)}\n`,
      `chosen, characters, mean 20\n16 and more  5  ${'#'.repeat(40)}\n`,
      '- 1 row: The completion is empty.',
      '- methods: `mcts`\n- models: `openai:gpt`\n- guidance: rewarded (1200 rows)',
      'load_dataset("me/data", "dpo")',
    ]) {
      expect(text).toContain(part);
    }
  });

  test('cannot be broken by names', () => {
    const evil = '`x`\n---\nconfigs: []\n<script>alert(1)</script> [a](javascript:b) | c';
    const sources = { ...config.sources, models: [evil], methods: [evil], stamps: [evil] };
    const refused = [{ reason: evil, rows: 1 }];
    const text = datasetCard(
      { ...report, configs: [{ ...config, refused, sources }] },
      { file: 'jsonl', title: evil, source: evil, license: evil, tags: [evil], repo: '"; rm -rf' },
    );
    const lines = text.split('\n');
    expect(lines.filter((line) => line === '---')).toHaveLength(2);
    expect(lines.filter((line) => line.startsWith('configs:'))).toHaveLength(1);
    // Outside code spans no tag begins and no link ends.
    const outside = text.split('---\n')[2]?.replaceAll(/(`+) .*? \1(?!`)/g, '') ?? '';
    expect(outside).not.toMatch(/(?<!\\)<script/);
    expect(outside).not.toMatch(/(?<!\\)\]\(javascript/);
    expect(text).not.toContain('rm -rf');
  });
});

test('the card tells the files of the trees by their hashes', () => {
  const files = [
    { name: 'run/trees.jsonl', sha256: 'ab'.repeat(32), madeBy: 'espalier 0.1.0, mcts' },
  ];
  const text = datasetCard(report, { file: 'jsonl', files });
  expect(text).toContain(`| run/trees.jsonl | \`${'ab'.repeat(32)}\` | espalier 0.1.0, mcts |`);
  expect(text).not.toContain('sorted line hashes');
  const byLine = files.map((file) => ({ ...file, isByLine: true }));
  expect(datasetCard(report, { file: 'jsonl', files: byLine })).toContain('sorted line hashes');
});

test('warns where most pairs teach little', () => {
  const card = (idle: ConfigReport['idle']) =>
    datasetCard({ ...report, configs: [{ ...config, idle }] }, { file: 'parquet' });

  expect(card(undefined)).not.toContain('teach little');
  expect(card({ pairs: 40, last: 18, wrongWrong: 7 })).toContain(
    'of 40, 18 diverge at the last step and 7 others have two wrong sides.',
  );
});

describe('what others wrote', () => {
  test('is one code span, whatever it holds', () => {
    expect(codeSpan('gpt')).toBe('`gpt`');
    expect(codeSpan('a`b')).toBe('``a`b``');
    expect(codeSpan('``a')).toBe('``` ``a ```');
    expect(codeSpan('a\r\n\u2028b')).toBe('`a b`');
    expect(codeSpan('a\u202eb')).toBe('`a\\u202eb`');
    expect(yamlString('a\u202eb')).toBe('"a\\\\u202eb"');
    expect(codeSpan('x'.repeat(300))).toBe(`\`${'x'.repeat(199)}…\``);
  });

  test('is literal prose, and one string of YAML', () => {
    expect(prose('a_b *c* <d>\n# e')).toBe('a\\_b \\*c\\* \\<d\\> \\# e');
    expect(yamlString('a"\n: b')).toBe('"a\\" : b"');
  });
});

describe('a histogram', () => {
  test('counts in fixed bins', () => {
    const counter = histogramCounter([0, 1, 2, 4, 8]);
    for (const value of [-1, 0.5, 1, 1.5, 4, 9]) counter.add(value);
    expect(counter.histogram()).toEqual({
      // −1 and 0.5, 1 and 1.5, nothing, 4, 9.
      bins: [
        { from: 0, to: 1, count: 2 },
        { from: 1, to: 2, count: 2 },
        { from: 2, to: 4, count: 0 },
        { from: 4, to: 8, count: 1 },
        { from: 8, to: Number.POSITIVE_INFINITY, count: 1 },
      ],
      count: 6,
      mean: 2.5,
    });
    expect(histogramCounter([0, 1]).histogram()).toEqual({ bins: [], count: 0, mean: 0 });
  });
});
