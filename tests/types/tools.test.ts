/** Environments of tools as people write them: what is inferred is exact, under both versions of TypeScript. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { mcpTools } from '../../src/agents/index.ts';
import { memoryJournal } from '../../src/calls/index.ts';
import {
  type ActionOf,
  type ListedTools,
  type StateOf,
  type Tool,
  type ToolState,
  toolEnvironment,
} from '../../src/environments/index.ts';
import { type JsonValue, mcts, type Policy, search, type Workspace } from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

/** Compiles where it is true. */
function same<_ extends true>(): void {}

interface Database {
  readonly users: Readonly<Record<string, string>>;
}

const seed: Database = { users: { ann: 'free' } };
const plans = ({ users }: Database, id: string, plan: string): Database => ({
  users: { ...users, [id]: plan },
});
const send = (_db: Database, _input: { readonly to: string }): void => {};
const model = scriptedModel({
  answer: () => JSON.stringify({ tool: 'update', input: { id: 'ann', plan: 'pro' } }),
});
const budget = { simulations: 2 };
const evaluator = () => 0.5;

const crm = toolEnvironment(seed, {
  name: 'crm',
  task: 'Give Ann the plan pro.',
  tools: (tool) => ({
    update: tool({
      input: z.object({ id: z.string(), plan: z.string() }),
      effect: 'pure',
      run: (db, { id, plan }) => ({ state: plans(db, id, plan), output: 'ok' }),
    }),
    mail: tool({ input: z.object({ to: z.string() }), effect: 'irreversible', run: send }),
  }),
  done: (db) => db.users['ann'] === 'pro',
});

test('actions, answers and data are those of the declarations', async () => {
  const result = await search(crm, { policy: fromModel({ model }), evaluator, budget });
  const [action] = result.actions;
  if (action?.tool === 'update') {
    same<Equal<typeof action.input, { id: string; plan: string }>>();
    expect(action.input.plan).toBe('pro');
  }
  if (action?.tool === 'mail') same<Equal<typeof action.input, { to: string }>>();
  if (action?.tool === 'answer') same<Equal<typeof action.input, string>>();
  if (action?.tool === 'invalid') same<Equal<typeof action.input.problem, string>>();
  const { state } = result.best;
  if (state !== undefined) {
    same<Equal<typeof state.data, Database>>();
    same<Equal<typeof state.answer, string | undefined>>();
  }
  expect(state?.data.users).toEqual({ ann: 'pro' });
  expect(result.best.reward).toBe(1);
});

test('an answer has the type of its schema, and an input the one that is written', async () => {
  const cities = toolEnvironment(
    { n: 1 },
    {
      name: 'cities',
      task: 'Count, and name a city.',
      answer: z.object({ city: z.string() }),
      tools: (tool) => ({
        add: tool({
          input: z.object({ by: z.number().default(1) }),
          effect: 'pure',
          run(db, input) {
            same<Equal<typeof db, { n: number }>>();
            same<Equal<typeof input, { by: number }>>();
            return { state: { n: db.n + input.by }, output: db.n + input.by };
          },
        }),
      }),
      permit: ({ input }) => input.by > 0,
    },
  );
  const { actions } = await search(cities, {
    policy: ({ state }) => [
      { action: { tool: 'add', input: { by: state.data.n } } },
      { action: { tool: 'answer', input: { city: 'Oslo' } } },
    ],
    evaluator,
    budget,
  });
  for (const action of actions) {
    if (action.tool === 'add') same<Equal<typeof action.input, { by?: number | undefined }>>();
    if (action.tool === 'answer') same<Equal<typeof action.input, { city: string }>>();
  }
  expect(actions.length).toBeGreaterThan(0);
  // @ts-expect-error there is no such tool
  const wrong: Parameters<typeof cities.step>[1] = { tool: 'dec', input: {} };
  expect(wrong.tool).toBe('dec');
});

