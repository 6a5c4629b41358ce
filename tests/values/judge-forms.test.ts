import { describe, expect, test } from 'vitest';
import type { Completion } from '../../src/contracts/language-model.ts';
import { statusCodes } from '../../src/prompting/codes.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { judge } from '../../src/values/judge/judge.ts';
import type { JudgeOptions } from '../../src/values/judge/judge-options.ts';
import { workCriteria } from '../../src/values/judge/rubric.ts';
import { proposedNode, rootNode } from '../support/nodes.ts';
import { answering, request, telling, tokens, told } from './judge-fixtures.ts';

const root = rootNode<string, string>('half done');
type Options = JudgeOptions<string, string>;
type Form = Exclude<Options['form'], undefined>;

async function judged(
  model: Options['model'],
  form: Form,
  options: Partial<Options> = {},
): Promise<unknown> {
  const judging = judge({ model, form, ...options });
  return (await judging.evaluate([root], request))[0];
}

describe('a number', () => {
  test('is placed on its range, and kept as raw score', async () => {
    // (2 + 7 + 9) / 3 = 6 on a scale of 1 to 10: 5 / 9.
    const model = answering('{"reason": "fair", "score": 2}', '{"score": 7}', '{"score": 9}');
    expect(await judged(model, 'number')).toEqual({
      value: expect.closeTo(5 / 9, 12) as number,
      raw: { score: 6, range: [1, 10] },
      rationale: 'fair',
    });
    expect(model.requests[0]).toMatchObject({ samples: 3, maxTokens: 256, temperature: 1 });
    expect(told(model.requests[0] as never)).toContain('whole number from 1 to 10');
  });

  test('may be negative, as in MCTSr, and several be put together in another way', async () => {
    // min −80, mean −20: (−80 − 20) / 2 = −50 on −100 … 100 is 0.25.
    const model = answering('{"score": -80}', '{"score": "40"}', 'Score: −20');
    const aggregate = (scores: readonly number[]) =>
      (Math.min(...scores) + scores.reduce((sum, score) => sum + score, 0) / scores.length) / 2;
    expect(await judged(model, 'number', { range: [-100, 100], aggregate, reason: false })).toEqual(
      {
        value: 0.25,
        raw: { score: -50, range: [-100, 100] },
      },
    );
    expect(model.requests[0]?.maxTokens).toBe(32);
  });

  test('outside its range counts for nothing, and is told', async () => {
    const model = answering('{"score": 11}', '{"score": 10}', '{"score": 0}');
    expect(await judged(model, 'number')).toEqual({
      value: 1,
      raw: { score: 10, range: [1, 10] },
      unscored: 2,
    });
  });
});

describe('points for criteria', () => {
  test('are added, and their shares kept as parts', async () => {
    const criteria = [
      { name: 'Right so far', weight: 30, about: 'No mistake.' },
      { name: 'near', weight: 10, about: 'Little is left.' },
    ];
    // Sums 24 + 4 = 28 and 30 + 2 = 32: mean 30 of 40.
    const model = answering(
      '{"reason": "one slip", "scores": {"Right so far": 24, "near": "4/10"}}',
      'Right so far: 30/30\n**Near**: 2',
    );
    expect(await judged(model, 'criteria', { criteria, samples: 2 })).toEqual({
      value: 0.75,
      raw: { score: 30, range: [0, 40] },
      // (0.8 + 1) / 2 and (0.4 + 0.2) / 2
      parts: {
        'Right so far': expect.closeTo(0.9, 12) as number,
        near: expect.closeTo(0.3, 12) as number,
      },
      rationale: 'one slip',
    });
    expect(told(model.requests[0] as never)).toContain('- near (10): Little is left.');
    expect(told(model.requests[0] as never)).toContain(
      '{"reason": "<two sentences at most>", "scores": {"Right so far": <points>, "near": <points>}}',
    );
  });

  test.each([
    ['that leave one out', '{"scores": {"understanding": 15}}'],
    ['that exceed their weight', pointsOf({ understanding: 16 })],
    ['below nothing', pointsOf({ clarity: -1 })],
  ])('%s say nothing of the sum', async (_what, reply) => {
    expect(await judged(answering(reply), 'criteria')).toMatchObject({
      failure: { kind: 'parse' },
    });
  });

  test('have seven criteria of 100 points unless others are given, weighted as in I-MCTS', async () => {
    expect(workCriteria.map(({ weight }) => weight)).toEqual([15, 20, 20, 15, 10, 10, 10]);
    // 100 − 5 − 10 = 85
    const reply = pointsOf({ understanding: 10, care: 0 });
    expect(await judged(answering(reply), 'criteria')).toMatchObject({
      value: 0.85,
      raw: { score: 85, range: [0, 100] },
    });
  });
});

