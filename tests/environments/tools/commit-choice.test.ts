/** Which path a commit carries out: what it takes, what it leaves alone, and what it tells of its end. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import { type CommitPlan, toolEnvironment } from '../../../src/environments/index.ts';
import { mcts, search, solved, type Workspace } from '../../../src/index.ts';

/** A desk where order 2 is to be refunded: a refund of another one is a failure. */
function desk(name = 'desk') {
  const refunded: string[] = [];
  const environment = toolEnvironment(
    { refunded: '' },
    {
      name,
      task: 'Refund order 2.',
      tools: (tool) => ({
        think: tool({ input: z.object({}), effect: 'pure', run: () => ({ output: 'Hm.' }) }),
        refund: tool({
          input: z.object({ order: z.string() }),
          effect: 'irreversible',
          predict: (_db, { order }) => ({ state: { refunded: order } }),
          run: (_db, { order }) => void refunded.push(order),
        }),
      }),
      done: (db) => db.refunded === '2' || (db.refunded !== '' && 'failed'),
    },
  );
  return { environment, refunded };
}

const think = { tool: 'think', input: {} } as const;
const wrong = { tool: 'refund', input: { order: '4' } } as const;
const approve = () => true;

/** A search whose only end is a failure, beside a branch that promises something. */
async function failing(environment: ReturnType<typeof desk>['environment']) {
  const { tree } = await search(environment, {
    policy: () => [{ action: think }, { action: wrong }],
    evaluator: () => 0.9,
    stopWhen: solved(),
    budget: { simulations: 6 },
  });
  expect(tree.best.state?.ended).toBe('failed');
  return tree;
}

test('the best path of a tree is left alone where it ended as failed, unless its node is passed', async () => {
  const { environment, refunded } = desk();
  const tree = await failing(environment);
  const journal = memoryJournal();
  const plans: CommitPlan[] = [];
  const options = { journal, approve: (plan: CommitPlan) => plans.push(plan) > 0 };
  expect(await environment.commit(tree, options)).toEqual({
    ...{ status: 'refused', done: [] },
    notDone: [expect.objectContaining({ tool: 'refund', fate: 'planned' })],
    message:
      'The best path of the tree ended as failed. To commit it on purpose, pass its node (`tree.best`).',
  });
  expect([plans, refunded]).toEqual([[], []]);
  expect(await environment.commit(tree.best, options)).toMatchObject({ status: 'committed' });
  expect(refunded).toEqual(['4']);
  expect(plans).toMatchObject([{ ended: 'failed', reward: 0, value: tree.best.value }]);
  // What is done stays told.
  expect(await environment.commit(tree, options)).toMatchObject({
    ...{ status: 'refused', done: [{ tool: 'refund' }], notDone: [] },
  });
});

test('a tree without a step is not committed', async () => {
  const { environment } = desk();
  const { tree, stopReason, failures } = await search(environment, {
    policy: () => {
      throw new Error('Out of ideas.');
    },
    evaluator: () => 0.9,
    budget: { simulations: 6 },
  });
  expect([stopReason, failures.count > 0]).toEqual(['failed', true]);
  const options = { journal: memoryJournal(), approve: () => true };
  expect(await environment.commit(tree, options)).toEqual({
    ...{ status: 'refused', done: [], notDone: [] },
    message:
      'The search took no step: the best node of the tree is its start. `stopReason` and `failures` of its result say why.',
  });
  expect(await environment.commit(tree.root, options)).toMatchObject({ status: 'committed' });
});

/** Opens a page of text; what is published is added to a list. */
const page =
  (published: unknown[] = []) =>
  (): Workspace & { text: string } => ({
    text: '',
    reset() {
      this.text = '';
    },
    changes() {
      return this.text;
    },
    publish: (changes) => void published.push(changes),
  });

