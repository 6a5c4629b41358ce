import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { wilsonInterval } from '../../src/base/stats/wilson-interval.ts';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';

const root = mkdtempSync(join(tmpdir(), 'espalier-forms-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function user(content: string) {
  return { role: 'user', content };
}

function assistant(content: string) {
  return { role: 'assistant', content };
}

const sides = { chosen: 'Seven.', rejected: 'Eight.' };
const saidSides = { chosen: [assistant('Seven.')], rejected: [assistant('Eight.')] };
const human = { from: 'human', value: 'Which?' };
const gpt = { from: 'gpt', value: 'Seven.' };
const rated = {
  question: { problem: 'Which?' },
  label: {
    steps: [{ completions: [{ text: 'a', rating: 1 }], chosen_completion: 0 }],
    finish_reason: 'solution',
  },
};

const forms: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['trl-preference', { prompt: 'Which?\n', ...sides }],
  ['trl-conversational-preference', { prompt: [user('Which?')], ...saidSides }],
  ['trl-unpaired', { prompt: 'Which?\n', completion: 'Seven.', label: false }],
  [
    'trl-conversational-unpaired',
    { prompt: [user('Which?')], completion: [assistant('Seven.')], label: true },
  ],
  ['trl-stepwise', { prompt: 'Which?\n', completions: ['a', 'b'], labels: [true, false] }],
  ['trl-sft', { prompt: 'Which?\n', completion: 'Seven.' }],
  ['trl-conversational-sft', { messages: [user('Which?'), assistant('Seven.')] }],
  ['trl-text', { text: 'Which? Seven.' }],
  ['trl-prompt', { prompt: 'Which?\n', answer: '7' }],
  ['trl-conversational-prompt', { prompt: [user('Which?')] }],
  ['verl-prompt', { data_source: 'x', prompt: [user('Which?')], extra_info: { index: 0 } }],
  ['llama-factory-preference', { instruction: 'Which?\n', input: '', ...sides }],
  ['llama-factory-sft', { instruction: 'Which?\n', input: '', output: 'Seven.' }],
  ['llama-factory-unpaired', { instruction: 'Which?\n', output: 'Seven.', kto_tag: true }],
  [
    'llama-factory-sharegpt-preference',
    { conversations: [human], chosen: gpt, rejected: { from: 'gpt', value: 'Eight.' } },
  ],
  ['llama-factory-sharegpt-sft', { conversations: [human, gpt] }],
  ['llama-factory-sharegpt-unpaired', { conversations: [human, gpt], kto_tag: false }],
  ['step-dpo-preference', { prompt: 'Which?\n', initial_reason_steps: '', ...sides }],
  ['step-apo-preference', { instruction: 'Which?\n', ...sides, q_chosen: 0.5, q_rejected: -0.5 }],
  [
    'openai-preference',
    {
      input: { messages: [user('Which?')] },
      preferred_output: saidSides.chosen,
      non_preferred_output: saidSides.rejected,
    },
  ],
  ['prm800k-stepwise', rated],
  [
    'math-shepherd-stepwise',
    {
      input: 'Which? Step 1: a ки\nStep 2: b ки',
      label: 'Which? Step 1: a +\nStep 2: b -',
      task: 'x',
    },
  ],
  ['axolotl-preference', { messages: [user('Which?')], ...saidSides }],
];

async function report(rows: readonly unknown[], name = 'train.jsonl') {
  const path = join(root, name);
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  return auditDataset(path);
}

describe('forms', () => {
  test.each(forms)('%s is recognised, and clean', async (name, row) => {
    const { sets, findings } = await report([row]);
    // Hosted fine-tuning takes no single row.
    const isHosted = name === 'openai-preference' || name === 'trl-conversational-sft';

    expect(sets[0]?.formats).toEqual([name]);
    expect(findings.map(({ code }) => code)).toEqual(isHosted ? ['few-rows'] : []);
  });

  test('distilabel: the sides repeat the prompt', async () => {
    const repeated = (text: string) => [user('Which?'), assistant(text)];
    const row = {
      prompt: 'Which?',
      prompt_id: 'a',
      chosen: repeated('a'),
      rejected: repeated('b'),
    };
    const { sets, findings } = await report([row]);
    const odd = await report([{ ...row, rejected: [user('What?'), assistant('b')] }]);

    expect(sets[0]?.formats).toEqual(['distilabel-preference']);
    expect(findings.map(({ code }) => code)).toEqual(['prompt-repeated']);
    expect(odd.findings.map(({ code }) => code)).toEqual(['prompt-differs']);
  });

  test('conversations without a prompt of their own', async () => {
    const of = (question: string, text: string) => [user(question), assistant(text)];
    const same = await report([{ chosen: of('Which?', 'a'), rejected: of('Which?', 'b') }]);
    const differ = await report([{ chosen: of('Which?', 'a'), rejected: of('What?', 'b') }]);

    expect(same.findings.map(({ code }) => code)).toEqual(['implicit-prompt']);
    expect(differ.findings.map(({ code }) => code)).toEqual(['prompt-differs']);
  });
});

