import { expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal, replayed } from '../../../src/calls/index.ts';
import { type ActionOf, toolEnvironment } from '../../../src/environments/index.ts';
import {
  astar,
  type Completion,
  depthFirst,
  mcts,
  type SearchResult,
  search,
  treeFromJson,
  treeToJson,
} from '../../../src/index.ts';
import { fromModel } from '../../../src/policies/index.ts';
import { plainContext, scriptedModel } from '../../../src/testing/index.ts';
import { counter, files, lookUp, shop } from './tasks.ts';

const context = plainContext();
const evaluator = () => 0.5;

/** What stands in a state's conversation behind the last turn of the model. */
const observed = (state: { readonly turns: readonly { readonly content: string }[] } | undefined) =>
  state?.turns.at(-1)?.content;

async function walk<Environment extends ReturnType<typeof shop>['environment']>(
  environment: Environment,
  actions: readonly ActionOf<Environment>[],
) {
  let { state } = await environment.reset(context);
  for (const action of actions) ({ state } = await environment.step(state, action, context));
  return state;
}

test('what is read is read once until something outside is changed', async () => {
  const { environment, log } = shop();
  const price = { tool: 'price', input: { item: 'tea' } } as const;
  const order = { tool: 'order', input: { item: 'tea' } } as const;
  const { tree } = await search(environment, {
    policy: () => [{ action: price }, { action: order }],
    evaluator,
    algorithm: mcts({ maxDepth: 3 }),
    budget: { simulations: 40 },
  });
  expect(tree.size).toBeGreaterThan(10);
  // Before any order, behind one, and behind two: each price once, on however many paths.
  expect(log).toEqual(['price tea', 'price tea', 'price tea']);
});

test('what cannot be taken back is planned and never run, and what nobody foresees ends a branch that reads', async () => {
  const { environment, log } = shop();
  const ordered = await walk(environment, [{ tool: 'order', input: { item: 'tea' } }]);
  expect(ordered.data).toEqual({ budget: 7, ordered: ['tea'] });
  expect(ordered.calls).toMatchObject([{ tool: 'order', effect: 'irreversible', fate: 'planned' }]);
  expect(observed(ordered)).toBe(
    'Planned: it is carried out when the work is committed. It is expected to give back:\n<output>\nordered tea\n</output>',
  );
  const read = { tool: 'price', input: { item: 'tea' } } as const;
  const foreseen = await environment.step(ordered, read, context);
  expect(foreseen.terminal).toBeUndefined();

  const mailed = await walk(environment, [{ tool: 'mail', input: { to: 'ann' } }]);
  expect(mailed.calls[0]).not.toHaveProperty('seen');
  const pending = await environment.step(mailed, read, context);
  expect(pending).toMatchObject({ terminal: true, state: { ended: 'pending' } });
  expect(pending).not.toHaveProperty('reward');
  expect(pending.state.calls).toEqual(mailed.calls);
  expect(log).toEqual(['price tea']);
});

test('a rule that predicts the state and no output leaves the output unknown', async () => {
  const orders = (predict: (db: { left: number }) => { state: { left: number }; output?: null }) =>
    toolEnvironment(
      { left: 2 },
      {
        name: 'orders',
        task: 'Order.',
        tools: (tool) => ({
          order: tool({
            input: z.object({}),
            effect: 'irreversible',
            run: () => expect.fail('It is run.'),
            predict,
          }),
          look: tool({ input: z.object({}), effect: 'read', run: () => 'a parcel' }),
        }),
        done: ({ left }) => left === 0,
      },
    );
  const [order, look] = [
    { tool: 'order', input: {} },
    { tool: 'look', input: {} },
  ] as const;
  const unknown = orders(({ left }) => ({ state: { left: left - 1 } }));
  const { state } = await unknown.step((await unknown.reset(context)).state, order, context);
  expect(state).toMatchObject({ data: { left: 1 }, calls: [{ tool: 'order', fate: 'planned' }] });
  expect(state.calls[0]).not.toHaveProperty('seen');
  expect(observed(state)).toContain('What it gives back is not known before.');
  expect((await unknown.step(state, look, context)).state.ended).toBe('pending');
  expect(await unknown.step(state, order, context)).toMatchObject({ terminal: true, reward: 1 });

  const nothing = orders(({ left }) => ({ state: { left: left - 1 }, output: null }));
  const known = await nothing.step((await nothing.reset(context)).state, order, context);
  expect(observed(known.state)).toContain('It is expected to give back:\n<output>\n(nothing)');
  expect((await nothing.step(known.state, look, context)).state.ended).toBeUndefined();
});