function pointsOf(changes: Readonly<Record<string, number>>): string {
  const full = Object.fromEntries(workCriteria.map(({ name, weight }) => [name, weight]));
  return JSON.stringify({ scores: { ...full, ...changes } });
}

describe('codes', () => {
  test('are worth what the map says, and averaged', async () => {
    expect(statusCodes).toEqual({ A: 1, B: 0.9, C: 0.5, D: 0.2, E: 0 });
    const model = answering('{"reason": "r", "status": "B"}', 'Status: (D)', 'E', 'Status: **b**');
    // (0.9 + 0.2 + 0 + 0.9) / 4
    expect(await judged(model, 'codes', { samples: 4 })).toEqual({
      value: expect.closeTo(0.5, 12) as number,
      rationale: 'r',
    });
    expect(told(model.requests[0] as never)).toMatch(/\nA: .*\nB: .*\nC: .*\nD: .*\nE: /);
  });

  test('may be of your own', async () => {
    const codes = { won: 1, open: 0.3 };
    const meanings = { won: 'All is done.', open: 'It is not.' };
    const model = answering('{"status": "Open"}');
    expect(await judged(model, 'codes', { codes, meanings })).toMatchObject({
      value: expect.closeTo(0.3, 12) as number,
    });
    expect(told(model.requests[0] as never)).toContain('"status": "<won or open>"');
  });

  test.each([
    'A lot is left to do.',
    'Status: A or B',
    '{"status": "F"}',
    '{"state": "A"}',
    'not A',
  ])('are not guessed from %s', async (reply) => {
    expect(await judged(answering(reply), 'codes')).toEqual({
      failure: {
        kind: 'parse',
        message: `Expected one of the codes A, B, C, D, E, got \`${reply}\`.`,
      },
    });
  });
});

describe('yes or no', () => {
  test('is P(yes) where the model tells log-probabilities, in one call', async () => {
    const model = telling(
      tokens([
        [' Yes', 0.5],
        ['yes', 0.1],
        ['No', 0.2],
        ['Maybe', 0.2],
      ]),
    );
    // 0.6 / 0.8
    expect(await judged(model, 'yes-no')).toEqual({ value: expect.closeTo(0.75, 12) as number });
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]).toMatchObject({ samples: 1, topLogprobs: 20, temperature: 0 });
  });

  test('is the share of yes elsewhere', async () => {
    const model = answering('Yes.', 'no', 'No, the sign is wrong.', 'No doubt about it');
    expect(await judged(model, 'yes-no', { samples: 4 })).toEqual({
      value: expect.closeTo(1 / 3, 12) as number,
      unscored: 1,
    });
  });

  test('comes with a reason where one is wanted, as text', async () => {
    const model = answering('{"reason": "it adds up", "answer": "yes"}');
    expect(await judged(model, 'yes-no', { reason: true, samples: 1 })).toEqual({
      value: 1,
      rationale: 'it adds up',
    });
  });
});

describe('success', () => {
  test('is 1, on track 0.5, and anything else 0', async () => {
    const model = answering(
      '{"reason": "done", "success": true, "on_track": false}',
      'Success: no\nOn track: yes',
      '{"success": false, "on_track": false}',
      '{"success": "no"}',
    );
    // (1 + 0.5 + 0) / 3; the last one leaves the track open.
    expect(await judged(model, 'success', { samples: 4 })).toEqual({
      value: 0.5,
      rationale: 'done',
      unscored: 1,
    });
  });
});

const forms: readonly Form[] = ['number', 'criteria', 'codes', 'yes-no', 'success'];

describe('all forms', () => {
  test.each(forms)('of a judgement fail where no answer can be read: %s', async (form) => {
    const judging = judge({ model: answering('I would rather not.'), form });
    expect(await judging.evaluate([root], request)).toEqual([
      {
        failure: {
          kind: 'parse',
          message: expect.stringMatching(/^Expected .*, got `I would rather not\.`\.$/) as string,
        },
      },
    ]);
  });

  test.each(forms)('bind a model that honours a schema, and only such: %s', async (form) => {
    for (const schema of [true, false]) {
      const model = scriptedModel({ capabilities: { n: true, schema }, answer: () => '' });
      await judged(model, form, { reason: true });
      expect(model.requests[0]?.schema).toEqual(
        schema
          ? expect.objectContaining({ type: 'object', additionalProperties: false })
          : undefined,
      );
    }
  });

  test.each(['scale', ...forms] as const)(
    'show the step, the rubric and what is told: %s',
    async (form) => {
      const model = answering('');
      const part = { text: () => 'Lesson: look twice.', prompts: { lessons: '1 abc' } };
      const judging = judge({
        model,
        form,
        about: 'action',
        rubric: 'Be {severe}.',
        promptParts: [part],
      });
      expect(judging.needs).toBe('proposed');
      expect(judging.prompts).toMatchObject({
        lessons: '1 abc',
        [`judge-${form}`]: expect.stringMatching(/^1 \S+/) as string,
      });
      await judging.evaluate([proposedNode('start', 'jump')], request);
      const text = told(model.requests[0] as never);
      const order = ['Work: start.', 'Lesson: look twice.', 'do jump', 'Be {severe}.'];
      const places = order.map((piece) => text.indexOf(piece));
      if (form === 'scale') expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
      else expect(places).toEqual(places.toSorted((left, right) => left - right));
      expect(places).not.toContain(-1);
    },
  );
});

