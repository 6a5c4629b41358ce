import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../src/calls/index.ts';
import {
  type Folder,
  fileSystem,
  gitWorktree,
  toolEnvironment,
} from '../../src/environments/index.ts';
import {
  type SearchNode,
  type SearchTree,
  search,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import {
  givenUp,
  inGit,
  put,
  userFolder,
  userRepository,
} from '../environments/worlds/user-folder.ts';
import type { Loose } from '../support/loose.ts';

const given = givenUp();
const approve = () => true;

const worlds = {
  'a git worktree': {
    make: () => {
      const root = given.root(userRepository());
      put(root, 'a.txt', 'bad');
      inGit(root, 'add', '--all');
      inGit(root, 'commit', '--quiet', '-m', 'More');
      return root;
    },
    open: (repository: string) => gitWorktree({ repository }),
    save: (root: string) => void inGit(root, 'commit', '--quiet', '--all', '-m', 'A colleague'),
  },
  'a folder': {
    make: () => {
      const root = given.root(userFolder());
      put(root, 'a.txt', 'bad');
      return root;
    },
    open: (root: string) => fileSystem({ root }),
    save: () => {},
  },
};

/** An environment in which a file is written, whatever stood in it, and then a mail is sent. */
function writing(open: () => Promise<Folder>, sent: string[]) {
  return toolEnvironment(open, {
    name: 'write',
    task: 'Write.',
    tools: (tool) => ({
      write: tool({
        input: z.object({ text: z.string() }),
        effect: 'reversible',
        run: (folder, { text }) => folder.write('a.txt', text),
      }),
      mail: tool({
        input: z.object({ to: z.string() }),
        effect: 'irreversible',
        predict: () => ({ output: 'sent' }),
        run: (_folder, { to }) => {
          sent.push(to);
          return 'sent';
        },
      }),
    }),
  });
}

const actions = [
  { tool: 'write', input: { text: 'good' } },
  { tool: 'mail', input: { to: 'ann' } },
] as const;

/** The tree of one path, and its end. */
async function grown(environment: ReturnType<typeof writing>) {
  const { tree } = await search(environment, {
    policy: ({ state }) =>
      actions.slice(state.calls.length, state.calls.length + 1).map((action) => ({ action })),
    evaluator: () => 0.5,
    budget: { simulations: 4 },
  });
  return { tree, end: endOf(tree) };
}

function endOf<State, Action>(tree: SearchTree<State, Action>): SearchNode<State, Action> {
  const end = [...tree.nodes()].at(-1);
  if (end === undefined) throw new Error('Expected a node.');
  return end;
}

describe.each(Object.entries(worlds))('in %s', (_, { make, open, save }) => {
  test.each(['the same journal', 'another one', 'another process'])(
    'what somebody else has changed is not overwritten by a second try, with %s',
    async (how) => {
      const root = make();
      const sent: string[] = [];
      await using environment = writing(open(root), sent);
      const { end } = await grown(environment);
      put(root, 'a.txt', 'a colleague');
      save(root);
      const journal = memoryJournal();
      const statuses: string[] = [];
      for (const turn of [0, 1, 2]) {
        await using other = writing(open(root), sent);
        const of = how === 'another process' ? other : environment;
        const on = turn === 0 || how === 'the same journal' ? journal : memoryJournal();
        const { status, message } = await of.commit(end, { journal: on, approve });
        statuses.push(status);
        expect(message).toMatch(/changed|moved on/);
      }
      expect(statuses).toEqual(['stale', 'stale', 'stale']);
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a colleague');
      expect(sent).toEqual([]);
    },
  );

  test('a path goes on in another process as long as nothing has changed', async () => {
    const root = make();
    const sent: string[] = [];
    await using environment = writing(open(root), sent);
    const { tree } = await grown(environment);
    const loaded = treeFromJson(JSON.parse(JSON.stringify(treeToJson(tree))));
    await using other = writing(open(root), sent);
    expect(
      await other.commit(endOf(loaded) as Loose, { journal: memoryJournal(), approve }),
    ).toMatchObject({
      status: 'committed',
    });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('good');
    expect(sent).toEqual(['ann']);
  });
});

test('a path from other data, or of another task, is refused', async () => {
  const counter = (n: number, task: string, sent: number[]) =>
    toolEnvironment(
      { n },
      {
        name: 'count',
        task,
        tools: (tool) => ({
          send: tool({
            input: z.object({}),
            effect: 'irreversible',
            predict: (db) => ({ output: db.n }),
            run: (db) => {
              sent.push(db.n);
              return db.n;
            },
          }),
        }),
      },
    );
  const sent: number[] = [];
  const first = counter(0, 'Count.', sent);
  const { tree } = await search(first, {
    policy: () => [{ action: { tool: 'send', input: {} } as const }],
    evaluator: () => 0.5,
    budget: { simulations: 1 },
  });
  for (const other of [counter(7, 'Count.', sent), counter(0, 'Count on.', sent)]) {
    const { status, message } = await other.commit(endOf(tree), {
      journal: memoryJournal(),
      approve,
    });
    expect(status).toBe('stale');
    expect(message).toBe(
      'The start of the path is of another environment, task or data. Search again from how things stand now.',
    );
  }
  expect(sent).toEqual([]);
  const again = counter(0, 'Count.', sent);
  const { status } = await again.commit(endOf(tree), { journal: memoryJournal(), approve });
  expect(status).toBe('committed');
  expect(sent).toEqual([0]);
});
