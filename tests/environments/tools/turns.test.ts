import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { toolEnvironment } from '../../../src/environments/index.ts';
import { type JsonValue, search } from '../../../src/index.ts';
import { callTools } from '../../../src/policies/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';

const number = z.object({ by: z.number() });

/** An account, from which is bought and to which is sold, and a price that may change. */
function account(world: { price: number; bought: { by: number; balance: number }[] }) {
  return toolEnvironment(
    { balance: 10 },
    {
      name: 'account',
      task: 'Trade.',
      tools: (tool) => ({
        add: tool({
          input: number,
          effect: 'pure',
          run: ({ balance }, { by }) => ({ state: { balance: balance + by }, output: null }),
        }),
        price: tool({ input: z.object({}), effect: 'read', run: () => world.price }),
        sell: tool({
          input: number,
          effect: 'irreversible',
          predict: ({ balance }, { by }) => ({ state: { balance: balance + by }, output: 'sold' }),
          run: () => 'sold',
        }),
        buy: tool({
          input: number,
          effect: 'irreversible',
          predict: ({ balance }, { by }) => ({
            state: { balance: balance - by },
            output: 'bought',
          }),
          run: ({ balance }, { by }) => {
            world.bought.push({ by, balance });
            return 'bought';
          },
        }),
      }),
      permit: ({ tool, input }, { balance }) =>
        tool !== 'buy' || balance >= input.by || `only ${balance} there`,
      done: ({ balance }) => (balance > 1000 ? true : balance < 0 ? 'failed' : false),
    },
  );
}

interface Step {
  readonly tool: string;
  readonly input: object;
}

async function madeBy(environment: ReturnType<typeof account>, [first, ...also]: readonly Step[]) {
  const { tree } = await search(environment, {
    policy: ({ state: { turns } }) =>
      turns.length > 0 ? [] : [{ action: { ...first, also } as never }],
    evaluator: () => 0.5,
    budget: { simulations: 1 },
  });
  const [node] = tree.root.children;
  if (node?.kind !== 'realised') throw new Error('Nothing was done.');
  return node;
}

describe('calls of one turn', () => {
  test('are made in a commit with the data behind those before them', async () => {
    const world = { price: 3, bought: [] };
    const environment = account(world);
    const node = await madeBy(environment, [
      { tool: 'sell', input: { by: 100 } },
      { tool: 'buy', input: { by: 50 } },
    ]);
    const journal = memoryJournal();
    expect(await environment.commit(node, { journal, approve: () => true })).toMatchObject({
      status: 'committed',
    });
    expect(world.bought).toEqual([{ by: 50, balance: 110 }]);
  });

  test('that read are read again in a commit, behind what was predicted too', async () => {
    const world = { price: 3, bought: [] };
    const environment = account(world);
    const node = await madeBy(environment, [
      { tool: 'sell', input: { by: 100 } },
      { tool: 'price', input: {} },
      { tool: 'buy', input: { by: 3 } },
    ]);
    world.price = 3000;
    const journal = memoryJournal();
    expect(await environment.commit(node, { journal, approve: () => true })).toMatchObject({
      status: 'stale',
    });
    expect(world.bought).toEqual([]);
  });

  test('end with what is done, or can come to nothing', async () => {
    const end = async (by: number) => {
      const again = { tool: 'add', input: { by: 5000 } };
      return madeBy(account({ price: 3, bought: [] }), [{ tool: 'add', input: { by } }, again]);
    };
    const done = await end(2000);
    expect(done.state).toMatchObject({ ended: 'done', data: { balance: 2010 } });
    expect(done).toMatchObject({ status: 'terminal', reward: 1 });
    const failed = await end(-2000);
    expect(failed.state).toMatchObject({ ended: 'failed', data: { balance: -1990 } });
    expect(failed.state.turns.at(-1)?.content).toBe('Not called: the task has ended.');
  });
});

test('a commit that went on behind a drift is committed when it is made again', async () => {
  const environment = toolEnvironment(null, {
    name: 'drifting',
    task: 'Send.',
    tools: (tool) => ({
      send: tool({
        input: z.object({ to: z.string() }),
        effect: 'irreversible',
        predict: () => ({ output: 'sent' }),
        run: () => 'queued',
      }),
    }),
  });
  const { tree } = await search(environment, {
    policy: ({ state: { calls } }) => [
      { action: { tool: 'send', input: { to: `${calls.length}` } } },
    ],
    evaluator: ({ state: { calls } }) => calls.length / 10,
    budget: { simulations: 4 },
  });
  const node = tree.best;
  if (node.depth < 2) throw new Error('Nothing was planned.');
  const told = { journal: memoryJournal(), approve: () => true };
  const first = await environment.commit(node, { ...told, onDrift: () => 'go on' });
  expect(first).toMatchObject({ status: 'committed', notDone: [] });
  expect(await environment.commit(node, told)).toMatchObject({ status: 'committed', notDone: [] });
});

