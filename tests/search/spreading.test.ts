import { expect, test } from 'vitest';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import { search } from '../../src/search/search.ts';
import { descend, puct, uct } from '../../src/tree/selection.ts';

const moves = ['a', 'b', 'c', 'd'];

test.each([
  ['uct', uct()],
  ['puct', puct()],
])('simulations that start together expand different leaves, under %s', async (_name, rule) => {
  const { spend, tree } = await search(
    {
      name: 'words',
      reset: () => ({ state: '' }),
      step: (state: string, move: string) => ({ state: state + move }),
    },
    {
      policy: {
        propose: ({ state }, { context }) =>
          context.effect('propose', state ?? '', () =>
            Promise.resolve(moves.map((action) => ({ action, prior: 0.25 }))),
          ),
      },
      // Simulations that take the mean at its word would all go the same way.
      evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) },
      algorithm: mcts({ selection: descend(rule) }),
      concurrency: 4,
      budget: { simulations: 8 },
    },
  );

  // The first four share the root's expansion and evaluate its four children; the next four expand them.
  expect(spend.calls).toBe(1 + 4);
  expect(tree.root.children.map(({ visits }) => visits)).toEqual([2, 2, 2, 2]);
});

test('sixty simulations at once expand sixty nodes: none counts where another one is at work', async () => {
  const { spend, tree } = await search(
    {
      name: 'words',
      reset: () => ({ state: '' }),
      step: (state: string, move: string) => ({ state: state + move }),
    },
    {
      policy: async ({ state }, { context }) => {
        await context.effect('propose', state, () => Promise.resolve(1));
        return moves.map((action) => ({ action, prior: 0.25 }));
      },
      evaluator: () => 0.5,
      algorithm: mcts({ evaluate: 'all' }),
      concurrency: 60,
      budget: { simulations: 60 },
    },
  );
  expect(spend).toMatchObject({ simulations: 60, calls: 60 });
  expect(tree.size).toBe(1 + 60 * 4);
  expect([...tree.nodes()].every(({ inFlight }) => inFlight === 0)).toBe(true);
});