test('a model that is shown the tool and the conversation may foresee a call', async () => {
  const model = scriptedModel({ answer: () => 'Booked seat 7.' });
  const trips = toolEnvironment(null, {
    name: 'trips',
    task: 'Book a seat.',
    tools: (tool) => ({
      book: tool({
        description: 'Books a seat.',
        input: z.object({ train: z.string() }),
        effect: 'irreversible',
        run: () => expect.fail('It is run.'),
        predict: { model },
      }),
    }),
  });
  const { state } = await trips.reset(context);
  const action = { tool: 'book', input: { train: 'night' } } as const;
  const next = await trips.step(state, action, context);
  expect(observed(next.state)).toContain('<output>\nBooked seat 7.\n</output>');
  const asked = model.requests[0]?.messages.map(({ content }) => content).join('\n') ?? '';
  for (const part of ['Books a seat.', 'Book a seat.', '{"train":"night"}']) {
    expect(asked).toContain(part);
  }
});

test('what is not permitted is not called, and the model sees why', async () => {
  const { environment } = shop();
  const state = await walk(environment, [{ tool: 'order', input: { item: 'a golden pot' } }]);
  expect(state.calls).toMatchObject([{ tool: 'order', fate: 'refused' }]);
  expect(state.data.ordered).toEqual([]);
  expect(observed(state)).toBe('<error>\nThat is too dear.\n</error>');
});

/** A task that can be done in two steps, or given up at once. */
const giving = () =>
  toolEnvironment(
    { n: 0, isGivenUp: false },
    {
      name: 'giving',
      task: 'Count to 2.',
      tools: (tool) => ({
        add: tool({
          input: z.object({}),
          effect: 'pure',
          run: (db) => ({ state: { ...db, n: db.n + 1 }, output: db.n + 1 }),
        }),
        giveUp: tool({
          input: z.object({}),
          effect: 'pure',
          run: (db) => ({ state: { ...db, isGivenUp: true } }),
        }),
      }),
      done: ({ n, isGivenUp }) => (isGivenUp ? 'failed' : n === 2),
    },
  );

test('a branch that gives up ends as failed, and no search takes it for a solution', async () => {
  const environment = giving();
  const { state } = await environment.reset(context);
  const add = { tool: 'add', input: {} } as const;
  const giveUp = { tool: 'giveUp', input: {} } as const;
  const gaveUp = await environment.step(state, { ...giveUp, also: [add] }, context);
  expect(gaveUp).toMatchObject({ terminal: true, reward: 0, state: { ended: 'failed' } });

  const options = { evaluator: () => 1, budget: { simulations: 10 } };
  const policy = () => [{ action: giveUp }, { action: add }];
  for (const algorithm of [depthFirst({ climb: 1 }), mcts({ evaluate: 'all' }), astar()]) {
    const { solved, actions } = await search(environment, { ...options, policy, algorithm });
    expect([algorithm.name, solved, actions]).toEqual([algorithm.name, true, [add, add]]);
  }
  const hopeless = { ...options, policy: () => [{ action: giveUp }] };
  for (const algorithm of [depthFirst(), mcts(), astar()]) {
    const { solved } = await search(environment, { ...hopeless, algorithm });
    expect([algorithm.name, solved]).toEqual([algorithm.name, false]);
  }
});

