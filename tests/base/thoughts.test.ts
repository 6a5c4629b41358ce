import { expect, test } from 'vitest';
import { withoutThoughts } from '../../src/base/thoughts.ts';

test.each([
  ['18', '18'],
  ['<think>17</think>18', '18'],
  ['<Thinking>17</Thinking>18', '18'],
  ['17</think>18', '18'],
  ['<think>1</think>18 <think>2</think>and 19', '18 and 19'],
  ['[THINK]17[/THINK]18', '18'],
  ['◁think▷17◁/think▷18', '18'],
  ['<|begin_of_thought|>17<|end_of_thought|>18', '18'],
  ['<think>17', ''],
  ['18 <think>17', '18 '],
  [
    '<|channel|>analysis<|message|>17<|end|><|start|>assistant<|channel|>final<|message|>18<|return|>',
    '18',
  ],
  ['<|channel|>analysis<|message|>17', ''],
  ['<|channel|>final <|constrain|>json<|message|>{"a": 1}', '{"a": 1}'],
  ['analysisWe add.assistantfinal18', '18'],
  ['analysisWe add.', ''],
  ['analysis of 18', 'analysis of 18'],
])('%j says %j', (text, said) => {
  expect(withoutThoughts(text)).toBe(said);
});
