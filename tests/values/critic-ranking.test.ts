import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../../src/testing/index.ts';
import { criticRanking, linearRank } from '../../src/values/critic/critic-ranking.ts';
import { rootNode } from '../support/nodes.ts';
import { answering, proposals, request, told } from './judge-fixtures.ts';

const nodes = proposals('s', 'a', 'b', 'c');
const values = (verdicts: readonly object[]) =>
  verdicts.map((verdict) => ('value' in verdict ? verdict.value : verdict));

/** The numbers and texts of the proposals that are shown. */
function shown(asked: string): readonly (readonly [number, string])[] {
  return [...asked.matchAll(/^(\d+)\. (.*)$/gm)].map(([, number, text = '']) => [
    Number(number),
    text,
  ]);
}

/** A critic that names the last of the texts in its order that is left. */
function critic(...order: readonly string[]) {
  return scriptedModel({
    answer: (asked) => {
      const left = shown(told(asked));
      const best = order.find((name) => left.some(([, text]) => text === `do ${name}`));
      const [number] = left.find(([, text]) => text === `do ${best}`) ?? [];
      return JSON.stringify({ reason: `${best} is best`, best: number });
    },
  });
}

test('the value of a place falls evenly', () => {
  expect([1, 2, 3, 4, 5].map((rank) => linearRank(rank, 5))).toEqual([1, 0.75, 0.5, 0.25, 0]);
  expect(linearRank(1, 1)).toBe(1);
});

describe('a critic that lists', () => {
  test('gives all places in one call', async () => {
    const model = answering('{"reason": "c closes it", "ranking": [3, 1, 2]}');
    const evaluator = criticRanking({ model, by: 'list' });
    expect(evaluator.needs).toBe('proposed');
    expect(evaluator.prompts).toHaveProperty('critic-ranking');
    // c is first, a second, b last.
    expect(await evaluator.evaluate(nodes, request)).toEqual([
      { value: 0.5, about: 'action', rationale: 'Rank 2 of 3: c closes it' },
      { value: 0, about: 'action', rationale: 'Rank 3 of 3: c closes it' },
      { value: 1, about: 'action', rationale: 'Rank 1 of 3: c closes it' },
    ]);
    expect(model.requests).toHaveLength(1);
    expect(shown(told(model.requests[0] as never))).toEqual([
      [1, 'do a'],
      [2, 'do b'],
      [3, 'do c'],
    ]);
  });

  test.each([
    ['leaves one out', '{"ranking": [3, 1]}'],
    ['names one twice', '{"ranking": [3, 1, 1]}'],
    ['names one twice besides', '{"ranking": [3, 1, 2, 2]}'],
    ['knows another one', '{"ranking": [3, 1, 4]}'],
    ['counts from 0', '{"ranking": [0, 1, 2]}'],
    ['has a fraction', '{"ranking": [1, 2, 2.5]}'],
    ['leaves a place empty', '{"ranking": {"1": 3, "2": 1}}'],
    ['gives two places to one', '{"ranking": {"1": 3, "2": 1, "3": 3}}'],
    ['is none', 'I like c.'],
  ])('does not count where its list %s', async (_what, reply) => {
    const failure = {
      failure: {
        kind: 'parse',
        message: `Expected each number from 1 to 3 once, got \`${reply}\`.`,
      },
    };
    const evaluator = criticRanking({ model: answering(reply), by: 'list' });
    expect(await evaluator.evaluate(nodes, request)).toEqual([failure, failure, failure]);
  });

  test('asks for a place each, so that a schema leaves none out, and reads places and lists', async () => {
    const model = scriptedModel({
      capabilities: { schema: true },
      answer: () => '{"ranking": {"1": 3, "2": 1, "3": 2}}',
    });
    const evaluator = criticRanking({ model, by: 'list', reason: false });

    expect(await evaluator.evaluate(nodes, request)).toMatchObject([
      { value: 0.5 },
      { value: 0 },
      { value: 1 },
    ]);
    const place = { type: 'integer', enum: [1, 2, 3] };
    expect(model.requests[0]?.schema).toMatchObject({
      properties: {
        ranking: { properties: { 1: place, 2: place, 3: place }, required: ['1', '2', '3'] },
      },
    });
    expect(told(model.requests[0] as never)).toContain(
      '{"ranking": {"1": <number>, "2": <number>, "3": <number>}}',
    );
  });

  test('averages over the lists that count', async () => {
    const model = answering('{"ranking": [1, 2, 3]}', 'Ranking: 2 > 1 > 3', '{"ranking": [1]}');
    const options = { model, by: 'list', samples: 3, reason: false } as const;
    expect(await criticRanking(options).evaluate(nodes, request)).toEqual([
      { value: 0.75, about: 'action', rationale: 'Rank 1, 2 of 3.', unscored: 1 },
      { value: 0.75, about: 'action', rationale: 'Rank 2, 1 of 3.', unscored: 1 },
      { value: 0, about: 'action', rationale: 'Rank 3, 3 of 3.', unscored: 1 },
    ]);
  });

  test('maps places as it is told to', async () => {
    const model = answering('{"ranking": [3, 1, 2]}');
    const create = (rankScore: (rank: number, count: number) => number) =>
      criticRanking({ model, by: 'list', rankScore });
    expect(values(await create((rank) => 1 / rank).evaluate(nodes, request))).toEqual([
      0.5,
      1 / 3,
      1,
    ]);
    expect(await create((rank) => 2 - rank).evaluate(nodes, request)).toMatchObject([
      { value: 0 },
      { failure: { kind: 'invalid', message: expect.stringContaining('`rankScore`') as string } },
      { value: 1 },
    ]);
  });
});