test('a tool needs an effect, and no effect takes the options of another', () => {
  const declare = (tools: () => unknown) => expect(tools).toThrow(/effect|no option/);
  declare(() =>
    toolEnvironment(seed, {
      name: 'x',
      task: 't',
      // @ts-expect-error effect is required
      tools: (tool) => ({ bad: tool({ input: z.object({}), run: () => 1 }) }),
    }),
  );
  declare(() =>
    toolEnvironment(seed, {
      name: 'x',
      task: 't',
      tools: (tool) => ({
        // @ts-expect-error what is only read need not be taken back
        bad: tool({ input: z.object({}), effect: 'read', run: () => 1, undo: () => {} }),
      }),
    }),
  );
});

interface Notes extends Workspace {
  write(path: string, text: string): void;
  read(path: string): string;
}

test('tools of a workspace work on what opens it', async () => {
  const open = (): Notes => {
    const files = new Map<string, string>();
    return {
      reset: () => files.clear(),
      write: (path, text) => void files.set(path, text),
      read: (path) => files.get(path) ?? '',
    };
  };
  await using notes = toolEnvironment(open, {
    name: 'notes',
    task: 'Write ok.',
    tools: (tool) => ({
      write: tool({
        input: z.object({ path: z.string(), text: z.string() }),
        effect: 'reversible',
        run: (place, { path, text }) => place.write(path, text),
      }),
    }),
    done: (place) => place.read('x') === 'ok',
  });
  const { best } = await search(notes, {
    policy: () => [{ action: { tool: 'write', input: { path: 'x', text: 'ok' } } }],
    evaluator,
    budget,
  });
  if (best.state !== undefined) same<Equal<typeof best.state.data, null>>();
  expect(best.reward).toBe(1);
});

test('tools from elsewhere keep their inputs', () => {
  const elsewhere = (): { readonly weather: Tool<{ city: string }> } => ({
    weather: undefined as never,
  });
  const mixed = () =>
    toolEnvironment(seed, {
      name: 'mixed',
      task: 't',
      tools: (tool) => ({
        ...elsewhere(),
        note: tool({ input: z.object({ text: z.string() }), effect: 'read', run: () => 1 }),
      }),
    });
  type Action = Parameters<ReturnType<typeof mixed>['step']>[1];
  same<Equal<Extract<Action, { tool: 'weather' }>['input'], { city: string }>>();
  same<Equal<Extract<Action, { tool: 'note' }>['input'], { text: string }>>();
  const policy: Policy = fromModel({ model });
  expect(policy).toBeDefined();
  expect(mixed).toThrow('Expected `tools.weather` to be made by `tool`');
});

type AnyInput = Readonly<Record<string, JsonValue>>;

/** Tools of a server, and one of our own. */
async function besideServer() {
  const client = {
    listTools: async () => ({ tools: [{ name: 'search', inputSchema: { type: 'object' } }] }),
    callTool: async () => ({ content: [] }),
  };
  const effects = { search: 'read' } as const;
  const marked = await mcpTools(client, { effects, prefix: 'files_' });
  const others = await mcpTools(client, { effects, prefix: 'git_' });
  const plain = await mcpTools(client, { effects });
  same<Equal<typeof marked, ListedTools<'files_'>>>();
  same<Equal<typeof plain, ListedTools>>();
  const withPrefix = toolEnvironment(seed, {
    name: 'with-prefix',
    task: 't',
    tools: (tool) => ({
      update: tool({ input: z.object({ id: z.string() }), effect: 'read', run: () => 1 }),
      ...marked,
      ...others,
    }),
    permit(call) {
      if (call.tool === 'update') same<Equal<typeof call.input, { id: string }>>();
      else same<Equal<typeof call.input, AnyInput>>();
      return true;
    },
  });
  const withoutPrefix = toolEnvironment(seed, {
    name: 'without-prefix',
    task: 't',
    tools: (tool) => ({
      ...plain,
      update: tool({ input: z.object({ id: z.string() }), effect: 'read', run: () => 1 }),
    }),
  });
  const alone = toolEnvironment(seed, { name: 'alone', task: 't', tools: () => plain });
  return { withPrefix, withoutPrefix, alone };
}
type BesideServer = Awaited<ReturnType<typeof besideServer>>;