test('what could not be taken back is told at every recovery, until it is', async () => {
  const journal = memoryJournal();
  const world = { isStuck: true, published: 0 };
  await using environment = toolEnvironment(
    () => ({
      changes: () => 'all',
      fingerprint: () => `${world.published}`,
      publish() {
        world.published = 1;
        throw new Error('The disk is full.');
      },
      unpublish() {
        if (world.isStuck) throw new Error('The disk is full.');
        world.published = 0;
      },
    }),
    {
      name: 'stuck',
      task: 'Work.',
      tools: (tool) => ({
        work: tool({ input: z.object({}), effect: 'reversible', run: () => 'done' }),
      }),
    },
  );
  const { tree } = await search(environment, {
    policy: () => [{ action: { tool: 'work', input: {} } }],
    evaluator: () => 1,
    budget: { simulations: 1 },
  });
  await environment.commit(tree, { journal, approve: () => true });
  for (const _ of [1, 2]) {
    const { failed } = await environment.recover(journal);
    expect(failed).toEqual([expect.stringContaining('The disk is full.')]);
  }
  world.isStuck = false;
  expect(await environment.recover(journal)).toEqual({ undone: 1, failed: [] });
  expect(await environment.recover(journal)).toEqual({ undone: 0, failed: [] });
});

test('an input that is nested too deep is told to the model, and the search goes on', async () => {
  let asked = 0;
  let deep: JsonValue = {};
  for (let level = 0; level < 450; level++) deep = { deep };
  const model = scriptedModel({
    capabilities: { n: true, tools: true },
    answer: () => ({
      text: '',
      finishReason: 'tool',
      toolCalls: [{ id: 'call', name: 'add', input: asked++ === 0 ? deep : { by: 1 } }],
    }),
  });
  const environment = toolEnvironment(
    { n: 0 },
    {
      name: 'deep',
      task: 'Count.',
      tools: (tool) => ({
        add: tool({
          input: z.looseObject({ by: z.number() }),
          effect: 'pure',
          run: ({ n }, { by }) => ({ state: { n: n + by }, output: n + by }),
        }),
      }),
      done: ({ n }) => n >= 3,
    },
  );
  const { tree, stopReason } = await search(environment, {
    policy: callTools({ model, samples: 1 }),
    evaluator: () => 0.5,
    budget: { simulations: 6 },
  });
  expect(stopReason).not.toBe('failed');
  expect(tree.best.reward).toBe(1);
});

test('`done` is called after a reversible call too, with its output and the world as it left it', async () => {
  const reserved = new Set<string>();
  const seen: unknown[] = [];
  await using environment = toolEnvironment(
    { notes: 0 },
    {
      name: 'seats',
      task: 'Reserve.',
      journal: memoryJournal(),
      tools: (tool) => ({
        reserve: tool({
          input: z.object({ seat: z.string() }),
          effect: 'reversible',
          run: (_, { seat }) => {
            reserved.add(seat);
            return { seat };
          },
          undo: (_, { seat }) => void reserved.delete(seat),
        }),
      }),
      done: (db, output) => {
        seen.push([db, output, [...reserved]]);
        return reserved.has('a');
      },
    },
  );
  const { solved: isSolved, tree } = await search(environment, {
    policy: ({ depth }) =>
      depth > 1
        ? []
        : [{ action: { tool: 'reserve' as const, input: { seat: 'ba'[depth] ?? '' } } }],
    evaluator: () => 0.5,
    budget: { simulations: 8 },
  });
  expect(seen).toEqual([
    [{ notes: 0 }, undefined, []],
    [{ notes: 0 }, { seat: 'b' }, ['b']],
    [{ notes: 0 }, { seat: 'a' }, ['b', 'a']],
  ]);
  expect(isSolved).toBe(true);
  expect(tree.best).toMatchObject({
    depth: 2,
    terminal: true,
    reward: 1,
    state: { ended: 'done' },
  });
  expect([...reserved]).toEqual([]);
});
