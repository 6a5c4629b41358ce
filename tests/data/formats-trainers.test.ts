import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/contracts/language-model.ts';
import { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import { mapRow } from '../../src/data/formats/map-row.ts';
import { chatmlPrompt } from '../../src/data/formats/render.ts';
import { verl } from '../../src/data/formats/verl.ts';
import type { RowKind } from '../../src/data/rows.ts';
import { jsonLinesWriter } from '../../src/data/writers/json-lines-writer.ts';
import {
  asks,
  call,
  formOf,
  origin,
  preference,
  prompt,
  result,
  says,
  sft,
  tools,
  toolsText,
  unpaired,
  writtenBy,
} from './formats-rows.ts';

describe('the forms for LLaMA-Factory', () => {
  test('write Alpaca columns', () => {
    const shared = { instruction: 'What is 2 + 2?\n', input: '' };
    expect(formOf('llama-factory', 'preference').write(preference())).toEqual({
      ...shared,
      chosen: 'It is 4.',
      rejected: 'It is 5.',
    });
    expect(formOf('llama-factory', 'unpaired').write(unpaired())).toEqual({
      ...shared,
      output: 'It is 4.',
      kto_tag: true,
    });
    expect(formOf('llama-factory', 'sft').write(sft())).toEqual({ ...shared, output: 'It is 4.' });
  });

  test('write ShareGPT turns', () => {
    const row = preference({
      prompt: [{ role: 'system', content: 'S' }, asks('Q'), call, result],
      tools,
    });
    expect(formOf('llama-factory-sharegpt', 'preference').write(row)).toEqual({
      conversations: [
        { from: 'system', value: 'S' },
        { from: 'human', value: 'Q' },
        { from: 'function_call', value: '{"name":"weather","arguments":{"city":"Oslo"}}' },
        { from: 'observation', value: '4 °C' },
      ],
      chosen: { from: 'gpt', value: 'It is 4.' },
      rejected: { from: 'gpt', value: 'It is 5.' },
      tools: toolsText,
    });
    expect(formOf('llama-factory-sharegpt', 'unpaired').write(unpaired())).toEqual({
      conversations: [
        { from: 'human', value: 'What is 2 + 2?' },
        { from: 'gpt', value: 'It is 4.' },
      ],
      kto_tag: true,
      tools: '',
    });
  });

  test.each([
    [
      preference({ prompt: [asks('a'), says('b')] }),
      'The conversation does not end where the completion begins.',
    ],
    [
      preference({ prompt: [asks('a'), asks('b')] }),
      'The turns of the model and of others do not alternate.',
    ],
    [
      preference({ chosen: [says('a'), asks('b'), says('c')] }),
      'The completion is not one turn of the assistant.',
    ],
    [
      preference({ chosen: [{ ...call, content: 'I ask.' }] }),
      'A turn calls a tool and speaks besides.',
    ],
  ])('refuse what its loader would skip: %#', (row, reason) => {
    const form = formOf('llama-factory-sharegpt', 'preference');
    expect(form.write(row)).toBe(reason);
  });
});

describe('the file that LLaMA-Factory reads first', () => {
  test('names each data file', () => {
    const info = (family: string, kind: RowKind, ...files: string[]) =>
      JSON.parse(formOf(family, kind).extraFiles?.(files)['dataset_info.json'] ?? '') as unknown;
    expect(
      info(
        'llama-factory',
        'preference',
        'train-00000-of-00001.jsonl',
        'test-00001-of-00002.jsonl',
      ),
    ).toEqual({
      train: {
        file_name: 'train-00000-of-00001.jsonl',
        ranking: true,
        columns: { prompt: 'instruction', query: 'input', chosen: 'chosen', rejected: 'rejected' },
      },
      'test-00001': {
        file_name: 'test-00001-of-00002.jsonl',
        ranking: true,
        columns: { prompt: 'instruction', query: 'input', chosen: 'chosen', rejected: 'rejected' },
      },
    });
    expect(info('llama-factory-sharegpt', 'unpaired', 'train-00000-of-00001.jsonl')).toEqual({
      train: {
        file_name: 'train-00000-of-00001.jsonl',
        formatting: 'sharegpt',
        columns: { messages: 'conversations', tools: 'tools', kto_tag: 'kto_tag' },
      },
    });
    expect(info('step-apo', 'preference', 'train-00000-of-00001.jsonl')).toEqual({
      train: {
        file_name: 'train-00000-of-00001.jsonl',
        ranking: true,
        columns: {
          prompt: 'instruction',
          chosen: 'chosen',
          rejected: 'rejected',
          q_chosen: 'q_chosen',
          q_rejected: 'q_rejected',
        },
      },
    });
  });
});

describe('the forms of papers and services', () => {
  test('part the question from the steps so far', () => {
    const form = formOf('step-dpo', 'preference');
    const system: Message = { role: 'system', content: 'S' };
    expect(form.write(preference({ prompt: [system, asks('Q'), says('Step 1: x\n')] }))).toEqual({
      prompt: 'Q',
      initial_reason_steps: 'Step 1: x\n',
      chosen: 'It is 4.',
      rejected: 'It is 5.',
    });
    expect(form.write(preference())).toMatchObject({ initial_reason_steps: '' });
    expect(form.write(preference({ prompt: [asks('Q'), says('a'), asks('b')] }))).toBeTypeOf(
      'string',
    );
    expect(formOf('step-apo', 'preference').write(preference({ rejectedScore: -0.5 }))).toEqual({
      instruction: 'What is 2 + 2?\n',
      chosen: 'It is 4.',
      rejected: 'It is 5.',
      q_chosen: 1,
      q_rejected: -0.5,
    });
  });

  test('write what hosted services read', () => {
    const form = formOf('openai', 'preference');
    const written = writtenBy(
      form,
      preference({ prompt: [asks('Q'), call, result], tools, chosen: [call] }),
    );
    const wired = {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
      ],
    };
    expect(JSON.parse(String(written['input']))).toEqual({
      messages: [
        { role: 'user', content: 'Q' },
        wired,
        { role: 'tool', content: '4 °C', tool_call_id: 'c1' },
      ],
      tools: JSON.parse(toolsText) as unknown,
      parallel_tool_calls: true,
    });
    expect(JSON.parse(String(written['preferred_output']))).toEqual([wired]);
    expect(JSON.parse(String(written['non_preferred_output']))).toEqual([
      { role: 'assistant', content: 'It is 5.' },
    ]);
    // A field that the service does not know may be refused.
    const fields = ['input', 'preferred_output', 'non_preferred_output'];
    const asIs = formOf('openai', 'preference', {});
    expect(Object.keys(writtenBy(asIs, preference())).toSorted()).toEqual(fields.toSorted());
    const told = writtenBy(formOf('openai', 'preference', { provenance: true }), preference());
    expect(Object.keys(told)).toHaveLength(fields.length + 22);
    const several = preference({ chosen: [says('a'), says('b')] });
    expect(form.write(several)).toBe('A side is not exactly one turn of the assistant.');
    expect(form.write(preference({ prompt: [asks('Q'), says('So')] }))).toBeTypeOf('string');
  });
});

