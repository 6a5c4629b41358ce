import { describe, expect, test } from 'vitest';
import { chatmlPrompt } from '../../src/data/formats/render.ts';
import {
  asks,
  bare,
  call,
  formOf,
  origin,
  preference,
  prompt,
  provenance,
  result,
  rollout,
  says,
  sft,
  stepwise,
  tools,
  toolsText,
  unpaired,
  writtenBy,
} from './formats-rows.ts';

describe('the form for TRL as text', () => {
  test('writes each kind of rows', () => {
    const text = { prompt: 'What is 2 + 2?\n' };
    expect(formOf('trl', 'preference').write(preference())).toEqual({
      ...text,
      chosen: 'It is 4.',
      rejected: 'It is 5.',
    });
    expect(formOf('trl', 'unpaired').write(unpaired())).toEqual({
      ...text,
      completion: 'It is 4.',
      label: true,
    });
    expect(formOf('trl', 'sft').write(sft())).toEqual({ ...text, completion: 'It is 4.' });
    expect(formOf('trl', 'prompt').write(prompt())).toEqual({ ...text, answer: '4' });
    expect(formOf('trl', 'stepwise').write(stepwise())).toEqual({
      ...text,
      completions: ['2 + 2', 'It is 5.'],
      labels: [true, false],
    });
    expect(formOf('trl', 'rollout').write(rollout())).toEqual({
      ...text,
      completion: '2 + 2\nIt is 4.',
      reward: 1,
      group: 'p1',
      advantages: '{"grpo":0.5}',
      steps: ['2 + 2', 'It is 4.'],
      step_advantages: '{"tree":[0.25,0.5]}',
    });
    expect(formOf('trl-reward', 'preference').write(preference({ margin: 0.5 }))).toEqual({
      ...text,
      chosen: 'It is 4.',
      rejected: 'It is 5.',
      margin: 0.5,
    });
  });
});

describe('the provenance', () => {
  test('tells where rows come from', () => {
    expect(formOf('trl', 'preference', {}).write(preference())).toEqual({
      prompt: 'What is 2 + 2?\n',
      chosen: 'It is 4.',
      rejected: 'It is 5.',
      ...origin,
      chosen_value: 1,
      rejected_value: 0,
      margin: 1,
      weight: 1,
      label_smoothing: 0,
      chosen_right: null,
      rejected_right: null,
      chosen_ends: true,
      rejected_ends: false,
    });
    expect(formOf('trl', 'stepwise', {}).write(stepwise({ right: undefined }))).toMatchObject({
      ...origin,
      step_values: [0.5, 0],
      step_ratings: [0, -1],
      delimiter: '\n',
      right: null,
    });
    expect(formOf('trl', 'sft', {}).write(sft())).toMatchObject({
      ...origin,
      score: 1,
      weight: 2,
      ends: true,
    });
    expect(formOf('trl', 'unpaired', {}).write(unpaired())).toMatchObject({
      score: 1,
      ends: true,
    });
    expect(formOf('trl', 'prompt', {}).write(prompt())).toMatchObject({
      value: 0.75,
      solve_rate: 0.5,
    });
    expect(formOf('trl', 'rollout', {}).write(rollout())).toMatchObject({ sampling: 'search' });
  });
});