describe('a critic that names the best of those that are left', () => {
  test('is asked one time less than there are proposals, one after the other', async () => {
    const model = critic('b', 'c', 'a');
    expect(await criticRanking({ model }).evaluate(nodes, request)).toEqual([
      { value: 0, about: 'action', rationale: 'Rank 3 of 3.' },
      { value: 1, about: 'action', rationale: 'Rank 1 of 3: b is best' },
      { value: 0.5, about: 'action', rationale: 'Rank 2 of 3: c is best' },
    ]);
    expect(model.requests.map((asked) => shown(told(asked)).map(([number]) => number))).toEqual([
      [1, 2, 3],
      [1, 3],
    ]);
  });

  test('takes the one named most, and of several the first', async () => {
    // Of three: 2, 2, 3. Of the two that are left: 1, 3 and one that has its place already.
    const answers = [
      ['2', '{"best": 3}', '2'],
      ['3', '1', '2'],
    ];
    const model = scriptedModel({
      answer: (asked, index) => answers[3 - shown(told(asked)).length]?.[index] ?? '',
    });
    const evaluator = criticRanking({ model, samples: 3, reason: false });
    expect(await evaluator.evaluate(nodes, request)).toEqual([
      { value: 0.5, about: 'action', rationale: 'Rank 2 of 3.', unscored: 1 },
      { value: 1, about: 'action', rationale: 'Rank 1 of 3.' },
      { value: 0, about: 'action', rationale: 'Rank 3 of 3.', unscored: 1 },
    ]);
  });

  test('leaves places as they are where it cannot go on', async () => {
    const model = scriptedModel({
      answer: (asked) => (shown(told(asked)).length === 4 ? '{"best": 2}' : '{"best": 2}!'),
    });
    const failure = {
      failure: {
        kind: 'parse',
        message: 'Expected one of the numbers 1, 3, 4, got `{"best": 2}!`.',
      },
    };
    expect(
      await criticRanking({ model }).evaluate(proposals('s', 'a', 'b', 'c', 'd'), request),
    ).toEqual([
      failure,
      { value: 1, about: 'action', rationale: 'Rank 1 of 4.' },
      failure,
      failure,
    ]);
  });
});

describe('a critic', () => {
  test('ranks all children of a node, whichever are asked about, and each node by itself', async () => {
    const others = proposals('t', 'x', 'c');
    const model = critic('c', 'b', 'a', 'x');
    const evaluator = criticRanking({ model });
    const batch = [nodes[1], others[0], nodes[2], others[1]].flatMap((node) => node ?? []);
    expect(values(await evaluator.evaluate(batch, request))).toEqual([0.5, 0, 1, 1]);
    // Two questions about three proposals, one about two.
    expect(model.requests).toHaveLength(3);
    expect(values(await evaluator.evaluate(batch.slice(0, 1), request))).toEqual([0.5]);
  });

  test('lets another node keep its places where one cannot be ranked', async () => {
    const model = scriptedModel({
      answer: (asked) => {
        if (told(asked).startsWith('Work: t.')) throw new Error('Out of order.');
        return '{"ranking": [1, 2, 3]}';
      },
    });
    const [other] = proposals('t', 'x', 'y');
    const evaluator = criticRanking({ model, by: 'list' });
    expect(values(await evaluator.evaluate([...nodes, other as never], request))).toEqual([
      1,
      0.5,
      0,
      { failure: { kind: 'call', message: 'Out of order.' } },
    ]);
  });

  test('is not asked about a single proposal, or the root', async () => {
    const model = critic('a');
    const evaluator = criticRanking({ model });
    const single = [...proposals('s', 'a'), rootNode<string, string>('s')];
    expect(await evaluator.evaluate(single, request)).toMatchObject([{ value: 1 }, { value: 1 }]);
    expect(model.requests).toEqual([]);
  });

  test('is told what it ranks by, and what is included', async () => {
    const model = critic('a');
    const part = { text: () => 'Lesson.', stamps: ['told'] };
    const evaluator = criticRanking({ model, promptParts: [part], rubric: 'Be quick.' });
    expect(evaluator.stamps).toEqual(['told']);
    await evaluator.evaluate(nodes, request);
    expect(told(model.requests[0] as never)).toMatch(
      /^Work: s\.\n\nLesson\.\n\nProposed steps.*Be quick\./s,
    );
  });

  test('is bound to a schema where it honours one', async () => {
    const model = scriptedModel({ capabilities: { n: true, schema: true }, answer: () => '' });
    await criticRanking({ model, reason: false }).evaluate(nodes, request);
    expect(model.requests[0]?.schema).toMatchObject({ properties: { best: { enum: [1, 2, 3] } } });
  });

  test('says what is wrong with its options', () => {
    const model = critic();
    const wrong = [
      { by: 'lot' },
      { samples: 0 },
      { maxTokens: 0 },
      { rankScore: 1 },
      { reason: 1 },
    ];
    for (const options of wrong) {
      const [name = ''] = Object.keys(options);
      expect(() => criticRanking({ model, ...options } as never)).toThrow(`\`${name}\``);
    }
  });
});
