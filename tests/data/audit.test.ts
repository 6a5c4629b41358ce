import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import type { AuditCode, AuditReport } from '../../src/data/audit/report.ts';
import { foldersOfFiles } from '../support/folders-of-files.ts';

type Row = Readonly<Record<string, unknown>>;

const folder = foldersOfFiles();

function jsonLines(rows: readonly Row[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

function audit(
  rows: readonly Row[],
  options?: Parameters<typeof auditDataset>[1],
): Promise<AuditReport> {
  return auditDataset(folder({ 'train.jsonl': jsonLines(rows) }), options);
}

function codes({ findings }: AuditReport): readonly AuditCode[] {
  return findings.map(({ code }) => code);
}

const pair = { prompt: 'Which is greater?\n', chosen: 'Seven.', rejected: 'Eight.' };
const other = { prompt: 'Which is less?\n', chosen: 'Four.', rejected: 'Nine.' };
const turns = {
  prompt: [{ role: 'user', content: 'Which is greater?' }],
  chosen: [{ role: 'assistant', content: 'Seven.' }],
  rejected: [{ role: 'assistant', content: 'Eight.' }],
};
const steps = { prompt: 'Add.\n', completions: ['One.', 'Two.'], labels: [true, false] };
const share = {
  conversations: [{ from: 'human', value: 'Which?' }],
  chosen: { from: 'gpt', value: 'Seven.' },
  rejected: { from: 'gpt', value: 'Eight.' },
};
const unpaired = { prompt: 'Add.\n', completion: 'Two.', label: true };
const call = {
  role: 'assistant',
  content: '',
  tool_calls: [{ type: 'function', function: { name: 'look', arguments: {} } }],
};

/** Rows that have one fault, and rows beside them that lack it. */
interface Case {
  readonly faulty: readonly Row[];
  readonly sound: readonly Row[];
  readonly options?: Parameters<typeof auditDataset>[1];
}

const pairs = (count: number, chosen: (place: number) => string): readonly Row[] =>
  Array.from({ length: count }, (_, place) => ({
    prompt: `Question ${place}\n`,
    chosen: chosen(place),
    rejected: String(100 + place),
  }));

const labels = (count: number, right: number): readonly Row[] =>
  Array.from({ length: count }, (_, place) => ({
    prompt: `Question ${place}\n`,
    completion: `abc ${place}`,
    label: place < right,
  }));

const cases: Partial<Record<AuditCode, Case>> = {
  'equal-sides': {
    faulty: [{ ...pair, rejected: 'Seven.' }],
    sound: [pair],
  },
  'empty-side': { faulty: [{ ...pair, rejected: '  ' }], sound: [pair] },
  'empty-list': { faulty: [turns, { ...turns, prompt: [], x: 1 }].slice(1), sound: [turns] },
  'null-content': {
    faulty: [{ ...turns, rejected: [{ role: 'assistant', content: null }] }],
    sound: [{ ...turns, tools: '[{"name":"look"}]', rejected: [{ ...call, content: null }] }],
  },
  'missing-prompt': { faulty: [{ ...pair, prompt: ' \n' }], sound: [pair] },
  'missing-column': {
    faulty: [pair, { prompt: 'Which is less?\n', chosen: 'Four.' }],
    sound: [pair, other],
  },
  'wrong-type': { faulty: [{ ...pair, chosen: 7 }], sound: [pair] },
  'prompt-differs': {
    faulty: [{ chosen: 'Add. Seven.', rejected: 'Take. Eight.' }],
    sound: [pair],
  },
  'implicit-prompt': {
    faulty: [{ chosen: 'Add. Seven.', rejected: 'Add. Eight.' }],
    sound: [pair],
  },
  'prompt-repeated': {
    faulty: [
      {
        ...turns,
        chosen: [...turns.prompt, ...turns.chosen],
        rejected: [...turns.prompt, ...turns.rejected],
      },
    ],
    sound: [turns],
  },
  'negative-margin': { faulty: [{ ...pair, margin: -0.5 }], sound: [{ ...pair, margin: 0.5 }] },
  'low-margin': {
    faulty: [{ ...pair, q_chosen: 0.5, q_rejected: 0.4375, instruction: 'Add.\n' }],
    sound: [{ ...pair, q_chosen: 0.5, q_rejected: 0.375, instruction: 'Add.\n' }],
    options: { minMargin: 0.125 },
  },
  'boundary-space': {
    faulty: [{ ...pair, prompt: 'Which is greater? ' }],
    sound: [{ prompt: 'Which is greater?', chosen: ' Seven.', rejected: ' Eight.' }],
  },
  'separator-in-step': {
    faulty: [{ ...steps, completions: ['One.\nAnd.', 'Two.'] }],
    sound: [{ ...steps, completions: ['One.\nAnd.', 'Two.'], delimiter: '\n\n' }],
  },
  'label-count': { faulty: [{ ...steps, labels: [true] }], sound: [steps] },
  'label-type': { faulty: [{ ...steps, labels: [0.9, 0.1] }], sound: [steps] },
  duplicate: { faulty: [pair, pair], sound: [pair, other] },
  contradiction: {
    faulty: [pair, { ...pair, chosen: pair.rejected, rejected: pair.chosen }],
    sound: [pair, { ...other, chosen: pair.rejected, rejected: pair.chosen }],
  },
  'eos-asymmetry': {
    faulty: [{ ...pair, chosen: 'Seven.</s>' }],
    sound: [{ ...pair, chosen: 'Seven.</s>', rejected: 'Eight.</s>' }],
  },
  'prompt-too-long': {
    faulty: [{ ...pair, prompt: `${'x'.repeat(4 * 1023)}\n` }],
    sound: [{ ...pair, prompt: `${'x'.repeat(4 * 1021 - 1)}\n` }],
  },
  'label-balance': { faulty: labels(21, 2), sound: labels(20, 2) },
  'length-bias': {
    faulty: pairs(20, (place) => (place < 15 ? 'long' : 'ab')),
    sound: pairs(20, (place) => (place < 13 ? 'long' : 'ab')),
  },
  'mixed-types': {
    faulty: [
      { ...pair, note: 'a' },
      { ...other, note: 1 },
    ],
    sound: [
      { ...pair, note: null },
      { ...other, note: 1 },
    ],
  },
  'int-and-float': {
    faulty: [
      { ...pair, weight: 1 },
      { ...other, weight: 0.5 },
    ],
    sound: [
      { ...pair, weight: 1.5 },
      { ...other, weight: 0.5 },
    ],
  },
  'keys-differ': { faulty: [pair, { ...other, note: 'a' }], sound: [pair, other] },
  'invalid-role': {
    faulty: [{ ...share, conversations: [...share.conversations, ...share.conversations] }],
    sound: [share],
  },
  'tools-missing': {
    faulty: [{ ...turns, chosen: [call] }],
    sound: [{ ...turns, chosen: [call], tools: '[{"name":"look"}]' }],
  },
  'unknown-format': { faulty: [{ question: 'Which?', answer: 'Seven.' }], sound: [pair] },
};

describe('each check', () => {
  test.each(Object.entries(cases))('%s', async (code, { faulty, sound, options }) => {
    const report = await audit(faulty, options);
    expect(codes(report)).toEqual([code]);
    expect(report.findings[0]).toMatchObject({ config: 'default' });
    expect(report.findings[0]?.message).toMatch(/^[A-Z].*\.$/);
    expect(codes(await audit(sound, options))).toEqual([]);
  });

  test('counts what it finds, with three examples, by file and line', async () => {
    const report = await audit(
      [1, 2, 3, 4].map((n) => ({ prompt: `${n}\n`, chosen: `${n}\u0007`, rejected: `${n}\u0007` })),
    );

    expect(report.findings).toEqual([
      expect.objectContaining({
        code: 'equal-sides',
        count: 4,
        examples: [1, 2, 3].map((n) => ({ place: `train.jsonl:${n}`, excerpt: `${n}\\u{7}` })),
      }),
    ]);
  });

  test('a column tells which side ends', async () => {
    const ends = { chosen_ends: true, rejected_ends: false };

    expect(codes(await audit([{ ...pair, ...ends }]))).toEqual(['eos-asymmetry']);
    expect(codes(await audit([{ ...pair, ...ends, rejected_ends: true }]))).toEqual([]);
  });

  test('1.0 is a decimal number', async () => {
    const rows = [pair, other].map((row) => JSON.stringify(row).slice(0, -1));
    const sound = `${rows[0]},"weight":1.0}\n${rows[1]},"weight":0.5}\n`;

    expect(codes(await auditDataset(folder({ 'train.jsonl': sound })))).toEqual([]);
  });

  test('an unpaired row with both labels contradicts itself', async () => {
    const report = await audit([unpaired, { ...unpaired, label: false }]);

    expect(codes(report)).toEqual(['contradiction']);
  });
});

describe('splits', () => {
  const train = jsonLines([{ ...pair, problem_id: 'p-1' }]);

  test.each([
    ['problem_id', { ...other, problem_id: 'p-1' }, ['leakage']],
    ['another problem_id', { ...other, problem_id: 'p-2' }, []],
    [
      'the same row by another name',
      { ...pair, problem_id: 'p-2' },
      ['near-duplicate', 'shared-prompt'],
    ],
  ])('%s', async (_, row, expected) => {
    const files = { 'train.jsonl': train, 'test.jsonl': jsonLines([row]) };

    expect(codes(await auditDataset(folder(files)))).toEqual(expected);
  });

  test('without names, problems are told apart by their questions', async () => {
    const files = (prompt: string) => ({
      'dpo/train-00000.jsonl': jsonLines([pair]),
      'dpo/test-00000.jsonl': jsonLines([{ ...other, prompt }]),
    });
    const leaking = await auditDataset(folder(files(' which  IS greater?\n')));

    expect(codes(leaking)).toEqual(['leakage']);
    expect(leaking.findings[0]?.examples).toEqual([
      { place: 'dpo/train-00000.jsonl:1', excerpt: 'test and train' },
    ]);
    expect(leaking.sets.map(({ config, split, rows }) => [config, split, rows])).toEqual([
      ['dpo', 'test', 1],
      ['dpo', 'train', 1],
    ]);
    expect(codes(await auditDataset(folder(files('Which is less?\n'))))).toEqual([]);
  });

  test('the card says which files there are', async () => {
    const card = [
      '---',
      'configs:',
      '- config_name: first',
      '  data_files:',
      '  - split: train',
      '    path: "a/part-*.jsonl"',
      '  - {split: held, path: a/held.jsonl}',
      '- config_name: second',
      '  data_files: b.jsonl',
      'license: other',
      '---',
      'Text: none.',
    ].join('\n');
    const lines = jsonLines([pair]);
    const path = folder({
      'README.md': card,
      'a/part-1.jsonl': lines,
      'a/part-2.jsonl': jsonLines([other]),
      'a/held.jsonl': jsonLines([{ ...pair, prompt: 'Whose?\n' }]),
      'b.jsonl': lines,
      'ignored.json': '{"neither": 1}',
    });
    const report = await auditDataset(path);

    expect(
      report.sets.map(({ config, split, files, rows }) => [config, split, files, rows]),
    ).toEqual([
      ['first', 'train', 2, 2],
      ['first', 'held', 1, 1],
      ['second', 'train', 1, 1],
    ]);
    expect(codes(report)).toEqual([]);
  });
});

describe('what may be there twice', () => {
  test('a prompt that two problems come to is a warning, and names both', async () => {
    const row = { ...other, prompt: pair.prompt, problem_id: 'p-2' };
    const report = await auditDataset(
      folder({
        'train.jsonl': jsonLines([{ ...pair, problem_id: 'p-1' }]),
        'test.jsonl': jsonLines([row]),
      }),
    );

    expect(report.errors).toBe(0);
    expect(report.findings).toMatchObject([
      {
        code: 'shared-prompt',
        severity: 'warning',
        examples: [{ excerpt: 'test and train, under `p-2` and `p-1`' }],
      },
    ]);
  });

  test('equal samples of a group are meant to be there', async () => {
    const sample = {
      ...{ prompt: 'Which?', completion: ' Seven, as it is greater than all.', reward: 1 },
      ...{ group: 'g', advantages: '{"grpo":0}', steps: ['Seven'], step_advantages: '{}' },
    };
    const report = await audit([sample, sample]);

    expect(codes(report)).toEqual([]);
    expect(report.sets.map(({ formats }) => formats)).toEqual([['trl-rollout']]);
    const { prompt, completion } = sample;
    expect(codes(await audit([1, 2].map(() => ({ prompt, completion }))))).toEqual(['duplicate']);
  });
});

test.each([
  [
    'train.jsonl',
    `${JSON.stringify(other)}\n{"prompt":"p\\n","chosen":"a","rejected":"b","in":{"x":-1e400}}`,
  ],
  [
    'train.json',
    `[${JSON.stringify(other)},{"prompt":"p\\n","chosen":"a","rejected":"b","in":{"x":-1e400}}]`,
  ],
])('a number that no double holds is told as such, in %s', async (name, text) => {
  const { findings } = await auditDataset(folder({ [name]: text }));

  expect(findings).toMatchObject([
    {
      code: 'number-too-large',
      count: 1,
      examples: [{ place: `${name}:2`, excerpt: 'in.x: `-Infinity`' }],
    },
  ]);
  expect(findings[0]?.message).toContain('beyond the range of a double');
});

describe('files', () => {
  test('a broken line is told, and the others are read', async () => {
    const text = `${JSON.stringify(pair)}\n\n{"prompt": \n${JSON.stringify(other)}\n{"promp`;
    const report = await auditDataset(folder({ 'train.jsonl': text }));

    expect(report.findings).toEqual([
      expect.objectContaining({
        code: 'not-json',
        severity: 'error',
        count: 2,
        examples: [
          { place: 'train.jsonl:3', excerpt: '{"prompt": ' },
          { place: 'train.jsonl:5', excerpt: '{"promp' },
        ],
      }),
    ]);
    expect(report.sets[0]?.rows).toBe(2);
  });

  test.each([
    ['JSON array', 'train.json', JSON.stringify([pair, { ...other, chosen: 'Nine.' }])],
    ['JSON lines in .json', 'train.json', jsonLines([pair, { ...other, chosen: 'Nine.' }])],
  ])('%s', async (_, name, text) => {
    const report = await auditDataset(join(folder({ [name]: text }), name));

    expect(report.sets[0]?.rows).toBe(2);
    expect(codes(report)).toEqual(['equal-sides']);
    expect(report.findings[0]?.examples[0]?.place).toBe('train.json:2');
  });

  test('Parquet, in several groups of rows', async () => {
    const path = folder({ 'train.parquet': '' });
    const rows = [pair, other, { ...pair, prompt: 'Whose?\n', chosen: 'Eight.' }];
    const column = (name: keyof typeof pair) => ({
      name,
      data: rows.map((row) => row[name]),
      type: 'STRING' as const,
    });
    const margin = { name: 'margin', data: [1n, 2n, -3n], type: 'INT64' as const };
    const buffer = parquetWriteBuffer({
      columnData: [column('prompt'), column('chosen'), column('rejected'), margin],
      rowGroupSize: 2,
    });
    writeFileSync(join(path, 'train.parquet'), new Uint8Array(buffer));
    const report = await auditDataset(path);

    expect(report.sets[0]).toMatchObject({ rows: 3, formats: ['trl-preference'] });
    expect(report.findings.map(({ code, examples }) => [code, examples[0]?.place])).toEqual([
      ['equal-sides', 'train.parquet:3'],
      ['negative-margin', 'train.parquet:3'],
    ]);
  });

  test('a broken Parquet file and an empty file', async () => {
    const report = await auditDataset(
      folder({ 'a.parquet': 'PAR1, and then nothing', 'b.jsonl': '\n' }),
    );

    expect(codes(report)).toEqual(['unreadable-file', 'no-rows']);
  });

  test.each(['nowhere', '.'])('what cannot be read: %s', async (name) => {
    const path = join(folder({ 'notes.txt': 'a' }), name);

    await expect(auditDataset(path)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^Expected `.+` to /) as string,
    });
  });

  test.each([{ minMargin: -1 }, { maxLength: 0 }])('refuses %j', async (options) => {
    await expect(audit([pair], options)).rejects.toThrow(/^Expected `/);
  });
});
