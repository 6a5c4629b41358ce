import { describe, expect, test } from 'vitest';
import { formatFamilies } from '../../src/data/formats/families.ts';
import type { FormatOptions, RowFormat } from '../../src/data/formats/format.ts';
import { mapRow } from '../../src/data/formats/map-row.ts';
import { chatmlPrompt } from '../../src/data/formats/render.ts';
import { verlPrompt } from '../../src/data/formats/verl.ts';
import type { RowKind } from '../../src/data/rows.ts';
import type { Message, ToolDefinition } from '../../src/spec/language-model.ts';
import {
  asks,
  origin,
  preference,
  prompt,
  provenance,
  rollout,
  says,
  sft,
  stepwise,
  unpaired,
} from './formats-rows.ts';

const bare: FormatOptions = { provenance: false };

function formOf(family: string, kind: RowKind, options: FormatOptions = bare): RowFormat {
  const form = formatFamilies.find(({ name }) => name === family)?.formats[kind]?.(options);
  if (form === undefined) throw new Error(`${family} has no form for ${kind}.`);
  return form;
}

const call: Message = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'c1', name: 'weather', input: { city: 'Oslo' } }],
};
const result: Message = { role: 'tool', content: '4 °C', toolCallId: 'c1' };
const tools: readonly ToolDefinition[] = [
  { name: 'weather', description: 'Tells the weather.', input: { type: 'object' } },
];
const toolsText =
  '[{"type":"function","function":{"name":"weather","description":"Tells the weather.","parameters":{"type":"object"}}}]';