test('nor is a workspace published whose work has failed', async () => {
  const published: unknown[] = [];
  await using pages = toolEnvironment(page(published), {
    name: 'pages',
    task: 'Write.',
    tools: (tool) => ({
      write: tool({
        input: z.object({ text: z.string() }),
        effect: 'reversible',
        run: (page, { text }) => {
          page.text = text;
        },
      }),
    }),
    done: ({ text }) => (text === '' ? false : 'failed'),
  });
  const { tree } = await search(pages, {
    policy: () => [{ action: { tool: 'write', input: { text: 'no' } } }],
    evaluator: () => 0.5,
    budget: { simulations: 2 },
  });
  const options = { journal: memoryJournal() };
  expect(await pages.commit(tree, options)).toMatchObject({ status: 'refused' });
  expect(published).toEqual([]);
  expect(await pages.commit(tree.best, options)).toMatchObject({ status: 'committed' });
  expect(published).toEqual(['no']);
});

test('what is read in a workspace is read again, each in the state in which it was read', async () => {
  let price = 10;
  const asked: string[] = [];
  const ordered: number[] = [];
  let isShut = false;
  await using shop = toolEnvironment(page(), {
    name: 'shop',
    task: 'Order.',
    permit: ({ tool }) => !(isShut && tool === 'price') || 'The shop is shut.',
    tools: (tool) => ({
      write: tool({
        input: z.object({}),
        effect: 'reversible',
        run: (page) => {
          page.text += 'x';
        },
      }),
      price: tool({
        input: z.object({}),
        effect: 'read',
        run: ({ text }) => {
          asked.push(text);
          return price;
        },
      }),
      order: tool({
        input: z.object({}),
        effect: 'irreversible',
        predict: () => ({ output: 'ordered' }),
        run: () => {
          ordered.push(price);
          return 'ordered';
        },
      }),
    }),
  });
  const turns = ['write', 'price', 'write', 'order'] as const;
  const { tree } = await search(shop, {
    policy: ({ depth }) => [{ action: { tool: turns[depth] ?? 'write', input: {} } }],
    evaluator: () => 0.5,
    budget: { simulations: 8 },
  });
  const end = [...tree.nodes()].find(({ depth }) => depth === 4);
  if (end === undefined) throw new Error('Expected a path of four calls.');
  const options = { journal: memoryJournal(), approve };
  price = 20;
  expect(await shop.commit(end, options)).toMatchObject({
    status: 'stale',
    message: expect.stringContaining('`price` gave another output'),
  });
  price = 10;
  isShut = true;
  expect(await shop.commit(end, options)).toMatchObject({ status: 'refused' });
  isShut = false;
  expect(await shop.commit(end, options)).toMatchObject({ status: 'committed' });
  // Once in the search and once in each commit; after the order, the price may change.
  expect([asked, ordered]).toEqual([['x', 'x', 'x'], [10]]);
  price = 20;
  expect(await shop.commit(end, options)).toMatchObject({ status: 'committed' });
  expect([asked.length, ordered]).toEqual([3, [10]]);
});

