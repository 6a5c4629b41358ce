import { describe, expect, test } from 'vitest';
import { reasoning } from '../../src/environments/index.ts';
import {
  bestOfN,
  type Environment,
  ModelCallError,
  type SearchAlgorithm,
  type SearchTree,
  search,
  solved,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { searchOf } from '../support/search-of.ts';

/** Eight draws in turn: three say 4 in two ways, two say 5, one says nothing, two say 6. */
const drawn = ['4', '5', '4.0', '6', 'none', '5', '4', '6'];
const environment = {
  name: 'sums',
  reset: () => ({ state: '' }),
  step: (_state: string, action: string) => ({ state: action, terminal: true }),
  answer: (state: string) => (state === 'none' ? undefined : Number(state)),
} satisfies Environment<string, string>;
const inTurn = () => {
  let next = 0;
  return () => [{ action: drawn[next++ % drawn.length] ?? '' }];
};
/** 5 is thought well of, and 4 is not. */
const evaluator = ({ state }: { readonly state: string }) => (state === '5' ? 0.9 : 0.25);

describe('a vote', () => {
  test('of trajectories is won by the answer that most of them came to', async () => {
    const { tree, best, actions, optimal, solved } = await searchOf({
      environment,
      policy: inTurn(),
      algorithm: bestOfN({ n: 8, choose: 'majority' }),
    });
    expect(tree.conclusion?.shares?.map(({ answer, share }) => [answer, share])).toEqual([
      [4, 3 / 7],
      [5, 2 / 7],
      [6, 2 / 7],
    ]);
    // '4' was drawn twice and '4.0' once: the node that more trajectories ended at stands for them.
    expect(actions).toEqual(['4']);
    expect([best.visits, optimal, solved]).toEqual([2, false, false]);
  });

  test('does not outvote the solution that the search was to end with, nor does an earlier vote', async () => {
    const asked = {
      environment: {
        ...environment,
        step: (_state: string, action: string) => ({
          ...{ state: action, terminal: true, reward: action === '6' ? 1 : 0 },
        }),
      },
      algorithm: bestOfN({ n: 8, choose: 'majority' }),
    };
    const ended = { ...asked, policy: inTurn(), stopWhen: solved() };
    const found = await searchOf(ended);
    const voted = await searchOf({ ...asked, policy: inTurn() });
    expect(voted.best.state).toBe('4');
    for (const result of [found, await voted.resume({ stopWhen: solved() })]) {
      const { best, stopReason, solved: isSolved } = result;
      expect([best.state, stopReason, isSolved]).toEqual(['6', 'solved', true]);
    }
  });

  test('that is weighted goes by the scores of the ends', async () => {
    const { tree, actions } = await searchOf({
      environment,
      policy: inTurn(),
      evaluator,
      algorithm: bestOfN({ n: 8, choose: 'weighted' }),
    });
    expect(actions).toEqual(['5']);
    // 2 · 0.9 of 3 · 0.25 + 2 · 0.9 + 2 · 0.25.
    expect(tree.conclusion?.shares?.[0]?.share).toBeCloseTo(1.8 / 3.05, 12);
  });

  test('is told by a saved tree', async () => {
    const { tree } = await searchOf({
      environment,
      policy: inTurn(),
      algorithm: bestOfN({ n: 8, choose: 'majority' }),
    });
    const loaded = treeFromJson<string, string>(JSON.stringify(treeToJson(tree)));
    expect(loaded.conclusion).toEqual({ ...tree.conclusion, node: loaded.best });
    expect(loaded.best.action).toBe('4');
    const broken = treeToJson(tree);
    const shares = broken.conclusion?.shares?.map((share) => ({ ...share, nodes: [99] }));
    const conclusion = { ...broken.conclusion, shares };
    expect(() => treeFromJson({ ...broken, conclusion })).toThrow('field `conclusion.shares`');
  });

  test('goes on where the search goes on', async () => {
    const policy = inTurn();
    const first = await searchOf({
      environment,
      policy,
      algorithm: bestOfN({ choose: 'majority' }),
      budget: { simulations: 2 },
    });
    expect(first.actions).toEqual(['4']);
    expect(first.stopReason).toBe('budget');
    const { actions } = await first.resume({ budget: { simulations: 6 } });
    expect(actions).toEqual(['4']);
    expect(first.tree.conclusion?.shares).toHaveLength(3);
  });
});

const voting = (weights: (tree: SearchTree) => readonly number[]): SearchAlgorithm => ({
  name: 'test',
  concurrency: 'any',
  laws: [],
  async run(tree, context) {
    await context.realise(await context.expand(tree.root));
    const { children } = tree.root;
    const given = weights(tree);
    context.conclude({
      votes: children.map((node, index) => ({ node, weight: given[index] ?? 0 })),
    });
  },
});

describe('votes of an algorithm', () => {
  const all = () => ['none', '5', '4', '4.0'].map((action) => ({ action }));

  test('count the weights that they are given, of equal ones what was voted for first', async () => {
    const even = await searchOf({
      environment,
      policy: all,
      algorithm: voting(() => [9, 2, 1, 1]),
    });
    expect(even.actions).toEqual(['5']);
    const heavy = await searchOf({
      environment,
      policy: all,
      algorithm: voting(() => [9, 2, 1, 3]),
    });
    expect(heavy.actions).toEqual(['4.0']);
    expect(heavy.tree.conclusion?.shares?.map(({ nodes }) => nodes)).toEqual([[4, 3], [2]]);
  });

  test('that cannot be told are lost, and what was found stays', async () => {
    const answers: Record<string, unknown> = { '4': 4n, '4.0': () => 4, '5': { b: 1, a: [2] } };
    const { tree, failures } = await searchOf({
      environment: {
        ...environment,
        answer: (state: string) => {
          if (state === 'none') throw new Error('nobody knows');
          return answers[state] as never;
        },
      },
      policy: all,
      algorithm: voting(() => [9, 2, 1, 1]),
    });
    expect(tree.conclusion?.shares).toEqual([{ answer: { b: 1, a: [2] }, share: 1, nodes: [2] }]);
    expect(failures).toMatchObject({ count: 3, kinds: { environment: 3 } });
    expect(tree.node(1).failure?.message).toBe('nobody knows');
  });

  test('of nodes of another tree are refused', async () => {
    const other = await searchOf({ environment, policy: all, evaluator });
    const stranger: SearchAlgorithm = {
      ...voting(() => []),
      async run(tree, context) {
        await context.expand(tree.root);
        context.conclude({ votes: [{ node: other.tree.node(1) }] });
      },
    };
    await expect(searchOf({ environment, policy: all, algorithm: stranger })).rejects.toThrow(
      'Expected `votes` to be of nodes of this tree, got node 1 of another one.',
    );
  });

  test('without an answer conclude nothing', async () => {
    const { tree, stopReason } = await searchOf({
      environment,
      policy: () => [{ action: 'none' }],
      algorithm: voting(() => [1]),
    });
    expect([tree.conclusion, stopReason]).toEqual([undefined, 'exhausted']);
  });

  test('are refused where the environment has no answers, and for weights that are none', async () => {
    const { answer: _answer, ...mute } = environment;
    await expect(
      searchOf({ environment: mute, policy: all, algorithm: voting(() => [1]) }),
    ).rejects.toThrow('Expected the environment sums to have an `answer`');
    let asked = 0;
    const policy = () => [{ action: `${asked++}` }];
    const algorithm = bestOfN({ choose: 'majority' });
    await expect(searchOf({ environment: mute, policy, algorithm })).rejects.toThrow('`answer`');
    expect(asked).toBe(0);
    for (const weight of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(
        searchOf({ environment, policy: all, algorithm: voting(() => [weight]) }),
      ).rejects.toThrow('Expected `weight`');
    }
  });
});

describe('reasoning', () => {
  test('counts answers that say the same as one', () => {
    const { answer } = reasoning({ question: 'How much?' });
    const said = (text: string) => answer({ question: 'How much?', steps: ['s'], answer: text });
    for (const alike of [
      ['1/2', '0.5', String.raw`\frac{2}{4}`, '5e-1', '0.50 cm', 'x = 0.5'],
      ['1,000', '1000', '$1000'],
      ['(B)', 'B.', '(B) Paris'],
      ['yes', 'True'],
      ['(1, 2)', '1, 2', '[1, 4/2]'],
      ['The Moon', 'moon'],
    ]) {
      expect(new Set(alike.map(said)).size, alike.join(' | ')).toBe(1);
    }
    const distinct = ['1/2', '2', '-2', '50', 'B', 'yes', 'no', '1, 2', '2, 1', 'moon', '1/3'];
    expect(new Set(distinct.map(said)).size).toBe(distinct.length);
    expect(answer({ question: 'How much?', steps: [] })).toBeUndefined();
  });
});

test('a server that refuses every draw ends the search, though nothing is charged', async () => {
  let asked = 0;
  const { stopReason, spend, failures } = await search(
    { name: 'one', reset: () => ({ state: 0 }), step: () => ({ state: 1, terminal: true }) },
    {
      policy: () => {
        asked += 1;
        throw new ModelCallError({ kind: 'bad-request', message: 'No.' });
      },
      algorithm: bestOfN(),
      budget: { tokens: 1_000 },
    },
  );
  expect(asked).toBe(8);
  expect(stopReason).toBe('failed');
  expect(failures.count).toBe(8);
  expect(spend.tokens).toBe(0);
});

test('one trajectory asks no evaluator, and its end is chosen', async () => {
  let asked = 0;
  const { best, spend } = await search(
    {
      ...{ name: 'three', reset: () => ({ state: 0 }) },
      step: (state: number) => ({ state: state + 1, terminal: state === 2 }),
    },
    {
      policy: () => [{ action: 'a' }, { action: 'b' }],
      evaluator: () => {
        asked += 1;
        return 0;
      },
      algorithm: bestOfN({ n: 1 }),
      budget: { nodes: 50 },
    },
  );
  expect([best.depth, best.terminal, asked, spend.simulations]).toEqual([3, true, 0, 1]);
});