describe('the form for TRL as text', () => {
  test('writes each kind of rows', () => {
    const text = { prompt: 'What is 2 + 2?\n' };
    expect(formOf('trl', 'preference').toFile(preference())).toEqual({
      ...text,
      chosen: 'It is 4.',
      rejected: 'It is 5.',
    });
    expect(formOf('trl', 'unpaired').toFile(unpaired())).toEqual({
      ...text,
      completion: 'It is 4.',
      label: true,
    });
    expect(formOf('trl', 'sft').toFile(sft())).toEqual({ ...text, completion: 'It is 4.' });
    expect(formOf('trl', 'prompt').toFile(prompt())).toEqual({ ...text, answer: '4' });
    expect(formOf('trl', 'stepwise').toFile(stepwise())).toEqual({
      ...text,
      completions: ['2 + 2', 'It is 5.'],
      labels: [true, false],
    });
    expect(formOf('trl', 'rollout').toFile(rollout())).toEqual({
      ...text,
      completion: '2 + 2\nIt is 4.',
      reward: 1,
      group: 'p1',
      advantages: '{"grpo":0.5}',
      steps: ['2 + 2', 'It is 4.'],
      step_advantages: '{"tree":[0.25,0.5]}',
      logprob: null,
    });
    expect(formOf('trl-reward', 'preference').toFile(preference({ margin: 0.5 }))).toEqual({
      ...text,
      chosen: 'It is 4.',
      rejected: 'It is 5.',
      margin: 0.5,
    });
  });

  test('tells where rows come from', () => {
    expect(formOf('trl', 'preference', {}).toFile(preference())).toEqual({
      prompt: 'What is 2 + 2?\n',
      chosen: 'It is 4.',
      rejected: 'It is 5.',
      ...origin,
      chosen_value: 1,
      rejected_value: 0,
      margin: 1,
      weight: 1,
      label_smoothing: 0,
      chosen_ends: true,
      rejected_ends: false,
    });
    expect(formOf('trl', 'stepwise', {}).toFile(stepwise({ right: undefined }))).toMatchObject({
      ...origin,
      step_values: [0.5, 0],
      step_ratings: [0, -1],
      delimiter: '\n',
      right: null,
    });
    expect(formOf('trl', 'sft', {}).toFile(sft())).toMatchObject({
      ...origin,
      score: 1,
      weight: 2,
    });
    expect(formOf('trl', 'unpaired', {}).toFile(unpaired())).toMatchObject({
      score: 1,
      ends: true,
    });
    expect(formOf('trl', 'prompt', {}).toFile(prompt())).toMatchObject({
      value: 0.75,
      solve_rate: 0.5,
    });
    expect(formOf('trl', 'rollout', {}).toFile(rollout())).toMatchObject({ sampling: 'search' });
  });

  test.each([
    // A label without a space behind it: both sides begin with one.
    { begun: 'Step 1:', text: 'Q\n\nStep 1:', chosen: ' a', rejected: ' b' },
    // The blank would be one token with the word that follows.
    { begun: 'Step 1: ', text: 'Q\n\nStep 1:', chosen: ' a', rejected: ' b' },
    { begun: 'Step 1: x\n', text: 'Q\n\nStep 1: x\n', chosen: 'a', rejected: 'b' },
    { begun: 'Step 1: x\n  ', text: 'Q\n\nStep 1: x\n', chosen: 'a', rejected: 'b' },
    { begun: '', text: 'Q\n\n', chosen: 'a', rejected: 'b' },
  ])('ends the prompt on a boundary behind %j', ({ begun, text, chosen, rejected }) => {
    const row = preference({
      prompt: [asks('Q'), says(begun)],
      chosen: [says(' \n a')],
      rejected: [says('b')],
    });
    expect(formOf('trl', 'preference').toFile(row)).toEqual({ prompt: text, chosen, rejected });
  });

  test('puts the end token where nothing follows, once', () => {
    const form = formOf('trl', 'preference', { ...bare, endToken: '</s>' });
    expect(form.toFile(preference())).toMatchObject({
      chosen: 'It is 4.</s>',
      rejected: 'It is 5.',
    });
    const twice = preference({ chosen: [says('It is 4.</s>')] });
    expect(form.toFile(twice)).toMatchObject({ chosen: 'It is 4.</s>' });
  });

  test('lets a completion of several turns go on from the prompt', () => {
    const row = sft({ completion: [says('Which?'), asks('Both.'), says('It is 4.')] });
    const form = formOf('trl', 'sft', { ...bare, render: chatmlPrompt });
    expect(form.toFile(row)).toEqual({
      prompt: '<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n',
      completion:
        'Which?<|im_end|>\n<|im_start|>user\nBoth.<|im_end|>\n<|im_start|>assistant\nIt is 4.',
    });
    const begun = sft({
      prompt: [asks('Q'), says('So:')],
      completion: [says('Which?'), asks('Both.'), says('4')],
    });
    expect(form.toFile(begun)).toEqual({
      prompt: '<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\nSo:',
      completion: ' Which?<|im_end|>\n<|im_start|>user\nBoth.<|im_end|>\n<|im_start|>assistant\n4',
    });
  });

  test('renders a prompt once for the rows that share it', () => {
    let renderings = 0;
    const form = formOf('trl', 'preference', {
      render: () => {
        renderings += 1;
        return 'Q\n';
      },
    });
    const shared = [asks('Q')];
    form.toFile(preference({ prompt: shared }));
    form.toFile(preference({ prompt: shared, chosen: [says('other')] }));
    expect(renderings).toBe(1);
    form.toFile(preference({ prompt: [asks('Q')] }));
    expect(renderings).toBe(2);
  });

  test.each([
    [preference({ chosen: [says('  ')] }), 'The completion is empty.'],
    [preference({ chosen: [] }), 'The completion is empty.'],
    [
      preference({ rejected: [says(' It is 4.')], chosenEnds: false }),
      'Both sides are the same text.',
    ],
    [preference({ chosen: [call] }), 'The completion calls tools, which this text cannot say.'],
    [
      preference({ chosen: [says('a'), asks('b')] }),
      'The completion does not end with a turn of the assistant.',
    ],
  ])('refuses what text cannot say: %#', (row, reason) => {
    const form = formOf('trl', 'preference');
    expect(form.toFile(row)).toBeUndefined();
    expect(form.refusal?.(row)).toBe(reason);
  });

  test('refuses steps that the separator would cut', () => {
    const form = formOf('trl', 'stepwise');
    const [step] = stepwise().steps;
    if (step === undefined) throw new Error('There are steps.');
    const row = stepwise({ steps: [{ ...step, text: 'a\nb' }] });
    expect(form.toFile(row)).toBeUndefined();
    expect(form.refusal?.(row)).toBe('A step holds what steps are parted by.');
    expect(form.toFile(stepwise({ steps: [{ ...step, text: 'a\n' }] }))).toMatchObject({
      completions: ['a'],
    });
  });
});

