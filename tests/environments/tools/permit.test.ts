/** What a call costs that is not permitted. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';

test('what is not permitted costs no call, and is written down as what it is', async () => {
  const orders = toolEnvironment(null, {
    name: 'orders',
    task: 'Order.',
    journal: memoryJournal(),
    tools: (tool) => {
      const input = z.object({});
      const run = () => expect.fail('It is run.');
      return {
        look: tool({ input, effect: 'read', run }),
        set: tool({ input, effect: 'reversible', run, undo: run }),
        order: tool({ input, effect: 'irreversible', run, predict: run }),
        mail: tool({ input, effect: 'irreversible', run }),
      };
    },
    permit: () => false,
  });
  const journal = memoryJournal();
  const names = ['look', 'set', 'order', 'mail'] as const;
  const { tree, spend } = await search(orders, {
    policy: () => names.map((tool) => ({ action: { tool, input: {} } })),
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1, evaluate: 'all' }),
    budget: { simulations: 5 },
    journal,
  });
  const fates = tree.root.children.map(({ state }) => state?.calls[0]?.fate);
  expect(fates).toEqual(names.map(() => 'refused'));
  expect(spend.calls).toBe(0);
  const written = journal.lines.flatMap((line) => (line.type === 'intent' ? [line.name] : []));
  expect(written.sort()).toEqual([...names].sort().map((name) => `orders.${name}.permit`));
});

test('in a workspace it is one call, since the workspace has to be lent first', async () => {
  const asked: unknown[] = [];
  await using pages = toolEnvironment(() => ({ pages: 1, reset: () => {} }), {
    name: 'pages',
    task: 'Write.',
    tools: (tool) => ({
      write: tool({
        input: z.object({}),
        effect: 'reversible',
        run: () => expect.fail('It is run.'),
      }),
    }),
    permit: (_call, { pages }) => asked.push(pages) < 0,
  });
  const { tree, spend } = await search(pages, {
    policy: () => [{ action: { tool: 'write', input: {} } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  expect(tree.root.children[0]?.state?.calls).toMatchObject([{ fate: 'refused' }]);
  expect([asked, spend.calls]).toEqual([[1], 1]);
});
