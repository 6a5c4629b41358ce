import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import {
  type CommitPlan,
  fileSystem,
  gitWorktree,
  toolEnvironment,
} from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';
import { everything, userFolder, userRepository } from '../worlds/user-folder.ts';

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

test('a commit whose check of a call in a workspace fails names the tool, its input and the failure', async () => {
  const root = mkdtempSync(join(tmpdir(), 'espalier-glue-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  let trouble: string | undefined;
  const shelf = toolEnvironment(fileSystem({ root }), {
    name: 'shelf',
    task: 'Glue.',
    tools: (tool) => ({
      glue: tool({
        input: z.object({ to: z.string() }),
        effect: 'reversible',
        async run(folder, { to }) {
          if (trouble === 'dry') throw new Error('the glue is dry');
          await folder.write(to, trouble ?? 'glue');
        },
      }),
    }),
  });
  const { tree } = await search(shelf, {
    policy: () => [{ action: { tool: 'glue', input: { to: 'leg' } } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  // Another process has no copies in the state.
  await shelf[Symbol.asyncDispose]();
  const journal = memoryJournal();
  const step = 'Step 1 on the path to this state had another outcome than before.';
  for (const [given, why] of [
    ['dry', 'failed: the glue is dry. Try again once it works, or continue from an earlier state.'],
    ['water', 'gave another result. Continue from an earlier state.'],
  ] as const) {
    trouble = given;
    expect(await shelf.commit(tree, { journal })).toMatchObject({
      status: 'stale',
      message: `${step} \`glue\` with the input \`{"to":"leg"}\` ${why}`,
    });
  }
  trouble = undefined;
  expect(await shelf.commit(tree, { journal })).toMatchObject({ status: 'committed' });
});

test.each(['a folder', 'a repository'])(
  'a commit of a path that changes no file of %s says that there was nothing to do',
  async (what) => {
    const root = what === 'a folder' ? userFolder() : userRepository();
    onTestFinished(() => rmSync(root, { recursive: true }));
    const before = everything(root);
    const open = what === 'a folder' ? fileSystem({ root }) : gitWorktree({ repository: root });
    await using desk = toolEnvironment(open, {
      name: 'desk',
      task: 'Edit.',
      tools: (tool) => ({
        keep: tool({
          input: z.object({}),
          effect: 'reversible',
          run: async (folder) => folder.write('sum.js', await folder.read('sum.js')),
        }),
        mail: tool({ input: z.object({}), effect: 'irreversible', run: () => 'sent' }),
      }),
    });
    const { tree } = await search(desk, {
      policy: ({ depth }) => [{ action: { tool: depth === 0 ? 'keep' : 'mail', input: {} } }],
      evaluator: () => 0.5,
      algorithm: mcts({ maxDepth: 2 }),
      budget: { simulations: 3 },
    });
    for (const _ of ['once', 'again']) {
      const told = await desk.commit(tree.root.children[0] ?? tree.root, {
        journal: memoryJournal(),
      });
      expect(told).toEqual({
        ...{ status: 'committed', done: [], notDone: [] },
        message: 'The path changes nothing outside, so there was nothing to do.',
      });
    }
    const plans: CommitPlan[] = [];
    const approve = (plan: CommitPlan) => plans.push(plan) === 1;
    const told = await desk.commit(tree, { journal: memoryJournal(), approve });
    expect(told).toMatchObject({ status: 'committed', done: [{ tool: 'mail' }] });
    expect(plans).toMatchObject([{ calls: [{ tool: 'mail' }] }]);
    expect(plans[0]).not.toHaveProperty('changes');
    expect(everything(root)).toEqual(before);
  },
);
