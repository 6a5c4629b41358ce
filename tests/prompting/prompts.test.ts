import { describe, expect, test } from 'vitest';
import { provenanceOf } from '../../src/base/provenance.ts';
import { fill, promptsOf, withTexts } from '../../src/prompting/prompts.ts';

describe('fill', () => {
  test('fills slots once, and leaves what is filled in as it is', () => {
    expect(fill('{a} and {b}, {a}', { a: '{b}', b: '$&' })).toBe('{b} and $&, {b}');
  });

  test('writes doubled braces as one', () => {
    expect(fill('{{"answer": "{a}"}}', { a: 'x' })).toBe('{"answer": "x"}');
  });

  test('leaves braces that are no slots', () => {
    expect(fill('{ a } {1} {}', { a: 'x' })).toBe('{ a } {1} {}');
  });

  test('refuses a slot that nothing is given for', () => {
    expect(() => fill('{lesson}', { lessons: '', task: '' })).toThrow(
      'Expected the slots of a prompt to be among lessons, task, got `{lesson}`.',
    );
  });
});

describe('prompt sets', () => {
  const critic = { name: 'critic', version: 2, texts: { ask: 'Well?', tell: 'So.' } };

  test('take other texts, and only such as they have', () => {
    expect(withTexts(critic, { ask: 'And?' }).texts).toEqual({ ask: 'And?', tell: 'So.' });
    expect(() => withTexts(critic, { asks: 'And?' } as object)).toThrow(
      'Expected `prompts` to be texts named ask, tell, got `"asks"`.',
    );
    expect(() => withTexts(critic, { ask: 1 as never })).toThrow(
      'Expected `prompts.ask` to be a text, got `1`.',
    );
  });

  test('are named in journals by version and content', () => {
    const [version, address] = promptsOf(critic)['critic']?.split(' ') ?? [];
    expect(version).toBe('2');
    expect(address).toHaveLength(43);
    expect(promptsOf(withTexts(critic, { ask: 'And?' }))).not.toEqual(promptsOf(critic));
    expect(promptsOf(withTexts(critic, { ask: 'Well?' }))).toEqual(promptsOf(critic));
  });
});

test('parts tell together what each of them tells', () => {
  expect(
    provenanceOf({ stamps: ['a'], prompts: { x: '1' } }, undefined, {
      stamps: ['b', 'a'],
      prompts: { y: '2' },
    }),
  ).toEqual({ stamps: ['a', 'b'], prompts: { x: '1', y: '2' } });
  expect(provenanceOf({}, undefined)).toEqual({});
});