test('calls that mean the same are one child, and several calls of a turn are made in order', async () => {
  const environment = counter();
  const { tree } = await search(environment, {
    policy: () => [
      { action: { tool: 'add', input: {} } },
      { action: { tool: 'add', input: { by: 1 } } },
      { action: { tool: 'add', input: { by: 1 }, also: [{ tool: 'add', input: { by: 2 } }] } },
    ],
    evaluator,
    algorithm: mcts({ maxDepth: 1, evaluate: 'all' }),
    budget: { simulations: 2 },
  });
  const [one, twin, both] = tree.root.children;
  expect(twin?.duplicateOf).toBe(one?.id);
  expect(both).toMatchObject({
    terminal: true,
    reward: 0.5,
    state: { data: { n: 3 }, ended: 'done' },
  });
  expect(both?.state?.turns.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool']);
});

const calling = (input: object, name = 'add'): Completion => ({
  text: '',
  toolCalls: [{ id: 'toolu_1', name, input: input as never }],
});

test('calls of a provider and JSON are one action, and turns keep what the provider told', async () => {
  const { notation } = counter();
  const { state } = await counter().reset(context);
  const native = notation.called?.(calling({}).toolCalls ?? [], state);
  expect(native).toEqual({ action: { tool: 'add', input: { by: 1 } } });
  for (const text of [
    '{"tool": "add", "input": {}}',
    'I add.\n```json\n{"name": "add", "arguments": {"by": 1}}\n```',
  ]) {
    expect(notation.parse(text, state)).toEqual(native);
  }
  const original = { provider: 'anthropic', data: [{ type: 'thinking', signature: 's' }] };
  const completion = { ...calling({}), text: 'I add.', original };
  const told = plainContext();
  const next = await counter().step(
    state,
    { tool: 'add', input: { by: 1 } },
    { ...told, completion },
  );
  expect(next.state.turns).toEqual([
    {
      role: 'assistant',
      content: 'I add.',
      toolCalls: [{ id: 'toolu_1', name: 'add', input: { by: 1 } }],
      original,
    },
    { role: 'tool', content: '<output>\n1\n</output>', toolCallId: 'toolu_1' },
  ]);
  expect(notation.turn?.({ tool: 'add', input: { by: 1 } }, completion)).toEqual(
    next.state.turns[0],
  );
});

test('calls of one conversation have names of their own', async () => {
  const environment = counter();
  let { state } = await environment.reset(context);
  const add = { tool: 'add', input: { by: 1 } } as const;
  for (const _ of [1, 2]) ({ state } = await environment.step(state, add, context));
  const ids = state.turns.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
  expect(ids[1]).toBe(`${ids[0]}_2`);
  expect(state.turns.at(-1)?.toolCallId).toBe(ids[1]);
});

test('definitions, the schema and the answer come from the declarations', () => {
  const { notation } = lookUp();
  expect(notation.tools).toEqual([
    {
      name: 'temperature',
      input: {
        type: 'object',
        properties: { city: { type: 'string', enum: ['Oslo', 'Lima'] } },
        required: ['city'],
      },
    },
    {
      name: 'answer',
      description: 'Ends the task with the answer.',
      input: {
        type: 'object',
        properties: { answer: { type: 'string' } },
        required: ['answer'],
        additionalProperties: false,
      },
    },
  ]);
  expect(notation.format({ tool: 'answer', input: 'Lima' })).toBe(
    '{"tool":"answer","input":{"answer":"Lima"}}',
  );
});

test('an answer ends the task, and is what is voted on', async () => {
  const environment = lookUp();
  const { state } = await environment.reset(context);
  const next = await environment.step(state, { tool: 'answer', input: 'Lima' }, context);
  expect(next).toMatchObject({ terminal: true, answer: true, state: { answer: 'Lima' } });
  expect(environment.answer(next.state)).toBe('Lima');
  await expect(async () =>
    environment.step(next.state, { tool: 'answer', input: 'Oslo' }, context),
  ).rejects.toThrow('Expected no call after the end, got one.');
});

const told = ({ tree }: Pick<SearchResult<unknown, unknown>, 'tree'>) =>
  [...tree.nodes()].map(({ id, state, reward, failure }) => ({ id, state, reward, failure }));

const settings = { evaluator, algorithm: mcts({ maxDepth: 3 }), budget: { simulations: 16 } };

function buying(journal = memoryJournal()) {
  const texts = [
    '{"tool":"price","input":{"item":"tea"}}',
    '{"tool":"order","input":{"item":"tea"}}',
  ];
  const model = scriptedModel({ answer: (_, index) => texts[index % 2] ?? '' });
  const policy = fromModel({ model, samples: 2 });
  return search(shop().environment, { ...settings, journal, policy });
}

async function writing(journal = memoryJournal()) {
  await using environment = files().environment;
  return await search(environment, {
    ...{ ...settings, journal },
    policy: () => [
      { action: { tool: 'write', input: { path: 'a', text: '1' } } },
      { action: { tool: 'write', input: { path: 'b', text: '2' } } },
      { action: { tool: 'write', input: { path: 'b', text: 'bad' } } },
    ],
  });
}

test.each([
  ['data', buying],
  ['workspaces', writing],
] as const)(
  'a replay and a search that was killed anywhere come to the same in %s',
  async (_, run) => {
    const journal = memoryJournal();
    const expected = told(await run(journal));
    expect(expected.length).toBeGreaterThan(8);
    expect(told(await run(replayed(journal) as typeof journal))).toEqual(expected);
    for (let left = 0; left < journal.lines.length; left += 3) {
      const begun = memoryJournal(journal.lines.slice(0, left));
      expect(told(await run(begun)), `${left} lines`).toEqual(expected);
    }
  },
);

test('a saved tree goes on from its states', async () => {
  const { tree } = await writing();
  await using environment = files().environment;
  const loaded = treeFromJson(JSON.stringify(treeToJson(tree, environment)), environment);
  const node = [...loaded.nodes()].find(({ state }) => state?.calls.length === 1);
  if (node?.state === undefined) throw new Error('There is no such node.');
  const isA = JSON.stringify(node.state.calls).includes('"a"');
  const other = isA ? { path: 'b', text: '2' } : { path: 'a', text: '1' };
  const next = await environment.step(
    node.state,
    { tool: 'write', input: other as never },
    context,
  );
  expect(next).toMatchObject({ terminal: true, reward: 1 });
});

test('what is read in equal files is read once, whichever way led there', async () => {
  let tests = 0;
  await using environment = toolEnvironment(
    () => {
      const all = new Set<string>();
      return { all, reset: () => all.clear(), fingerprint: () => JSON.stringify([...all].sort()) };
    },
    {
      name: 'parts',
      task: 'Make both.',
      tools: (tool) => ({
        make: tool({
          input: z.object({ part: z.string() }),
          effect: 'reversible',
          run: ({ all }, { part }) => void all.add(part),
        }),
        test: tool({
          input: z.object({}),
          effect: 'read',
          run: ({ all }) => {
            tests += 1;
            return all.size;
          },
        }),
      }),
    },
  );
  const make = (part: string) => ({ tool: 'make' as const, input: { part } });
  const { tree, spend } = await search(environment, {
    policy: ({ depth }) =>
      depth < 2
        ? [{ action: make('a') }, { action: make('b') }]
        : [{ action: { tool: 'test', input: {} } }],
    evaluator,
    algorithm: mcts({ maxDepth: 3, evaluate: 'all' }),
    budget: { nodes: 20 },
  });
  const tested = [...tree.nodes()].filter(({ depth, kind }) => depth === 3 && kind === 'realised');
  expect(tested.length).toBeGreaterThan(3);
  // Of {a}, {b} and {a, b}.
  expect(tests).toBe(3);
  expect(spend.calls).toBe(2 + 4 + 3);
});

test('branches in workspaces do not see each other, and what fails there is taken back', async () => {
  const { environment, counts } = files();
  const { state } = await environment.reset(context);
  const write = (path: 'a' | 'b', text: string) =>
    ({ tool: 'write', input: { path, text } }) as const;
  const read = (path: string) => ({ tool: 'read', input: { path } }) as const;
  const one = await environment.step(state, write('a', '1'), context);
  const bad = await environment.step(state, write('a', 'bad'), context);
  expect(observed(bad.state)).toBe('<error>\nThe disk is full.\n</error>');
  const seen = async (from: typeof one, path: string) =>
    observed((await environment.step(from.state, read(path), context)).state);
  expect(await seen(one, 'a')).toBe('<output>\n1\n</output>');
  expect(await seen(bad, 'a')).toBe('<error>\nThere is no file a.\n</error>');
  await environment.close();
  expect(counts.closed).toBe(counts.opened);
});

test('a workspace that goes another way fails the child as stale', async () => {
  const { environment } = files({ drift: true });
  const { state } = await environment.reset(context);
  const one = await environment.step(
    state,
    { tool: 'write', input: { path: 'a', text: '1' } },
    context,
  );
  await environment.close();
  await expect(async () =>
    environment.step(one.state, { tool: 'write', input: { path: 'b', text: '1' } }, context),
  ).rejects.toMatchObject({ code: 'stale' });
});