test('hosted services learn the turns that have the weight 1', async () => {
  const form = formOf('openai', 'sft', {});
  const rows = Array.from({ length: 10 }, (_, place) =>
    writtenBy(
      form,
      sft({
        prompt: [asks(`What is ${place}?`), says('Let me look.'), asks('Do.')],
        completion: [call, result, says(`It is ${place}.`)],
        tools,
      }),
    ),
  );
  const [first = {}] = rows;
  expect(Object.keys(first)).toEqual(['messages', 'tools']);
  expect(JSON.parse(String(first['tools']))).toEqual(JSON.parse(toolsText));
  const turns = JSON.parse(String(first['messages'])) as { role: string; weight?: number }[];
  expect(turns.map(({ role, weight }) => [role, weight])).toEqual([
    ['user', undefined],
    ['assistant', 0],
    ['user', undefined],
    ['assistant', 1],
    ['tool', undefined],
    ['assistant', 1],
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'espalier-hosted-'));
  const writer = jsonLinesWriter(join(folder, 'train.jsonl'), form.columns);
  for (const row of rows) writer.write(row);
  writer.close();
  const { sets, findings } = await auditDataset(folder);
  rmSync(folder, { recursive: true });
  expect(sets[0]).toMatchObject({ formats: ['trl-conversational-sft'], rows: 10 });
  expect(findings).toEqual([]);
  const step = sft({ prompt: [asks('Q'), says('Step 1:')], ends: false });
  expect(form.write(step)).toContain('this form has whole turns only');
});

describe('forms with options', () => {
  test('write prompts for verl, with where they come from in extra_info', () => {
    const row = {
      data_source: 'sums',
      prompt: [{ role: 'user', content: 'What is 2 + 2?' }],
      ability: 'reasoning',
      reward_model: { style: 'rule', ground_truth: '4' },
    };
    expect(verl({ dataSource: 'sums' }).forms.prompt.write(prompt())).toEqual({
      ...row,
      extra_info: { ...origin, value: 0.75, solve_rate: 0.5 },
    });
    expect(verl({ dataSource: 'sums', provenance: false }).forms.prompt.write(prompt())).toEqual({
      ...row,
      extra_info: { problem_id: 'p1' },
    });
    expect(verl().forms.prompt.write(prompt({ prompt: [asks('Q'), says('So')] }))).toMatchObject({
      prompt: [asks('Q')],
    });
  });

  test('write anything else', () => {
    const { preference: form } = mapRow({
      name: 'openrlhf',
      kind: 'preference',
      columns: { prompt: 'string', chosen: 'string', margin: 'float', turns: { list: 'string' } },
      map: (row) =>
        row.margin > 0.5
          ? {
              prompt: chatmlPrompt(row.prompt),
              chosen: row.chosen.map(({ content }) => content).join('\n'),
              margin: row.margin,
              turns: row.prompt.map(({ role }) => role),
            }
          : undefined,
    }).forms;
    expect(form.write(preference())).toEqual({
      prompt: '<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n',
      chosen: 'It is 4.',
      margin: 1,
      turns: ['user'],
    });
    expect(form.write(preference({ margin: 0.25 }))).toBe(
      'The form `openrlhf` leaves the row out.',
    );
    expect(() =>
      mapRow({ name: 'x', kind: 'other' as 'sft', columns: {}, map: () => ({}) }),
    ).toThrow('Expected `kind` to be');
  });
});