describe('the forms for TRL as conversations', () => {
  test('write turns', () => {
    expect(formOf('trl-conversational', 'preference').toFile(preference())).toEqual({
      prompt: [{ role: 'user', content: 'What is 2 + 2?' }],
      chosen: [{ role: 'assistant', content: 'It is 4.' }],
      rejected: [{ role: 'assistant', content: 'It is 5.' }],
    });
    expect(formOf('trl-conversational', 'unpaired').toFile(unpaired({ label: false }))).toEqual({
      prompt: [{ role: 'user', content: 'What is 2 + 2?' }],
      completion: [{ role: 'assistant', content: 'It is 4.' }],
      label: false,
    });
    expect(formOf('trl-conversational', 'prompt').toFile(prompt())).toEqual({
      prompt: [{ role: 'user', content: 'What is 2 + 2?' }],
      answer: '4',
    });
    expect(() => formOf('trl-conversational', 'stepwise')).toThrow('has no form');
  });

  test('refuse a turn that has begun, tools, and empty turns', () => {
    const form = formOf('trl-conversational', 'preference');
    const reasons = [
      preference({ prompt: [asks('Q'), says('Step 1:')] }),
      preference({ tools }),
      preference({ prompt: [asks('Q'), call, result] }),
      preference({ chosen: [says(' ')] }),
      preference({ chosen: [says('a')], rejected: [says('a')] }),
    ].map((row) => [form.toFile(row), form.refusal?.(row)]);
    expect(reasons).toEqual([
      [
        undefined,
        'The prompt ends with the beginning of a turn, which TRL would take for a whole one.',
      ],
      [undefined, 'The row has to do with tools: the form trl-tools can say it.'],
      [undefined, 'The row has to do with tools: the form trl-tools can say it.'],
      [undefined, 'The completion is empty.'],
      [undefined, 'Both sides are the same text.'],
    ]);
  });

  test('write calls with their arguments, and results with the name of the tool', () => {
    const row = preference({ prompt: [asks('Q'), call, result], chosen: [call], tools });
    const calls = [
      { type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ];
    const written = { role: 'assistant', content: '', tool_calls: calls, name: null };
    expect(formOf('trl-tools', 'preference').toFile(row)).toEqual({
      prompt: [
        { role: 'user', content: 'Q', tool_calls: null, name: null },
        written,
        { role: 'tool', content: '4 °C', tool_calls: null, name: 'weather' },
      ],
      chosen: [written],
      rejected: [{ role: 'assistant', content: 'It is 5.', tool_calls: null, name: null }],
      tools: toolsText,
    });
    const lost = preference({ prompt: [asks('Q'), result] });
    expect(formOf('trl-tools', 'preference').toFile(lost)).toBeUndefined();
  });
});

describe('the forms for LLaMA-Factory', () => {
  test('write Alpaca columns', () => {
    const shared = { instruction: 'What is 2 + 2?\n', input: '' };
    expect(formOf('llama-factory', 'preference').toFile(preference())).toEqual({
      ...shared,
      chosen: 'It is 4.',
      rejected: 'It is 5.',
    });
    expect(formOf('llama-factory', 'unpaired').toFile(unpaired())).toEqual({
      ...shared,
      output: 'It is 4.',
      kto_tag: true,
    });
    expect(formOf('llama-factory', 'sft').toFile(sft())).toEqual({ ...shared, output: 'It is 4.' });
  });

  test('write ShareGPT turns', () => {
    const row = preference({
      prompt: [{ role: 'system', content: 'S' }, asks('Q'), call, result],
      tools,
    });
    expect(formOf('llama-factory-sharegpt', 'preference').toFile(row)).toEqual({
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
    expect(formOf('llama-factory-sharegpt', 'unpaired').toFile(unpaired())).toEqual({
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
    expect(form.toFile(row)).toBeUndefined();
    expect(form.refusal?.(row)).toBe(reason);
  });

  test('write dataset_info.json', () => {
    const info = (family: string, kind: RowKind, ...files: string[]) =>
      JSON.parse(formOf(family, kind).extraFiles?.(files)['dataset_info.json'] ?? '');
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
    expect(form.toFile(preference({ prompt: [system, asks('Q'), says('Step 1: x\n')] }))).toEqual({
      prompt: 'Q',
      initial_reason_steps: 'Step 1: x\n',
      chosen: 'It is 4.',
      rejected: 'It is 5.',
    });
    expect(form.toFile(preference())).toMatchObject({ initial_reason_steps: '' });
    expect(form.toFile(preference({ prompt: [asks('Q'), says('a'), asks('b')] }))).toBeUndefined();
    expect(formOf('step-apo', 'preference').toFile(preference({ rejectedScore: -0.5 }))).toEqual({
      instruction: 'What is 2 + 2?\n',
      chosen: 'It is 4.',
      rejected: 'It is 5.',
      q_chosen: 1,
      q_rejected: -0.5,
    });
  });

  test('write what hosted services read', () => {
    const form = formOf('openai', 'preference');
    const written = form.toFile(
      preference({ prompt: [asks('Q'), call, result], tools, chosen: [call] }),
    );
    const wired = {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
      ],
    };
    expect(JSON.parse(String(written?.['input']))).toEqual({
      messages: [
        { role: 'user', content: 'Q' },
        wired,
        { role: 'tool', content: '4 °C', tool_call_id: 'c1' },
      ],
      tools: JSON.parse(toolsText),
      parallel_tool_calls: true,
    });
    expect(JSON.parse(String(written?.['preferred_output']))).toEqual([wired]);
    expect(JSON.parse(String(written?.['non_preferred_output']))).toEqual([
      { role: 'assistant', content: 'It is 5.' },
    ]);
    const several = preference({ chosen: [says('a'), says('b')] });
    expect(form.toFile(several)).toBeUndefined();
    expect(form.refusal?.(several)).toBe('A side is not exactly one turn of the assistant.');
    expect(form.toFile(preference({ prompt: [asks('Q'), says('So')] }))).toBeUndefined();
  });

  test('write prompts for verl, with where they come from in extra_info', () => {
    const row = {
      data_source: 'sums',
      prompt: [{ role: 'user', content: 'What is 2 + 2?' }],
      ability: 'reasoning',
      reward_model: { style: 'rule', ground_truth: '4' },
    };
    expect(verlPrompt({ dataSource: 'sums' }).toFile(prompt())).toEqual({
      ...row,
      extra_info: { ...origin, value: 0.75, solve_rate: 0.5 },
    });
    expect(verlPrompt({ dataSource: 'sums', provenance: false }).toFile(prompt())).toEqual({
      ...row,
      extra_info: { problem_id: 'p1' },
    });
    expect(verlPrompt().toFile(prompt({ prompt: [asks('Q'), says('So')] }))).toBeUndefined();
  });

  test('write anything else', () => {
    const form = mapRow({
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
    });
    expect(form.toFile(preference())).toEqual({
      prompt: '<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n',
      chosen: 'It is 4.',
      margin: 1,
      turns: ['user'],
    });
    expect(form.toFile(preference({ margin: 0.25 }))).toBeUndefined();
    expect(() =>
      mapRow({ name: 'x', kind: 'other' as 'sft', columns: {}, map: () => ({}) }),
    ).toThrow('Expected `kind` to be');
  });
});

describe('all forms', () => {
  const rows = { preference, prompt, rollout, sft, stepwise, unpaired };
  const forms = formatFamilies.flatMap((family) =>
    Object.entries(family.formats).map(([kind, form]) => ({ family, kind: kind as RowKind, form })),
  );

  test('stand in the order of their names', () => {
    const names = formatFamilies.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(forms)(
    'are named and write their columns: $family.name $kind',
    ({ family, kind, form }) => {
      for (const options of [{}, bare]) {
        const { name, columns, kind: own, toFile } = form(options);
        expect({ name, own }).toEqual({ name: `${family.name}-${kind}`, own: kind });
        const written = toFile(rows[kind]());
        const lacking = Object.entries(columns)
          .filter(([, type]) => !(typeof type === 'object' && 'optional' in type))
          .filter(([column]) => written?.[column] === undefined);
        expect(lacking).toEqual([]);
        expect(Object.keys(written ?? {}).filter((column) => !(column in columns))).toEqual([]);
      }
    },
  );

  test('keep the provenance apart from what trainers read', () => {
    expect(provenance.problem).toBe(origin.problem_id);
    const read = ['prompt', 'chosen', 'rejected', 'completion', 'completions', 'label', 'labels'];
    const other = ['messages', 'text', 'tools', 'images', 'chat_template_kwargs', 'input_ids'];
    for (const { kind, form } of forms) {
      const own = Object.keys(form(bare).columns);
      const added = Object.keys(form({}).columns).filter((column) => !own.includes(column));
      expect([kind, added.filter((column) => [...read, ...other].includes(column))]).toEqual([
        kind,
        [],
      ]);
    }
  });
});
