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
