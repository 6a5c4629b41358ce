import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import type {
  RewardModel,
  ScoreRequest,
  Solution,
  StepScores,
} from '../../src/contracts/reward-model.ts';
import { openGate } from './harness.ts';

const first = { prompt: 'How?', steps: ['First.', 'Then.'] };
const other = { prompt: 'How?', steps: ['Or.'] };
const third = { prompt: 'Why?', steps: ['So.'] };
/** Gives each step of a solution the next score of its prompt. */
const model = (
  answer: (solution: Solution) => StepScores['scores'][number] | null,
  settings: Partial<RewardModel> = {},
) => {
  const asked: (readonly Solution[])[] = [];
  return {
    provider: 'test',
    modelId: 'prm',
    ...settings,
    asked,
    score: ({ solutions }: ScoreRequest) => {
      asked.push(solutions);
      const scores = solutions.map(answer) as StepScores['scores'];
      return Promise.resolve({ scores, usage: { inputTokens: 9, outputTokens: 0 } });
    },
  };
};
const byLength = ({ steps }: Solution) => steps.map(({ length }) => length / 10);

describe('what is bought', () => {
  test('asks for all solutions in one request, and for each of them once', async () => {
    const { calls, ledger } = openGate();
    const prm = model(byLength);
    const both = await calls.score(prm, { solutions: [first, other, first] });
    const again = await calls.score(prm, { solutions: [third, first] });

    expect(both).toEqual({
      scores: [[0.6, 0.5], [0.3], [0.6, 0.5]],
      usage: { inputTokens: 9, outputTokens: 0 },
    });
    expect(again.scores).toEqual([[0.3], [0.6, 0.5]]);
    expect(prm.asked).toEqual([[first, other], [third]]);
    expect(ledger.spend).toMatchObject({ calls: 3, tokens: 18 });
  });

  test('reserves one call a solution, and all that is read', async () => {
    const { calls, ledger } = openGate({ budget: { calls: 1 } });
    const prm = model(byLength);

    await expect(calls.score(prm, { solutions: [first, other] })).rejects.toThrow(
      'The budget has 1 calls left, counting refused ones; the next call may need 2.',
    );
    expect(prm.asked).toEqual([]);
    expect(ledger.spend.calls).toBe(0);
  });

  test('finds in a journal what was asked for in other company', async () => {
    const journal = memoryJournal();
    const { calls } = openGate({ journal });
    const prm = model(byLength);
    await calls.score(prm, { solutions: [first, other] });
    await calls.score(prm, { solutions: [third] });
    const { calls: replaying } = openGate({ journal: replayed(journal) });
    const silent = model(() => null);

    const found = await replaying.score(silent, { solutions: [third, other] });
    expect(found.scores).toEqual([[0.3], [0.3]]);
    expect(silent.asked).toEqual([]);
    await expect(
      replaying.score(silent, { solutions: [{ prompt: '', steps: ['?'] }] }),
    ).rejects.toThrow('The journal does not contain this score call of test:prm');
  });
});

describe('what is given', () => {
  test.each([
    [[0.9], 'test:prm gave 1 score for 2 steps.'],
    [[0.9, 0.8, 0.7], 'test:prm gave 3 scores for 2 steps.'],
    [[0.9, Number.NaN], 'test:prm gave the score `NaN`, which is not a number from 0 to 1.'],
    [[0.9, 1.2], 'test:prm gave the score `1.2`, which is not a number from 0 to 1.'],
    [[0.9, '1' as never], 'test:prm gave the score `1`, which is not a number from 0 to 1.'],
    [null, 'test:prm gave no scores for 2 steps.'],
  ])('lets a solution with the scores %j fail alone', async (scores, message) => {
    const { calls } = openGate();
    const prm = model((solution) => (solution === first ? scores : byLength(solution)));
    const given = await calls.score(prm, { solutions: [other, first, third] });

    expect(given.scores).toEqual([[0.3], { kind: 'invalid', message }, [0.3]]);
  });

  test('keeps the range of a model and its one score for the whole', async () => {
    const { calls } = openGate();
    const orm = model(() => [-7.5], { scores: 'solution', range: [-10, 10] });

    expect((await calls.score(orm, { solutions: [first] })).scores).toEqual([[-7.5]]);
  });

  test('scores from a step on only where the model can', async () => {
    const { calls } = openGate();
    const later = { ...first, from: 1 };
    const prm = model(({ steps, from }) => steps.slice(from).map(() => 0.5), {
      incremental: true,
    });

    expect((await calls.score(prm, { solutions: [later] })).scores).toEqual([[0.5]]);
    await expect(calls.score(model(byLength), { solutions: [later] })).rejects.toThrow(
      'Expected `from` to be from 0 to 0, got `1`.',
    );
    await expect(calls.score(prm, { solutions: [{ ...first, from: 2 }] })).rejects.toThrow(
      'Expected `from` to be from 0 to 1, got `2`.',
    );
  });

  test('is an error where the answer is for other solutions', async () => {
    const { calls } = openGate();
    const prm = {
      provider: 'test',
      modelId: 'prm',
      score: () => Promise.resolve({ scores: [[1]] }),
    };

    await expect(calls.score(prm, { solutions: [first, other] })).rejects.toThrow(
      'test:prm gave 1 lists of scores for 2 solutions.',
    );
  });
});
