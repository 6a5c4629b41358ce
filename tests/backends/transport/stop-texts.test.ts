import { describe, expect, test } from 'vitest';
import { cutAtStop } from '../../../src/backends/transport/sampling.ts';
import { endsAtStop, overAtStop } from '../../../src/backends/transport/stop-texts.ts';

describe('a stop text in an answer that comes in pieces', () => {
  test.each([
    ['ab', ['c'], false],
    ['abc', ['c'], true],
    // "bcd" may still come, and begins before "c".
    ['abc', ['c', 'bcd'], false],
    ['abcx', ['c', 'bcd'], true],
    ['abcd', ['c', 'bcd'], true],
    ['c', ['c', ''], true],
    ['abc', [], false],
    // What could still come begins behind what is there.
    ['abca', ['b', 'ax'], true],
  ])('of %j, at one of %j: %j', (text, stop, ends) => {
    expect(endsAtStop(text, stop)).toBe(ends);
  });

  test('cuts it where the whole of it would be cut, whatever follows', () => {
    const letters = ['a', 'b', 'c'];
    const all = (length: number): readonly string[] =>
      length === 0 ? [''] : all(length - 1).flatMap((text) => letters.map((end) => text + end));
    const stops = [
      ['ab', 'bca'],
      ['c', 'bb', 'aba'],
      ['abab', 'b'],
    ];
    for (const stop of stops) {
      for (const text of all(7)) {
        const whole = cutAtStop({ text }, stop).text;
        const ends = Array.from(text, (_, place) => place + 1).filter((end) =>
          endsAtStop(text.slice(0, end), stop),
        );
        const [first = text.length] = ends;
        expect(cutAtStop({ text: text.slice(0, first) }, stop).text).toBe(whole);
      }
    }
  });

  test('is looked for behind what the model was told', () => {
    const isOver = overAtStop({ stop: ['.'] }, 'A. B');
    expect(['A', 'A.', 'A. B', 'A. B c', 'A. B c.', 'X.'].map((text) => isOver?.(text))).toEqual([
      ...[false, false, false, false, true, true],
    ]);
  });

  test('ends nothing where tools may be called', () => {
    expect(overAtStop({ stop: ['.'], tools: [{ name: 'add', input: {} }] })).toBeUndefined();
  });
});
