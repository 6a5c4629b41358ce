/** Environments of tools as people write them: what is inferred is exact, under both versions of TypeScript. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Tool, toolEnvironment } from '../../src/environments/index.ts';
import { type Policy, search, type Workspace } from '../../src/index.ts';
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
