import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/contracts/language-model.ts';
import { jinjaPrompt } from '../../src/data/formats/jinja-prompt.ts';
import { chatmlPrompt, plainPrompt } from '../../src/data/formats/render.ts';
import { asks, says } from './formats-rows.ts';

const system: Message = { role: 'system', content: 'Be brief.' };
const call: Message = {
  role: 'assistant',
  content: 'I look.',
  toolCalls: [{ id: 'c', name: 'weather', input: { city: 'Oslo' } }],
};

test('plain text parts contents by empty lines, and ends with a line break', () => {
  expect(plainPrompt([system, asks('Q')])).toBe('Be brief.\n\nQ\n');
  expect(plainPrompt([asks('Q'), says('Step 1:')])).toBe('Q\n\nStep 1:');
  expect(plainPrompt([call, asks('Q')])).toBe(
    'I look.\n<tool_call>\n{"name":"weather","arguments":{"city":"Oslo"}}\n</tool_call>\n\nQ\n',
  );
});

test('ChatML opens the turn of the assistant', () => {
  expect(chatmlPrompt([system, asks('Q')])).toBe(
    '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n',
  );
  expect(chatmlPrompt([asks('Q'), says('Step 1:')])).toBe(
    '<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\nStep 1:',
  );
});

describe('a chat template', () => {
  const template =
    '{{ bos_token }}{% if tools %}[tools: {{ tools[0].function.name }}]{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}({{ c.function.name }} {{ c.function.arguments | tojson }}){% endfor %}</s>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}';
  const render = jinjaPrompt(template);

  test('is rendered up to where the answer begins', () => {
    expect(render([asks('Q')])).toBe('<user>Q</s><assistant>');
    expect(render([asks('Q'), call, asks('R')])).toBe(
      '<user>Q</s><assistant>I look.(weather {"city": "Oslo"})</s><user>R</s><assistant>',
    );
    expect(jinjaPrompt(template, { bosToken: '<s>' })([asks('Q')])).toBe(
      '<s><user>Q</s><assistant>',
    );
    expect(render([asks('Q')], [{ name: 'weather', input: {} }])).toContain('[tools: weather]');
  });

  test('leaves a turn that has begun open', () => {
    expect(render([asks('Q'), says('Step 1:')])).toBe('<user>Q</s><assistant>Step 1:');
    expect(render([asks('Q'), says('')])).toBe('<user>Q</s><assistant>');
  });

  test('that is of no use is told', () => {
    expect(() => jinjaPrompt('{% if %}')).toThrow('The chat template is broken:');
    expect(() => jinjaPrompt('{{ raise_exception("No.") }}')([asks('Q')])).toThrow(
      'The chat template refuses the messages: No.',
    );
    expect(() => jinjaPrompt('{{ messages[0].nope.x }}')([asks('Q')])).toThrow(
      'The chat template leaves out what the user says.',
    );
    expect(() => jinjaPrompt('no Q thing')([asks('Q'), says('So')])).toThrow(
      'The chat template leaves out the turn that is to be continued.',
    );
  });
});