test('tools of a server keep their names beside declared ones, whose inputs stay exact', async () => {
  const { withPrefix, alone } = await besideServer();
  type Action = ActionOf<typeof withPrefix>;
  const told: readonly Action[] = [
    { tool: 'files_search', input: { query: 'tea' } },
    { tool: 'git_search', input: {} },
    { tool: 'update', input: { id: 'ann' } },
    { tool: 'answer', input: 'Done.' },
  ];
  // @ts-expect-error no server has such a tool
  const unknown: Action = { tool: 'web_search', input: {} };
  // @ts-expect-error it has no such input
  const wrong: Action = { tool: 'update', input: { query: 'tea' } };
  expect([unknown.tool, wrong.tool]).toEqual(['web_search', 'update']);
  for (const action of told) {
    if (action.tool === 'update') same<Equal<typeof action.input, { id: string }>>();
    else if (action.tool === 'answer') same<Equal<typeof action.input, string>>();
    else if (action.tool !== 'invalid') same<Equal<typeof action.input, AnyInput>>();
  }
  const { actions } = await search(withPrefix, {
    policy: () => [{ action: { tool: 'files_search', input: {} } }],
    evaluator,
    budget,
  });
  expect(actions[0]?.tool).toBe('files_search');
  const any: ActionOf<typeof alone> = { tool: 'whatever', input: { query: 'tea' } };
  expect(any.tool).toBe('whatever');
});

test('without a prefix the calls of a server are told from declared ones where they are read', async () => {
  const { withoutPrefix } = await besideServer();
  const read = (action: ActionOf<BesideServer['withoutPrefix']>): JsonValue => {
    if (action.tool === 'update') same<Equal<typeof action.input, { id: string }>>();
    if (action.tool === 'update' || action.tool === 'answer') return action.tool;
    if (action.tool === 'invalid') return action.input.problem;
    same<Equal<typeof action.input, AnyInput>>();
    const name: string = action.tool;
    return name;
  };
  expect(read({ tool: 'update', input: { id: 'ann' } })).toBe('update');
  const searching: JsonValue = { tool: 'search', input: {} };
  expect(read(searching as ActionOf<typeof withoutPrefix>)).toBe('search');
});

test('a plan and what is committed have the data and the inputs of their environment', async () => {
  same<Equal<StateOf<typeof crm>, ToolState<Database, string>>>();
  const mail: ActionOf<typeof crm> = { tool: 'mail', input: { to: 'ann' } };
  const { tree } = await search(crm, {
    policy: () => [{ action: mail }],
    evaluator,
    algorithm: mcts({ maxDepth: 1 }),
    budget,
  });
  const mailed: string[] = [];
  const committed = await crm.commit(tree, {
    journal: memoryJournal(),
    approve({ before, after, calls }) {
      same<Equal<typeof before, Database>>();
      same<Equal<typeof after, Database>>();
      for (const call of calls) if (call.tool === 'mail') mailed.push(call.input.to);
      return after.users['ann'] === 'free';
    },
    onUnknown(call) {
      same<Equal<typeof call.tool, 'mail' | 'update'>>();
      same<Equal<typeof call.id, string>>();
      return call.tool === 'mail' && call.input.to === 'ann' ? 'done' : 'stop';
    },
    onDrift: (call) => (call.tool === 'update' && call.input.plan === 'pro' ? 'go on' : 'stop'),
  });
  for (const call of committed.done) {
    same<Equal<typeof call.tool, '.publish' | 'mail' | 'update'>>();
    if (call.tool === 'mail') mailed.push(call.input.to);
    // @ts-expect-error an update has no such input
    if (call.tool === 'update') mailed.push(call.input.to);
  }
  for (const call of committed.notDone) if (call.tool === 'update') mailed.push(call.input.plan);
  expect(mailed).toEqual(['ann', 'ann']);
});
