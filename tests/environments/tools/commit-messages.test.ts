import { expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';

test('a commit that drifted since `run` returned the form of `predict` says so', async () => {
  const trips = toolEnvironment(null, {
    name: 'trips',
    task: 'Tell Ann twice.',
    tools: (tool) => ({
      mail: tool({
        input: z.object({}),
        effect: 'irreversible',
        predict: () => ({ output: 'sent' }),
        run: () => ({ output: 'sent' }),
      }),
    }),
  });
  const both = { tool: 'mail', input: {}, also: [{ tool: 'mail', input: {} }] } as const;
  const { tree } = await search(trips, {
    policy: () => [{ action: both }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  const journal = memoryJournal();
  const { status, message } = await trips.commit(tree, { journal, approve: () => true });
  expect(status).toBe('drifted');
  expect(message).toContain('returned `{"output":"sent"}` instead of `"sent"`');
  expect(message).toContain('`run` returns the output itself.');
});

test('a commit whose check of a read fails says to commit again, which then works', async () => {
  let isDown = false;
  const shop = toolEnvironment(null, {
    name: 'shop',
    task: 'Look.',
    tools: (tool) => ({
      look: tool({
        input: z.object({}),
        effect: 'read',
        run: () => {
          if (isDown) throw new Error('503');
          return 7;
        },
      }),
    }),
  });
  const { tree } = await search(shop, {
    policy: () => [{ action: { tool: 'look', input: {} } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  const journal = memoryJournal();
  isDown = true;
  expect(await shop.commit(tree, { journal })).toMatchObject({
    status: 'stale',
    message:
      '`look` failed when the path was checked, and nothing was done: 503. Commit again once it works, or search again if it never will.',
  });
  isDown = false;
  expect(await shop.commit(tree, { journal })).toMatchObject({ status: 'committed' });
});
