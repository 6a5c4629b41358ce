import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJson, wholeTexts } from '../../src/base/find-json.ts';
import { property } from '../support/property.ts';

describe('whole JSON in a text', () => {
  test.each([
    ['alone', '{"step": "a"}', [{ step: 'a' }]],
    ['in a fence', '```json\n{"step": "a"}\n```', [{ step: 'a' }]],
    ['in prose', 'Sure! {"step": "a"} Hope it helps.', [{ step: 'a' }]],
    ['as a list', '["a", "b"]', [['a', 'b']]],
    ['line by line', '{"step": "a"}\n{"step": "b"}', [{ step: 'a' }, { step: 'b' }]],
    ['behind braces in prose', 'The set {1, 2} is {x}: {"step": "a"}', [{ step: 'a' }]],
    ['behind a brace that stays open', 'if (x) { "y" {"step": "a"}', [{ step: 'a' }]],
    ['with brackets in its texts', '{"step": "a } ] \\" {"}', [{ step: 'a } ] " {' }]],
    ['within JSON', '{"a": {"step": "b"}}', [{ a: { step: 'b' } }]],
    ['empty', '{} [] [{}]', [{}, [], [{}]]],
    ['not there', 'No idea.', []],
    ['in single quotes', "{'step': 'a'}", []],
    ['as numbers', '[1, 2]', []],
  ])('is found %s', (_where, text, values) => {
    expect(findJson(text).values).toEqual(values);
  });
});

describe('JSON as models write it', () => {
  test.each([
    [
      'a command that JSON does not know',
      '{"step": "\\sqrt{2} \\(x\\) \\dfrac12"}',
      '\\sqrt{2} \\(x\\) \\dfrac12',
    ],
    ['\\boxed and \\frac', '{"step": "\\boxed{\\frac{1}{2}}"}', '\\boxed{\\frac{1}{2}}'],
    [
      '\\times, \\text and \\theta',
      '{"step": "2 \\times 3 \\text{ cm} \\theta"}',
      '2 \\times 3 \\text{ cm} \\theta',
    ],
    ['\\neq and \\right', '{"step": "a \\neq \\right)"}', 'a \\neq \\right)'],
    ['\\underline', '{"step": "\\underline{x}"}', '\\underline{x}'],
    [
      'backslashes that are doubled',
      '{"step": "\\\\frac{1}{2} \\\\times"}',
      '\\frac{1}{2} \\times',
    ],
    [
      'line breaks and tabulators of JSON',
      '{"step": "a\\nThen\\tb\\nequals\\r\\nb"}',
      'a\nThen\tb\nequals\r\nb',
    ],
    ['other escapes of JSON', '{"step": "\\u00e9\\"\\/\\\\"}', 'é"/\\'],
    ['line breaks as they are', '{"step": "a\n\tb"}', 'a\n\tb'],
    ['commas before a bracket', '{"step": "a, ]",}', 'a, ]'],
  ])('is read with %s', (_what, text, step) => {
    expect(findJson(text)).toEqual({ values: [{ step }], cut: undefined });
  });
});

describe('JSON in a text', () => {
  test.each([
    ['an object', '{"step": "a", "ans'],
    ['a text', '{"step": "The answer is 2'],
    ['an escape', '{"step": "a\\'],
    ['a list', '["a", "b"'],
  ])('that does not end is none: %s', (_what, text) => {
    expect(findJson(`So: ${text}`)).toEqual({ values: [], cut: text });
  });

  test('that does not end leaves what is whole in it', () => {
    const text = '{"steps": [{"step": "a"}, {"step": "b"}, {"st';
    expect(findJson(text)).toEqual({ values: [{ step: 'a' }, { step: 'b' }], cut: text });
    expect(wholeTexts('{"steps": ["a", "b\\n", "c')).toEqual(['a', 'b\n']);
    expect(wholeTexts('{"steps": [')).toEqual([]);
    expect(wholeTexts('{"steps"')).toEqual([]);
    expect(wholeTexts('["a" {"b"')).toEqual(['a']);
  });

  test('is not looked for without end', () => {
    // Each of these does not end, or is none; what takes quadratic time takes minutes.
    for (const text of ['{"', '[{"a":', '{"a"}', '{"a":{"b":']) {
      expect(findJson(text.repeat(30_000)).values).toEqual([]);
    }
    expect(findJson(`${'{"a" '.repeat(40)}{"step": "a"}`).values).toEqual([]);
  });
});

const letters = fc.string({ unit: fc.constantFrom(...'ab "\\{}[],:é\u{1F600}\n'), maxLength: 8 });
const value = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    letters,
    fc.integer(),
    fc.constantFrom(null, true, false),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(letters, tie('json'), { maxKeys: 3 }),
  ),
})).json;

property([fc.array(fc.record({ step: value, answer: value }), { maxLength: 4 })])(
  'what JSON writes is found and read as it was',
  (objects) => {
    const text = objects.map((object) => `Then ${JSON.stringify(object, null, 1)}.`).join('\n');
    const plain = JSON.parse(JSON.stringify(objects)) as unknown;
    expect(findJson(text)).toEqual({ values: plain, cut: undefined });
  },
);
