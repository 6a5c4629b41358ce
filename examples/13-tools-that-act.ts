/** Tools that act: on a world outside with an undo, in copies of folders, and tools of other SDKs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { search, solved } from 'espalier';
import { aiSdkTools, mcpTools } from 'espalier/agents';
import { openJournal } from 'espalier/calls';
import {
  type Folder,
  fileSystem,
  gitWorktree,
  type MadeCall,
  type ToolOptions,
  toolEnvironment,
} from 'espalier/environments';
import { scriptedModel } from 'espalier/testing';
import * as z from 'zod';

const place = mkdtempSync(join(tmpdir(), 'tools-'));
const model = scriptedModel({ answer: () => 'Delivered.' });

// A desk that answers customers.

const sent: string[] = [];

const desk = toolEnvironment(
  { budget: 10, credits: [] as readonly number[] },
  {
    name: 'desk',
    task: 'Make up for the late parcel of order 7, and say so.',
    tools: (tool) => ({
      order: tool({
        description: 'Looks up an order.',
        input: z.object({ id: z.int() }),
        effect: 'read',
        timeoutMs: 5_000,
        run: (_db, { id }) => ({ id, customer: 'ada@example.com', late: true }),
      }),
      credit: tool({
        input: z.object({ amount: z.int().min(1) }),
        effect: 'pure',
        run: (db, { amount }) => ({
          state: { budget: db.budget - amount, credits: [...db.credits, amount] },
          output: `${db.budget - amount} left`,
        }),
      }),
      mail: tool({
        input: z.object({ to: z.string(), text: z.string() }),
        effect: 'irreversible',
        predict: { model },
        run: (_db, { to }) => void sent.push(to),
      }),
    }),
    answer: z.object({ credited: z.int() }),
    permit: (call, { budget }) =>
      call.tool !== 'credit' || call.input.amount <= budget || 'The budget is spent.',
  },
);

const answered = await search(desk, {
  policy: ({ state: { calls } }) => [
    calls.length === 0
      ? { action: { tool: 'credit', input: { amount: 5 } } }
      : calls.length === 1
        ? { action: { tool: 'mail', input: { to: 'ada@example.com', text: 'Sorry.' } } }
        : { action: { tool: 'answer', input: { credited: 5 } } },
  ],
  evaluator: () => 0.5,
  budget: { simulations: 6 },
});
assert.deepEqual(answered.tree.best.state?.answer, { credited: 5 });
assert.deepEqual(sent, []);

// Prices on a server: changed in a branch, and taken back when the branch is left.

const server = new Map([['tea', 4]]);
const journal = openJournal(join(place, 'prices.jsonl'));

await using prices = toolEnvironment(null, {
  name: 'prices',
  task: 'Find the price of tea that sells best.',
  journal,
  tools: (tool) => ({
    set: tool({
      input: z.object({ item: z.string(), price: z.number() }),
      effect: 'reversible',
      remember: (_db, { item }) => server.get(item) ?? null,
      run: (_db, { item, price }) => void server.set(item, price),
      undo(_db, { item }, { remembered }) {
        if (typeof remembered === 'number') server.set(item, remembered);
        else server.delete(item);
      },
    }),
    forecast: tool({
      input: z.object({ item: z.string() }),
      effect: 'read',
      run: (_db, { item }) => ({ sold: 100 - (Number(server.get(item)) - 3) ** 2 }),
    }),
  }),
});

const { tree } = await search(prices, {
  policy: ({ state: { calls } }) =>
    calls.length === 0
      ? [2, 3, 5].map((price) => ({ action: { tool: 'set', input: { item: 'tea', price } } }))
      : [{ action: { tool: 'forecast', input: { item: 'tea' } } }],
  evaluator: ({ state }) => (state.turns.at(-1)?.content.includes('"sold":100') ? 0.9 : 0.1),
  budget: { simulations: 8 },
  journal,
});
assert.equal(server.get('tea'), 4);

// Carrying it out.

const askPerson = async (what: unknown) => `${JSON.stringify(what)}?` !== '';
const lookItUp = async ({ tool }: MadeCall) => tool === 'mail';

const { status, done, notDone, message } = await prices.commit(tree, {
  journal,
  approve: (plan) => askPerson(plan.calls),
  onUnknown: async (call) => ((await lookItUp(call)) ? 'done' : 'run'),
});
if (status !== 'committed') console.log(message, 'Done:', done, 'Not done:', notDone);
assert.equal(status, 'committed');
assert.equal(server.get('tea'), 3);

const { undone, failed } = await prices.recover();
assert.deepEqual([undone, failed], [0, []]);

// Copies of a folder and of a repository.

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from './sum.mjs';

test('adds', () => assert.equal(sum(1, 2), 3));
`;
const root = join(place, 'folder');
const repository = join(place, 'repository');
for (const folder of [root, repository]) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'sum.mjs'), 'export const sum = (a, b) => a - b;\n');
  writeFileSync(join(folder, 'sum.test.mjs'), test);
}
const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args]);
git('init', '--quiet', '--initial-branch', 'main');
git('config', 'user.name', 'Ada');
git('config', 'user.email', 'ada@example.com');
git('add', '--all');
git('commit', '--quiet', '-m', 'Begin');

const repair = {
  name: 'repair',
  task: 'Fix sum.mjs so that the test passes.',
  tools: (tool) => ({
    write: tool({
      input: z.object({ path: z.string(), text: z.string() }),
      effect: 'reversible', // the workspace is brought back as a whole: no `undo`
      run: (folder, { path, text }) => folder.write(path, text),
    }),
  }),
  done: async (folder) => (await folder.run(['node', '--test'])).code === 0,
} satisfies ToolOptions<Folder>;

await using inFolder = toolEnvironment(fileSystem({ root, ignore: ['node_modules'] }), repair);

await using inRepository = toolEnvironment(gitWorktree({ repository }), repair);

for (const [environment, folder] of [
  [inFolder, root],
  [inRepository, repository],
] as const) {
  const fixed = await search(environment, {
    policy: () =>
      ['a * b', 'a + b'].map((sum) => {
        const text = `export const sum = (a, b) => ${sum};\n`;
        return { action: { tool: 'write', input: { path: 'sum.mjs', text } } };
      }),
    evaluator: () => 0.5,
    budget: { simulations: 6 },
    stopWhen: solved(),
  });
  const text = () => readFileSync(join(folder, 'sum.mjs'), 'utf8');
  assert.match(text(), /a - b/);
  const file = openJournal(`${folder}.jsonl`);
  assert.equal((await environment.commit(fixed.tree, { journal: file })).status, 'committed');
  assert.match(text(), /a \+ b/);
}

// Tools of other SDKs.

const weather = {
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }: { city: string }) => `4 °C in ${city}`,
};
const client = {
  listTools: async () => ({ tools: [{ name: 'search' }, { name: 'remove' }] }),
  callTool: async (_params: object, _options: object) => ({ content: [] }),
};

const fromSdk = aiSdkTools({ weather }, { effects: { weather: 'read' } });
const fromServer = await mcpTools(client, { prefix: 'files_', effects: { search: 'read' } });
const assistant = toolEnvironment(null, {
  name: 'assistant',
  task: 'Is it warm in Oslo? What do our files say?',
  tools: () => ({ ...fromSdk, ...fromServer }),
});

assert.equal(fromServer['files_remove']?.effect, 'irreversible');
assert.deepEqual(
  assistant.notation.tools?.map(({ name }) => name),
  ['weather', 'files_search', 'files_remove', 'answer'],
);
rmSync(place, { recursive: true });
