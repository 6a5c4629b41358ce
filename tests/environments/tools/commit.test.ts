import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';
import { fromModel } from '../../../src/policies/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { inOwnTemporaryFolder } from '../worlds/own-temporary-folder.ts';
import { files } from './tasks.ts';

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

/** Two calls for good, of which the first tells something else than was predicted of it. */
async function drifting(predict: 'model' | 'rule') {
  const made: string[] = [];
  const model = scriptedModel({ answer: () => 'Seat 7 is booked.' });
  const trips = toolEnvironment(null, {
    name: 'trips',
    task: 'Book a seat, and tell Ann.',
    tools: (tool) => ({
      book: tool({
        input: z.object({}),
        effect: 'irreversible',
        predict: predict === 'model' ? { model } : () => ({ output: 'Seat 7 is booked.' }),
        run: () => {
          made.push('book');
          return { seat: 9 };
        },
      }),
      mail: tool({
        input: z.object({}),
        effect: 'irreversible',
        run: () => void made.push('mail'),
      }),
    }),
  });
  const both = { tool: 'book', input: {}, also: [{ tool: 'mail', input: {} }] } as const;
  const { tree } = await search(trips, {
    policy: () => [{ action: both }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  return { trips, tree, made };
}

test('what a model predicted is a guess, and what follows it is made all the same', async () => {
  const { trips, tree, made } = await drifting('model');
  const journal = memoryJournal();
  const approve = () => true;
  const stopped = await trips.commit(tree, { journal, approve, onDrift: () => 'stop' });
  expect([stopped.status, made]).toEqual(['drifted', ['book']]);
  expect(await trips.commit(tree, { journal, approve })).toMatchObject({ status: 'committed' });
  expect(made).toEqual(['book', 'mail']);
});

test('a commit that has drifted goes on where whoever commits says so', async () => {
  const { trips, tree, made } = await drifting('rule');
  const journal = memoryJournal();
  const approve = () => true;
  const stopped = await trips.commit(tree, { journal, approve });
  expect(stopped).toMatchObject({ status: 'drifted', notDone: [{ tool: 'mail' }] });
  expect(stopped.message).toBe(
    '`book` was made, and returned `{"seat":9}` instead of `"Seat 7 is booked."`, on which later calls depend. Search again from how things stand now, or commit again with `onDrift`.',
  );
  const asked: unknown[] = [];
  const onDrift = (call: { tool: string }, output: unknown) => {
    asked.push([call.tool, output]);
    return 'go on' as const;
  };
  const options = { journal, approve, onDrift };
  expect(await trips.commit(tree, options)).toMatchObject({ status: 'committed' });
  expect([asked, made]).toEqual([[['book', { seat: 9 }]], ['book', 'mail']]);
});

test('what is taken back is given the whole output, and a model sees its head and tail', async () => {
  const long = 'x'.repeat(5_000);
  const undone: unknown[] = [];
  await using store = toolEnvironment(null, {
    name: 'store',
    task: 'Store it.',
    journal: memoryJournal(),
    tools: (tool) => ({
      store: tool({
        input: z.object({}),
        effect: 'reversible',
        maxOutput: 100,
        run: () => ({ long, id: 7 }),
        undo: (_db, _input, { output }) => void undone.push(output),
      }),
      mail: tool({ input: z.object({}), effect: 'irreversible', run: () => 'Sent.' }),
    }),
  });
  const both = { tool: 'store', input: {}, also: [{ tool: 'mail', input: {} }] } as const;
  const { tree, best } = await search(store, {
    policy: () => [{ action: both }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  expect(undone).toEqual([{ long, id: 7 }]);
  const shown = best.kind === 'proposed' ? '' : best.state.turns.at(1)?.content;
  expect(shown).toContain('characters left out');
  // Nor is what was seen in the search another output for being shorter.
  const journal = memoryJournal();
  for (const _time of [1, 2]) {
    expect(await store.commit(tree, { journal, approve: () => true })).toMatchObject({
      status: 'committed',
      done: [{ tool: 'store', output: { long, id: 7 } }, { tool: 'mail' }],
    });
  }
});

test('a call is permitted by what its schema has read, in a branch and in a commit', async () => {
  const asked: unknown[] = [];
  const bank = toolEnvironment(null, {
    name: 'bank',
    task: 'Pay.',
    tools: (tool) => ({
      pay: tool({
        // Read again, it would be something else: what is kept is what was written.
        input: z.object({
          cents: z.string().transform(Number),
          currency: z.string().default('EUR'),
        }),
        effect: 'irreversible',
        run: () => 'Paid.',
      }),
    }),
    permit: ({ input: { cents, currency } }) => {
      asked.push({ cents, currency });
      return cents < 100 && currency === 'EUR';
    },
  });
  const pay = (cents: string) => ({ action: { tool: 'pay' as const, input: { cents } } });
  const { tree, best } = await search(bank, {
    policy: () => [pay('99'), pay('100')],
    evaluator: ({ state }) => (state.calls[0]?.fate === 'planned' ? 0.9 : 0.1),
    algorithm: mcts({ maxDepth: 1, evaluate: 'all' }),
    budget: { simulations: 3 },
  });
  const fates = tree.root.children.map((child) =>
    child.kind === 'realised' ? child.state.calls[0]?.fate : child.kind,
  );
  expect(fates).toEqual(['planned', 'refused']);
  const committed = await bank.commit(best, { journal: memoryJournal(), approve: () => true });
  expect(committed.status).toBe('committed');
  const [one, other] = [99, 100].map((cents) => ({ cents, currency: 'EUR' }));
  expect(asked).toEqual([one, other, one]);
});

test('what a tool throws reaches no terminal raw', async () => {
  const red = '\u001b[31mred\u0007';
  const lab = (effect: 'irreversible' | 'read') =>
    toolEnvironment(null, {
      name: 'lab',
      task: 'Try it.',
      onError: 'fail',
      tools: (tool) => ({
        try: tool({
          input: z.object({}),
          effect,
          run: () => {
            throw new Error(red);
          },
        }),
      }),
    });
  const grown = (environment: ReturnType<typeof lab>) =>
    search(environment, {
      policy: () => [{ action: { tool: 'try', input: {} } }],
      evaluator: () => 0.5,
      algorithm: mcts({ maxDepth: 1 }),
      budget: { simulations: 2 },
    });
  const shown = '\\u001b[31mred\\u0007';
  const failed = await grown(lab('read'));
  expect(failed.tree.root.children[0]?.failure?.message).toBe(`\`try\` failed. ${shown}.`);
  const environment = lab('irreversible');
  const { tree } = await grown(environment);
  const { message } = await environment.commit(tree, {
    ...{ journal: memoryJournal(), approve: () => true },
  });
  expect(message).toContain(`may have happened, or not: ${shown}. Look there`);
});

test('what an earlier commit has left open is told with what its journal knows of it', async () => {
  const journal = memoryJournal();
  const bank = toolEnvironment(null, {
    name: 'bank',
    task: 'Pay.',
    tools: (tool) => ({
      pay: tool({
        input: z.object({}),
        effect: 'irreversible',
        run: () => {
          throw new Error('The line went dead');
        },
      }),
    }),
  });
  const { tree } = await search(bank, {
    policy: () => [{ action: { tool: 'pay', input: {} } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  const committed = async (lines = journal.lines) => {
    const options = { journal: memoryJournal(lines), approve: () => true };
    return (await bank.commit(tree, options)).message;
  };
  await bank.commit(tree, { journal, approve: () => true });
  expect(await committed()).toBe(
    '`pay` may have happened, or not: an earlier commit failed in it: The line went dead. Look there, and commit again with `onUnknown`.',
  );
  // As a kill would have left it.
  expect(await committed(journal.lines.slice(0, -1))).toBe(
    '`pay` may have happened, or not: an earlier commit was cut off in it, and its journal does not say what came out. Look there, and commit again with `onUnknown`.',
  );
});

describe('what a killed process has left', () => {
  inOwnTemporaryFolder();

  test('of workspaces is removed without a journal too, and what a live one works in stays', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    const left = (name: string, owner: number) => {
      const folder = join(tmpdir(), `espalier-world-${name}`);
      mkdirSync(folder);
      writeFileSync(
        join(folder, 'owner'),
        JSON.stringify({ pid: owner, host: hostname(), id: randomUUID() }),
      );
      return folder;
    };
    const [dead, alive] = [left('dead', pid), left('alive', process.pid)];
    await using environment = files().environment;
    expect(await environment.recover()).toMatchObject({ failed: [] });
    expect([existsSync(dead), existsSync(alive)]).toEqual([false, true]);
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
