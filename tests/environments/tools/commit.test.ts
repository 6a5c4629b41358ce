import { expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';
import { fromModel } from '../../../src/policies/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';

const update = '{"tool":"update","input":{"id":"ann","plan":"pro"}}';
const mail = '{"tool":"mail","input":{"to":"ann"}}';

test('a search sends no mail, and a commit sends that of the best path, once', async () => {
  const sent: string[] = [];
  const crm = toolEnvironment(
    { plans: { ann: 'free' }, told: [] as readonly string[] },
    {
      name: 'crm',
      task: 'Give Ann the plan pro, and tell her.',
      tools: (tool) => ({
        update: tool({
          input: z.object({ id: z.string(), plan: z.string() }),
          effect: 'pure',
          run: (db, { id, plan }) => ({
            ...{ state: { ...db, plans: { ...db.plans, [id]: plan } }, output: 'ok' },
          }),
        }),
        mail: tool({
          input: z.object({ to: z.string() }),
          effect: 'irreversible',
          run: (_db, { to }) => void sent.push(to),
          predict: (db, { to }) => ({ state: { ...db, told: [...db.told, to] } }),
        }),
      }),
      done: ({ plans, told }) => plans['ann'] === 'pro' && told.includes('ann'),
    },
  );
  const model = scriptedModel({ answer: (_, index) => (index % 2 === 0 ? mail : update) });
  const { tree, best } = await search(crm, {
    policy: fromModel({ model, samples: 2 }),
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 2 }),
    budget: { simulations: 12 },
  });
  expect(best.reward).toBe(1);
  expect(sent).toEqual([]);

  const journal = memoryJournal();
  await expect(crm.commit(tree, { journal })).rejects.toThrow('Pass `approve` to `commit`.');
  const lacking = crm.commit(tree, { approve: () => true } as never);
  await expect(lacking).rejects.toThrow(
    'Expected `journal` to be an object with a method `append`',
  );
  const refused = await crm.commit(tree, { journal, approve: () => false });
  expect([refused.status, sent]).toEqual(['refused', []]);
  const approve = () => true;
  const committed = await crm.commit(tree, { journal, approve });
  expect(committed).toMatchObject({ status: 'committed', done: [{ tool: 'mail' }], notDone: [] });
  expect(await crm.commit(tree, { journal, approve })).toEqual(committed);
  expect(sent).toEqual(['ann']);
});

test('nothing drifts where the last call tells something else than was predicted', async () => {
  const crm = toolEnvironment(null, {
    name: 'crm',
    task: 'Tell Ann.',
    tools: (tool) => ({
      mail: tool({
        input: z.object({}),
        effect: 'irreversible',
        predict: () => ({ output: 'Sent.' }),
        run: () => ({ id: 'message-1' }),
      }),
    }),
  });
  const { tree } = await search(crm, {
    policy: () => [{ action: { tool: 'mail', input: {} } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  expect(await crm.commit(tree, { journal: memoryJournal(), approve: () => true })).toMatchObject({
    ...{ status: 'committed', notDone: [] },
    done: [{ tool: 'mail', output: { id: 'message-1' } }],
  });
});

/** A price list outside, with tools that set and look at it. */
function pricing(prices: Map<string, number>, journal = memoryJournal()) {
  return toolEnvironment(null, {
    name: 'prices',
    task: 'Set the price of tea to 3.',
    journal,
    answer: z.object({ price: z.number() }),
    tools: (tool) => ({
      set: tool({
        input: z.object({ to: z.number() }),
        effect: 'reversible',
        remember: () => prices.get('tea') ?? null,
        run: (_db, { to }) => void prices.set('tea', to),
        undo: (_db, _input, { remembered }) => void prices.set('tea', Number(remembered)),
      }),
      look: tool({ input: z.object({}), effect: 'read', run: () => prices.get('tea') }),
    }),
  });
}

test('what is changed outside is seen by its own branch alone, and stays only with a commit', async () => {
  const prices = new Map([['tea', 1]]);
  const journal = memoryJournal();
  await using environment = pricing(prices, journal);
  const { tree } = await search(environment, {
    policy: ({ state }) => [
      { action: { tool: 'set', input: { to: state.calls.length + 2 } } },
      { action: { tool: 'look', input: {} } },
    ],
    evaluator: ({ state }) => (state.turns.at(-1)?.content.includes('3') ? 0.9 : 0.1),
    algorithm: mcts({ maxDepth: 3 }),
    budget: { simulations: 30 },
    concurrency: 3,
  });
  expect([...prices]).toEqual([['tea', 1]]);
  let looks = 0;
  for (const { state } of tree.nodes()) {
    if (state?.calls.at(-1)?.tool !== 'look') continue;
    const set = state.calls.findLast(({ tool }) => tool === 'set')?.input;
    const { to = 1 } = (set ?? {}) as { readonly to?: number };
    expect(state.turns.at(-1)?.content).toBe(`<output>\n${to}\n</output>`);
    looks += 1;
  }
  expect(looks).toBeGreaterThan(3);
  const chosen = [...tree.nodes()].find(
    ({ state }) => state?.calls.length === 1 && state.calls[0]?.tool === 'set',
  );
  if (chosen === undefined) throw new Error('Nothing was set.');
  expect(await environment.commit(chosen, { journal })).toMatchObject({ status: 'committed' });
  expect([...prices]).toEqual([['tea', 2]]);
  expect(await environment.recover()).toEqual({ undone: 0, failed: [] });
});

test('a tool that changes what is outside needs an undo, and a journal', () => {
  const set = (more: object) => () =>
    toolEnvironment(null, {
      name: 'prices',
      task: 'Set it.',
      tools: (tool) => ({
        set: tool({ input: z.object({}), effect: 'reversible', run: () => 1, ...more }),
      }),
    });
  expect(set({})).toThrow('Expected `tools.set` to be declared with an `undo`');
  expect(set({ undo: () => {} })).toThrow('Expected `journal` to be given');
});