describe('text on both sides of the boundary', () => {
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
    expect(formOf('trl', 'preference').write(row)).toEqual({ prompt: text, chosen, rejected });
  });

  test('puts the end token where nothing follows, once', () => {
    const form = formOf('trl', 'preference', { ...bare, endToken: '</s>' });
    expect(form.write(preference())).toMatchObject({
      chosen: 'It is 4.</s>',
      rejected: 'It is 5.',
    });
    const twice = preference({ chosen: [says('It is 4.</s>')] });
    expect(form.write(twice)).toMatchObject({ chosen: 'It is 4.</s>' });
    const turn = formOf('trl', 'sft', { ...bare, endToken: '</s>' });
    expect(turn.write(sft({ ends: true }))).toMatchObject({ completion: 'It is 4.</s>' });
    expect(turn.write(sft({ ends: false }))).toMatchObject({ completion: 'It is 4.' });
  });

  test('the card asks for the end token where the files have none, and tells how to train on those that have it', () => {
    const asked = 'Write the files with the end token';
    const held = 'The files hold the end token';
    for (const kind of ['preference', 'sft', 'unpaired'] as const) {
      const without = formOf('trl', kind, bare).usage;
      expect(without).toContain(asked);
      expect(without).not.toContain(held);
      const { usage } = formOf('trl', kind, { ...bare, endToken: '</s>' });
      expect(usage).toContain(held);
      expect(usage).not.toContain(asked);
      // The tokenizer has its end token back before training writes its ids into the model.
      expect(usage.indexOf('tokenizer.eos_token = end')).toBeLessThan(usage.indexOf('.train()'));
    }
    expect(formOf('trl-reward', 'preference').usage).not.toContain(asked);
  });

  test('lets a completion of several turns go on from the prompt', () => {
    const row = sft({ completion: [says('Which?'), asks('Both.'), says('It is 4.')] });
    const form = formOf('trl', 'sft', { ...bare, render: chatmlPrompt });
    expect(form.write(row)).toEqual({
      prompt: '<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n',
      completion:
        'Which?<|im_end|>\n<|im_start|>user\nBoth.<|im_end|>\n<|im_start|>assistant\nIt is 4.',
    });
    const begun = sft({
      prompt: [asks('Q'), says('So:')],
      completion: [says('Which?'), asks('Both.'), says('4')],
    });
    expect(form.write(begun)).toEqual({
      prompt: '<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\nSo:',
      completion: ' Which?<|im_end|>\n<|im_start|>user\nBoth.<|im_end|>\n<|im_start|>assistant\n4',
    });
  });
});

describe('the form for TRL as text, row by row', () => {
  test('renders a prompt once for the rows that share it', () => {
    let renderings = 0;
    const form = formOf('trl', 'preference', {
      render: () => {
        renderings += 1;
        return 'Q\n';
      },
    });
    const shared = [asks('Q')];
    form.write(preference({ prompt: shared }));
    form.write(preference({ prompt: shared, chosen: [says('other')] }));
    expect(renderings).toBe(1);
    form.write(preference({ prompt: [asks('Q')] }));
    expect(renderings).toBe(2);
  });

  test.each([
    [preference({ chosen: [says('  ')] }), 'The completion is empty.'],
    [preference({ chosen: [] }), 'The completion is empty.'],
    [
      preference({ rejected: [says(' It is 4.')], chosenEnds: false }),
      'Both sides are the same text.',
    ],
    [
      preference({ chosen: [call] }),
      'The completion calls tools, which text cannot hold: use `--format trl-tools` (`formats.trlTools`).',
    ],
    [
      preference({ chosen: [says('a'), asks('b')] }),
      'The completion does not end with a turn of the assistant.',
    ],
  ])('refuses what text cannot say: %#', (row, reason) => {
    const form = formOf('trl', 'preference');
    expect(form.write(row)).toBe(reason);
  });

  test('refuses steps that the separator would cut', () => {
    const form = formOf('trl', 'stepwise');
    const [step] = stepwise().steps;
    if (step === undefined) throw new Error('There are steps.');
    const row = stepwise({ steps: [{ ...step, text: 'a\nb' }] });
    expect(form.write(row)).toBe(
      'A step holds what steps are parted by: give the rule another `delimiter`.',
    );
    expect(form.write(stepwise({ steps: [{ ...step, text: 'a\n' }] }))).toMatchObject({
      completions: ['a'],
    });
  });
});