describe('what forms say besides', () => {
  test('what is told in columns of the form tells rows apart', async () => {
    const dpo = { prompt: 'Which?\n', initial_reason_steps: 'a', ...sides };
    const chosen = (place: number) => ({
      ...rated,
      label: { steps: [{ ...rated.label.steps[0], chosen_completion: place }] },
    });

    expect((await report([dpo, { ...dpo, initial_reason_steps: 'b' }])).findings).toEqual([]);
    expect((await report([dpo, dpo])).findings.map(({ code }) => code)).toEqual(['duplicate']);
    const codes = async (rows: readonly unknown[]) =>
      (await report(rows)).findings.map(({ code }) => code);
    // All labels are positive.
    expect(await codes([chosen(0), chosen(1)])).toEqual(['label-balance']);
    expect(await codes([rated, rated])).toEqual(['duplicate', 'label-balance']);
  });

  test('ratings and signs are labels', async () => {
    const odd = { ...rated, label: { steps: [{ completions: [{ text: 'a', rating: 2 }] }] } };
    const short = {
      input: 'Which? Step 1: a ки\nStep 2: b ки',
      label: 'Which? Step 1: a +',
      task: 'x',
    };

    expect((await report([odd])).findings.map(({ code }) => code)).toEqual(['label-type']);
    expect((await report([short])).findings.map(({ code }) => code)).toEqual(['label-count']);
  });

  test('dataset_info.json names columns and turns', async () => {
    const path = join(root, 'mapped');
    mkdirSync(path);
    const info = {
      pairs: {
        file_name: 'pairs.json',
        ranking: true,
        columns: { prompt: 'question', chosen: 'good', rejected: 'bad' },
      },
      talks: {
        file_name: 'talks.json',
        formatting: 'sharegpt',
        columns: { messages: 'talk' },
        tags: { role_tag: 'who', content_tag: 'says' },
      },
    };
    writeFileSync(join(path, 'dataset_info.json'), JSON.stringify(info));
    const pairs = [{ question: 'Which?\n', good: 'Seven.', bad: 'Seven.' }];
    writeFileSync(join(path, 'pairs.json'), JSON.stringify(pairs));
    const talks = [
      {
        talk: [
          { who: 'user', says: 'Whose?' },
          { who: 'user', says: 'Mine.' },
        ],
      },
    ];
    writeFileSync(join(path, 'talks.json'), JSON.stringify(talks));
    const { findings } = await auditDataset(path);

    expect(findings.map(({ code, examples }) => [code, examples[0]?.place])).toEqual([
      ['equal-sides', 'pairs.json:1'],
      ['invalid-role', 'talks.json:1'],
      // Both files are one configuration, which a loader would refuse.
      ['keys-differ', 'talks.json:1'],
    ]);
  });
});

test('all faults at once are all told', async () => {
  const row = { prompt: 'Which?\n', chosen: 'Seven.', rejected: 'Eight.', margin: 0.5 };
  const { findings, errors, warnings } = await report([
    row,
    row,
    { ...row, chosen: row.rejected, rejected: row.chosen },
    { ...row, rejected: 'Seven.', prompt: 'a\n' },
    { ...row, rejected: '', prompt: 'b\n' },
    { ...row, rejected: null, prompt: 'c\n' },
    { ...row, rejected: [], prompt: 'd\n' },
    { ...row, prompt: '' },
    { chosen: 'Four.', rejected: 'Nine.', margin: 0.5 },
    { ...row, margin: -1, prompt: 'e\n' },
    { ...row, margin: 'much', prompt: 'f ' },
    { ...row, chosen: 'Seven.</s>', prompt: 'g\n', note: 1 },
    { ...row, prompt: `${'x'.repeat(5000)}\n` },
    { ...row, prompt: [user('h')], chosen: [{ role: 'gpt', content: 'Seven.' }] },
    7,
  ]);

  expect(findings.map(({ code }) => code)).toEqual([
    'contradiction',
    'empty-list',
    'empty-side',
    'equal-sides',
    'invalid-role',
    'missing-prompt',
    'mixed-types',
    'negative-margin',
    'null-content',
    'wrong-type',
    'boundary-space',
    'duplicate',
    'eos-asymmetry',
    'int-and-float',
    'keys-differ',
    'prompt-too-long',
  ]);
  expect([errors, warnings]).toEqual([10, 6]);
});

test('facts: lengths, margins, labels', async () => {
  const rows = [
    { prompt: 'abcdefg\n', chosen: 'abcd', rejected: 'ab', margin: 0.5 },
    { prompt: 'abc\n', chosen: 'ab', rejected: 'abcd', margin: 0.25 },
    { prompt: 'abd\n', chosen: 'ab', rejected: 'cd', margin: 0.75 },
  ];
  const { sets } = await report(rows);
  const facts = Object.fromEntries((sets[0]?.facts ?? []).map(({ name, value }) => [name, value]));

  // 8, 4 and 4 characters are 2, 1 and 1 tokens; ratios are 2, 0.5 and 1; equal lengths are no side's.
  expect(facts['mean prompt, tokens']).toBeCloseTo(4 / 3, 12);
  expect(facts['longest prompt, tokens']).toBe(2);
  expect(facts['pairs of unequal length']).toBe(2);
  expect(facts['chosen longer, share']).toBe(0.5);
  expect(facts['chosen / rejected length, mean']).toBeCloseTo(3.5 / 3, 12);
  expect(facts['mean margin']).toBe(0.5);
  expect(facts['least margin']).toBe(0.25);
});

test('the interval of a share is Wilson’s', () => {
  // (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n) with p = 0.75, n = 20, z = 1.96.
  const { low, high } = wilsonInterval(15, 20);

  expect(low).toBeCloseTo(0.5313, 4);
  expect(high).toBeCloseTo(0.8881, 4);
  expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
});
