import { describe, expect, test } from 'vitest';
import { prm800kFiles, readPrm800k } from '../../src/data/formats/prm800k.ts';
import type { LabelledStep, StepwiseRow } from '../../src/data/rows.ts';
import { writtenBy } from './formats-rows.ts';

const format = prm800kFiles().forms.stepwise;

const published = {
  labeler: 'a',
  timestamp: '2022',
  generation: null,
  question: { problem: 'How many?', ground_truth_answer: '42', pre_generated_steps: ['One.'] },
  label: {
    steps: [
      {
        completions: [
          { text: 'One.', rating: 1, flagged: false },
          { text: 'Two.', rating: null, flagged: null },
        ],
        human_completion: null,
        chosen_completion: 0,
      },
      {
        completions: [{ rating: -1, text: 'Three.' }],
        human_completion: { text: 'Four.', rating: null, source: 'human', flagged: false },
        chosen_completion: null,
      },
      {
        completions: [
          { text: 'Five.', rating: 0, flagged: false },
          { text: 'Six.', rating: -1, flagged: false },
        ],
        human_completion: null,
        chosen_completion: 1,
      },
      { completions: [], human_completion: null, chosen_completion: null },
    ],
    total_time: 3,
    finish_reason: 'solution',
  },
  later: [1, { a: null }],
};

function read(row: unknown): StepwiseRow {
  const [first] = readPrm800k(JSON.stringify(row));
  if (first === undefined) throw new Error('Expected a row.');
  return first;
}

function rated(text: string, rating: -1 | 0 | 1): LabelledStep {
  return { text, rating, label: rating === 1, value: (rating + 1) / 2 };
}

describe('readPrm800k', () => {
  test('reads what was proposed and what was taken', () => {
    const row = read(published);

    expect(row.prompt).toEqual([{ role: 'user', content: 'How many?' }]);
    expect(row.alternatives).toEqual([
      [rated('One.', 1), rated('Two.', 0)],
      [rated('Three.', -1), rated('Four.', 1)],
      [rated('Five.', 0), rated('Six.', -1)],
    ]);
    expect(row.taken).toEqual([0, 1, 1]);
    expect(row.steps.map(({ text }) => text)).toEqual(['One.', 'Four.', 'Six.']);
    expect(row.right).toBe(false);
    expect(JSON.stringify([row.prompt, row.steps])).not.toContain('42');
  });

  test('is written back equal, keys in their order', () => {
    expect(JSON.stringify(format.write(read(published)))).toBe(JSON.stringify(published));
  });

  test('without a choice the first one was labelled last; what was not finished is no end', () => {
    const [first] = published.label.steps;
    const steps = [{ ...first, chosen_completion: null }];
    const row = read({ ...published, label: { steps, finish_reason: 'found_error' } });

    expect(row.taken).toEqual([0]);
    expect(row.right).toBeUndefined();
  });

  test('what is changed is written changed', () => {
    const row = read(published);
    const alternatives = row.alternatives.map((proposed) =>
      proposed.map((step) => (step.text === 'Two.' ? rated('Two!', -1) : step)),
    );
    const written = JSON.stringify(format.write({ ...row, alternatives }));

    expect(written).toBe(
      JSON.stringify(published).replace('"Two.","rating":null', '"Two!","rating":-1'),
    );
  });

  test.each([
    [{ question: { problem: 1 } }, 'field `question.problem`'],
    [
      { ...published, label: { steps: [{ completions: [{ text: 'a', rating: 2 }] }] } },
      'field `label.steps.0.completions.0.rating`',
    ],
  ])('refuses %j', (row, message) => {
    const text = `\n${JSON.stringify(row)}`;

    expect(() => readPrm800k(text)).toThrow(`line 2, ${message}`);
  });
});

describe('prm800k', () => {
  const { extra: _, ...row } = read(published);

  test('writes rows of our own trees', () => {
    const shorter = { ...row, alternatives: [[rated('a', 1), rated('b', -1)]], taken: [1] };

    expect(format.write({ ...shorter, right: true })).toMatchObject({
      labeler: 'prm800k',
      timestamp: null,
      question: { problem: 'How many?', ground_truth_answer: null },
      label: {
        steps: [
          {
            completions: [
              { text: 'a', rating: 1, flagged: false },
              { text: 'b', rating: -1, flagged: false },
            ],
            human_completion: null,
            chosen_completion: 1,
          },
        ],
        finish_reason: 'solution',
      },
    });
  });

  test('has the declared columns, in order', () => {
    const written = writtenBy(format, row);

    expect(Object.keys(written)).toEqual(Object.keys(format.columns));
    expect(written['label']).toMatchObject({ finish_reason: 'found_error' });
    const open = writtenBy(format, { ...row, right: undefined });
    expect(open['label']).toMatchObject({ finish_reason: 'give_up' });
  });

  test('a row that has other steps by now is written anew', () => {
    const changed = { ...read(published), alternatives: [[rated('a', 1)]], taken: [0] };

    expect(format.write(changed)).toMatchObject({ labeler: 'prm800k', timestamp: null });
  });
});
