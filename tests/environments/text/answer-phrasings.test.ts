import { describe, expect, test } from 'vitest';
import { isSameAnswer } from '../../../src/environments/index.ts';
import { alone } from './phrasings/alone.ts';
import { english } from './phrasings/english.ts';
import { englishForms } from './phrasings/english-forms.ts';
import { heldOut } from './phrasings/held-out.ts';
import { heldOutAgain } from './phrasings/held-out-again.ts';
import { heldOutLast } from './phrasings/held-out-last.ts';
import { languages } from './phrasings/languages.ts';
import { none } from './phrasings/none.ts';
import { score } from './phrasings/score.ts';
import { wholeTexts } from './phrasings/whole-texts.ts';

const knownMisses = [
  // `A:` may begin a list of choices, and a label within a formula is rare.
  'held out, English: "Q: How many?\\nA: 18"',
  'held out, English: "$$\\\\text{Answer: } 18$$"',
];

describe('answers in texts as models write them', () => {
  const { wrong, missed, recall, report } = score({
    ...english,
    ...englishForms,
    ...languages,
    ...none,
    ...heldOut,
    ...heldOutAgain,
    ...heldOutLast,
    ...wholeTexts,
  });
  // What `npx vitest run` of this file is asked for.
  process.stdout.write(`${report}\n`);

  test('none is read wrong, and none where none is stated', () => {
    expect(wrong).toEqual([]);
  });

  test('all but the known ones are read', () => {
    expect(missed.map((row) => row.slice(0, row.indexOf('" is ') + 1))).toEqual(knownMisses);
    expect(recall).toBeGreaterThan(0.99);
  });
});

describe('what stands where an answer belongs', () => {
  test.each(alone)('%j is %j, and not %j', (written, answer, another) => {
    expect(isSameAnswer(written, answer)).toBe(true);
    expect(isSameAnswer(answer, written)).toBe(true);
    expect(isSameAnswer(written, another)).toBe(false);
    expect(isSameAnswer(another, written)).toBe(false);
  });
});