describe('the forms for TRL as conversations', () => {
  test('write turns', () => {
    expect(formOf('trl-conversational', 'preference').write(preference())).toEqual({
      prompt: [{ role: 'user', content: 'What is 2 + 2?' }],
      chosen: [{ role: 'assistant', content: 'It is 4.' }],
      rejected: [{ role: 'assistant', content: 'It is 5.' }],
    });
    expect(formOf('trl-conversational', 'unpaired').write(unpaired({ label: false }))).toEqual({
      prompt: [{ role: 'user', content: 'What is 2 + 2?' }],
      completion: [{ role: 'assistant', content: 'It is 4.' }],
      label: false,
    });
    expect(formOf('trl-conversational', 'prompt').write(prompt())).toEqual({
      prompt: [{ role: 'user', content: 'What is 2 + 2?' }],
      answer: '4',
    });
    expect(() => formOf('trl-conversational', 'stepwise')).toThrow('has no form');
  });

  test('refuse a turn that has begun, tools, and empty turns', () => {
    const form = formOf('trl-conversational', 'preference');
    const reasons = [
      preference({ prompt: [asks('Q'), says('Step 1:')], chosenEnds: false }),
      preference({ tools }),
      preference({ prompt: [asks('Q'), call, result] }),
      preference({ chosen: [says(' ')] }),
      preference({ chosen: [says('a')], rejected: [says('a')] }),
    ].map((row) => form.write(row));
    expect(reasons).toEqual([
      expect.stringMatching(/^A step goes on within the turn .*`--notation restated`/),
      'The row has to do with tools: the form trl-tools can say it.',
      'The row has to do with tools: the form trl-tools can say it.',
      'The completion is empty.',
      'Both sides are the same text.',
    ]);
  });

  test('begin whole paths with what the prompt began, for whoever has whole turns only', () => {
    const begun = { prompt: [asks('Q'), says('Step 1:')] };
    const ends = {
      chosen: [says('4.')],
      rejected: [says(' 5.')],
      chosenEnds: true,
      rejectedEnds: true,
    };
    const whole = {
      prompt: [asks('Q')],
      chosen: [says('Step 1: 4.')],
      rejected: [says('Step 1: 5.')],
    };
    expect(
      formOf('trl-conversational', 'preference').write(preference({ ...begun, ...ends })),
    ).toEqual(whole);
    expect(
      formOf('trl-conversational', 'unpaired').write(
        unpaired({ ...begun, completion: [says('4.')], ends: true }),
      ),
    ).toMatchObject({ prompt: [asks('Q')], completion: [says('Step 1: 4.')] });
    expect(formOf('trl-conversational', 'prompt').write(prompt(begun))).toMatchObject({
      prompt: [asks('Q')],
    });
    expect(formOf('verl', 'prompt').write(prompt(begun))).toMatchObject({ prompt: [asks('Q')] });
    const later = { ...provenance, depth: 1 };
    expect(
      formOf('trl-conversational', 'preference').write(
        preference({ ...begun, ...ends, provenance: later }),
      ),
    ).toBeTypeOf('string');
  });
});

describe('the forms for TRL and tools', () => {
  test('say offered tools, or that they cannot', () => {
    const offered = prompt({ tools });
    const hidden = expect.stringMatching(/^The model was offered tools.*trl-tools/) as string;
    expect(formOf('trl', 'prompt').write(offered)).toEqual(hidden);
    const shown = formOf('trl', 'prompt', {
      render: (messages, own = []) => [...own, ...messages].length.toString(),
    });
    expect(shown.write(offered)).toMatchObject({ prompt: '2' });
    expect(formOf('verl', 'prompt').write(offered)).toBeTypeOf('string');
    expect(formOf('trl-tools', 'prompt').write(offered)).toMatchObject({ tools: toolsText });
  });

  test('write calls with their arguments, and results with the name of the tool', () => {
    const row = preference({ prompt: [asks('Q'), call, result], chosen: [call], tools });
    const calls = [
      { type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ];
    const written = { role: 'assistant', content: '', tool_calls: calls, name: null };
    expect(formOf('trl-tools', 'preference').write(row)).toEqual({
      prompt: [
        { role: 'user', content: 'Q', tool_calls: null, name: null },
        written,
        { role: 'tool', content: '4 °C', tool_calls: null, name: 'weather' },
      ],
      chosen: [written],
      rejected: [{ role: 'assistant', content: 'It is 5.', tool_calls: null, name: null }],
      tools: toolsText,
    });
    const earlier = unpaired({
      prompt: [asks('Q'), call, result, asks('R')],
      completion: [says('a')],
    });
    expect(formOf('trl-tools', 'unpaired').write(earlier)).toBeTypeOf('object');
    const named = sft({ prompt: [asks('Q'), call, asks('R')], completion: [result, says('a')] });
    expect(writtenBy(formOf('trl-tools', 'sft'), named)['completion']).toMatchObject([
      { name: 'weather' },
      { name: null },
    ]);
    const later = unpaired({ completion: [call, result, says('4 °C.')], tools });
    expect(writtenBy(formOf('trl-tools', 'unpaired'), later)['completion']).toMatchObject([
      { name: null },
      { name: 'weather' },
      { name: null },
    ]);
    const lost = preference({ prompt: [asks('Q'), result] });
    expect(formOf('trl-tools', 'preference').write(lost)).toBeTypeOf('string');
  });
});
