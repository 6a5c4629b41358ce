import { describe, expect, test } from 'vitest';
import { mathShepherdFiles, readMathShepherd } from '../../src/data/formats/math-shepherd.ts';
import type { LabelledStep, StepwiseRow } from '../../src/data/rows.ts';

const format = mathShepherdFiles().forms.stepwise;

const usual = {
  input: 'How many? Step 1: Add 1 + 2. ки\nStep 2: The answer is: 4 ки',
  label: 'How many? Step 1: Add 1 + 2. +\nStep 2: The answer is: 4 -',
  task: 'GSM8K',
};

function read(row: unknown): StepwiseRow {
  const [first] = readMathShepherd(JSON.stringify(row));
  if (first === undefined) throw new Error('Expected a row.');
  return first;
}

function labelled(text: string, label: boolean): LabelledStep {
  return { text, label, value: label ? 1 : 0, rating: label ? 1 : -1 };
}

describe('readMathShepherd', () => {
  test('reads question, steps and labels', () => {
    const row = read(usual);

    expect(row).toMatchObject({
      kind: 'stepwise',
      prompt: [{ role: 'user', content: 'How many?' }],
      steps: [labelled('Add 1 + 2.', true), labelled('The answer is: 4', false)],
      taken: [0, 0],
      right: false,
      extra: { task: 'GSM8K' },
    });
    expect(row.alternatives).toEqual(row.steps.map((step) => [step]));
    expect(row.provenance).toMatchObject({ rule: 'math-shepherd', guidance: 'oracle-guided' });
  });

  test('a question that mentions a step, and a solution without an answer', () => {
    const text = 'What is Step 1: in it? Step 1: Nothing.';
    const row = read({ input: `${text} ки`, label: `${text} +`, task: 'x' });

    expect(row.prompt[0]?.content).toBe('What is Step 1: in it?');
    expect(row.right).toBeUndefined();
  });

  test.each([
    usual,
    // Other white space, no number, a number that is out of order, text behind the last mark.
    {
      input: 'How many?  Step 1:Add. ки\n\nTake. ки\nStep 7: Stop ки\n',
      label: 'How many?  Step 1:Add. -\n\nTake. +\nStep 7: Stop -\n',
      task: 'MATH',
    },
  ])('is written back equal: $task', (row) => {
    expect(JSON.stringify(format.write(read(row)))).toBe(JSON.stringify(row));
  });

  test.each([
    [{ ...usual, label: usual.label.replace('+', '?') }, 'field `label`'],
    [{ ...usual, label: usual.label.replace(/\+ 2/, '+ 3') }, 'field `label`'],
    [{ ...usual, label: `${usual.label}-` }, 'field `label`'],
    [{ ...usual, input: 'Step 1: Add. ки', label: 'Step 1: Add. +' }, 'field `input`'],
    [{ input: 'a', label: 'a' }, 'field `task`'],
  ])('refuses %j', (row, message) => {
    const text = `${JSON.stringify(usual)}\n${JSON.stringify(row)}`;

    expect(() => readMathShepherd(text)).toThrow(`line 2, ${message}`);
  });
});

describe('mathShepherd', () => {
  const own: StepwiseRow = {
    ...read(usual),
    prompt: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'How many?' },
    ],
    steps: [labelled('Step 1: Add.', true), labelled('Take.', false)],
    extra: {},
  };

  test('writes rows of our own trees', () => {
    expect(format.write(own)).toEqual({
      input: 'Be brief.\n\nHow many? Step 1: Add. ки\nStep 2: Take. ки',
      label: 'Be brief.\n\nHow many? Step 1: Add. +\nStep 2: Take. -',
      task: 'math-shepherd',
    });
  });

  test('a step that holds the mark has no place', () => {
    const odd = { ...own, steps: [labelled('ки', true)] };

    expect(format.write(odd)).toContain('ки');
  });

  test('white space that was read is not put around other steps', () => {
    const changed = { ...own, extra: { gaps: [{ before: '', after: '' }] } };

    expect(format.write(changed)).toEqual(format.write(own));
  });
});