test('a person who is asked is told of an end that was not reached', async () => {
  let asked: CommitPlan | undefined;
  const ask = (plan: CommitPlan) => {
    asked = plan;
    return false;
  };
  const mail = toolEnvironment(null, {
    name: 'mail',
    task: 'Write to Ann.',
    tools: (tool) => ({
      mail: tool({ input: z.object({}), effect: 'irreversible', run: () => 1 }),
    }),
  });
  const { best } = await search(mail, {
    policy: () => [{ action: { tool: 'mail', input: {} } }],
    evaluator: () => 0.7,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  await mail.commit(best, { journal: memoryJournal(), approve: ask });
  expect(asked).toMatchObject({ calls: [{ tool: 'mail' }], value: 0.7 });
  expect(asked).not.toHaveProperty('ended');
  expect(asked).not.toHaveProperty('reward');
});

test('a commit takes a tree or a node of its environment, and nothing else', async () => {
  const { environment } = desk();
  const result = await search(environment, {
    policy: () => [{ action: think }],
    evaluator: () => 0.5,
    budget: { simulations: 3 },
  });
  const commit = environment.commit as (what: unknown, options: object) => Promise<unknown>;
  const options = { journal: memoryJournal(), approve };
  const wanted =
    'Expected `what` to be a tree or one of its nodes, such as `result.tree` or `result.best`, got';
  for (const [what, got] of [
    [result, 'an object'],
    [result.actions, `an array of ${result.actions.length}`],
    [result.best.state, 'an object'],
    [search, 'a function'],
    [null, '`null`'],
    [Promise.resolve(result.tree), 'a promise. Put `await` before it'],
  ] as const) {
    await expect(commit(what, options)).rejects.toThrow(`${wanted} ${got}.`);
  }

  const sums = {
    name: 'sums',
    reset: () => ({ state: 0 }),
    step: (state: number, by: number) => ({ state: state + by }),
  };
  const { tree } = await search(sums, {
    policy: () => [{ action: 1 }],
    evaluator: () => 0.5,
    budget: { simulations: 2 },
  });
  for (const what of [tree, tree.root]) {
    await expect(commit(what, options)).rejects.toThrow(
      'The path is of another environment than `desk`: its states have no `calls`. Commit a tree that was searched in `desk`, or one of its nodes.',
    );
  }
});

test('a path on which nothing acts outside says so, and has to be of the environment all the same', async () => {
  const { environment } = desk();
  const { best } = await search(environment, {
    policy: () => [{ action: think }],
    evaluator: () => 0.5,
    budget: { simulations: 3 },
  });
  const journal = memoryJournal();
  expect(best.depth).toBeGreaterThan(0);
  expect(await environment.commit(best, { journal })).toEqual({
    ...{ status: 'committed', done: [], notDone: [] },
    message: 'The path changes nothing outside, so there was nothing to do.',
  });
  const elsewhere = await desk('elsewhere').environment.commit(best, { journal });
  expect(elsewhere).toMatchObject({ status: 'stale' });
});

/** A bank whose first payment may have happened: it throws. `ids` are those of its runs. */
async function doubtful() {
  const ids: string[] = [];
  const bank = toolEnvironment(null, {
    name: 'bank',
    task: 'Pay.',
    tools: (tool) => ({
      pay: tool({
        input: z.object({ to: z.string() }),
        effect: 'irreversible',
        run(_db, _input, { id }) {
          if (ids.push(id) === 1) throw new Error('No connection.');
        },
      }),
    }),
  });
  const { tree } = await search(bank, {
    policy: () => [{ action: { tool: 'pay', input: { to: 'ann' } } }],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 1 }),
    budget: { simulations: 2 },
  });
  return { bank, tree, ids };
}

test('who is asked about a call that may have happened is told the id of its run', async () => {
  const { bank, tree, ids } = await doubtful();
  const journal = memoryJournal();
  expect(await bank.commit(tree, { journal, approve })).toMatchObject({ status: 'unknown' });
  const asked: string[] = [];
  const onUnknown = (call: { id: string; input: { to: string } }) => {
    asked.push(call.input.to, call.id);
    return 'run' as const;
  };
  const options = { journal, approve, onUnknown };
  expect(await bank.commit(tree, options)).toMatchObject({ status: 'committed' });
  expect(asked).toEqual(['ann', ids[0]]);
  expect(ids[1]).toBe(ids[0]);
});

test('nobody is asked to approve of a call that may have happened before it is known what became of it', async () => {
  const { bank, tree, ids } = await doubtful();
  const journal = memoryJournal();
  const asked: string[] = [];
  const options = { journal, approve: () => asked.push('approve') > 0 };
  expect(await bank.commit(tree, options)).toMatchObject({ status: 'unknown' });
  // Without an answer there is nothing to approve of.
  expect(await bank.commit(tree, options)).toMatchObject({ status: 'unknown' });
  expect(asked).toEqual(['approve']);
  const onUnknown = () => {
    asked.push('onUnknown');
    return 'done' as const;
  };
  expect(await bank.commit(tree, { ...options, onUnknown })).toMatchObject({ status: 'committed' });
  expect(asked).toEqual(['approve', 'onUnknown']);
  expect(ids).toHaveLength(1);
});