describe('the options of a form', () => {
  test('ask with other texts where they are given, and say so', async () => {
    const model = answering('{"score": 10}');
    const plain = judge({ model, form: 'number' });
    const own = judge({
      model,
      form: 'number',
      prompts: { question: 'From {least} to {greatest}?' },
    });
    expect(own.prompts).not.toEqual(plain.prompts);
    await own.evaluate([root], request);
    expect(told(model.requests[0] as never)).toContain('\n\nFrom 1 to 10?\n\n');
    expect(() => judge({ model, form: 'number', prompts: { codes: '' } as never })).toThrow(
      'Expected `prompts` to be texts named',
    );
  });

  test('say what is wrong with their options', () => {
    const model = answering('');
    const wrong: readonly (readonly [object, string])[] = [
      [{ form: 'guess' }, "'scale' or 'number'"],
      [{ form: 'number', range: [5, 5] }, 'two whole numbers'],
      [{ form: 'number', range: [0, 0.5] }, 'two whole numbers'],
      [{ form: 'criteria', criteria: [] }, 'one or more'],
      [{ form: 'criteria', criteria: [{ name: 'a', weight: 0, about: '' }] }, 'weight above 0'],
      [{ form: 'codes', codes: { A: 1 } }, 'two or more different words'],
      [{ form: 'codes', codes: { A: 1, B: 2 } }, 'two or more different words'],
      [{ form: 'codes', codes: { A: 1, Z: 0 } }, 'Expected `meanings.Z` to be'],
      [{ temperature: -1 }, 'Expected `temperature`'],
      [{ topP: 2 }, 'Expected `topP`'],
      [{ aggregate: 'mean' }, 'Expected `aggregate`'],
    ];
    for (const [options, message] of wrong) {
      expect(() => judge({ model, ...options })).toThrow(message);
    }
  });
});

describe('the verdict of a reply', () => {
  const read = async (reply: string | Completion) => {
    const verdict = await judged(answering(reply), 'number', { samples: 1 });
    return (verdict as { raw?: { score: number } }).raw?.score;
  };

  test.each<readonly [string, string, number | undefined]>([
    ['JSON in a fence', '```json\n{"score": 7}\n```', 7],
    ['JSON within JSON', '{"verdict": {"reason": "x", "score": 7}}', 7],
    ['the last of several', 'First {"score": 3}. No: {"score": 8}', 8],
    ['the last line of several', 'Score: 3\nOn second thought\n**Score:** 8/10', 8],
    ['a line before another word of it', 'Score: 6\nThe score is not 2.', 6],
    ['a bare number', ' 7 ', 7],
    ['a fraction of the range', 'Score: 7/10', 7],
    ['what follows thoughts', '<think>{"score": 1} hm</think>{"score": 9}', 9],
    ['a last verdict that is no good', '{"score": 3} {"score": 30}', undefined],
    ['a fraction of another range', 'Score: 7/20', undefined],
    ['a number in prose', 'I give it a 7, or 8.', undefined],
    ['a denial', 'This is not a score: 7', undefined],
    ['JSON that does not end', '{"reason": "x", "score": 1', undefined],
    ['a truth value', '{"score": true}', undefined],
    ['a list', '{"score": [7]}', undefined],
  ])('is read from %s', async (_what, reply, score) => {
    expect(await read(reply)).toBe(score);
  });

  test('is not read from what was cut off, or refused', async () => {
    expect(await read({ text: 'Score: 1', finishReason: 'length' })).toBeUndefined();
    expect(await read({ text: '1', finishReason: 'length' })).toBeUndefined();
    expect(
      await read({ text: '{"score": 2} {"score": 1', finishReason: 'length' }),
    ).toBeUndefined();
    expect(await read({ text: '{"score": 2} and', finishReason: 'length' })).toBe(2);
    expect(await read({ text: '{"score": 2}', finishReason: 'refusal' })).toBeUndefined();
  });
});
