import { describe, expect, test } from 'vitest';
import * as stepLabels from '../../src/data/labels/step-labels.ts';
import { readOmegaPrm } from '../../src/data/readers/omega-prm.ts';
import * as rlRules from '../../src/data/rl/rl-rules.ts';

/** As published: rollouts that went right are listed, and the others counted in the values. */
const file = JSON.stringify({
  question: 'What is 3 + 4?',
  final_answer: '7',
  reasoning_steps: {
    text: 'What is 3 + 4?',
    mc_value: 0.5,
    children: [
      { text: 'We add.', mc_value: 0.25, children: [{ text: 'Seven.', mc_value: 1 }] },
      { text: 'We guess.', mc_value: 0 },
    ],
  },
});

describe('trees that hold the right ends only', () => {
  const trees = readOmegaPrm(file);

  test.each([
    ['math-shepherd', stepLabels.mathShepherd()],
    ['omega-prm', stepLabels.omegaPrm()],
    ['from the evaluation', stepLabels.mathShepherd({ from: 'evaluation' })],
  ])('are labelled by what was estimated: %s', (_name, rule) => {
    const rows = [...rule.rows(trees)];
    expect(
      rows.map(({ steps }) => steps.map(({ text, value, label }) => [text, value, label])),
    ).toEqual([
      [['We guess.', 0, false]],
      [
        ['We add.', 0.25, true],
        ['Seven.', 1, true],
      ],
    ]);
  });

  test('have no shares of ends', () => {
    const rule = stepLabels.mathShepherd({ from: 'ends' });
    expect(() => [...rule.rows(trees)]).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringMatching(
          /^Expected `from` to be `evaluation`, got `ends`: the tree of omegaprm-.* holds the right ends only/,
        ) as string,
      }),
    );
  });

  test('were solved as often as was estimated at the root', () => {
    expect([...rlRules.prompts().rows(trees)].map(({ solveRate }) => solveRate)).toEqual([0.5]);
  });

  test('give pav both sides: what fell back from one half is wrong', () => {
    const [guessed] = stepLabels.pav().rows(trees);
    // Q falls from 1/2 to 0: A = (1 − 1/2)⁴ − 1 = −15/16, and the value 0 + A / 2.
    expect(guessed?.steps).toEqual([
      { text: 'We guess.', value: -15 / 32, label: false, rating: -1 },
    ]);
  });
});
