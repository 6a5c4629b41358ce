import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Journal, memoryJournal } from '../../src/calls/index.ts';
import {
  type Folder,
  fileSystem,
  gitWorktree,
  toolEnvironment,
} from '../../src/environments/index.ts';
import { search, solved } from '../../src/index.ts';
import {
  givenUp,
  inGit,
  put,
  userFolder,
  userRepository,
} from '../environments/worlds/user-folder.ts';

const given = givenUp();

function folderWith(text: string): string {
  const root = given.root(userFolder());
  put(root, 'a.txt', text);
  return root;
}

function repositoryWith(text: string, paths: readonly string[] = ['a.txt']): string {
  const root = given.root(userRepository());
  for (const path of paths) put(root, path, text);
  inGit(root, 'add', '--all');
  inGit(root, 'commit', '--quiet', '-m', 'More');
  return root;
}

/** Writes a text by a search, and commits it. Returns what came of it, and how often somebody was asked. */
async function write(open: () => Promise<Folder>, text: string, journal: Journal) {
  await using environment = toolEnvironment(open, {
    name: 'write',
    task: 'Write.',
    tools: (tool) => ({
      write: tool({
        input: z.object({ text: z.string() }),
        effect: 'reversible',
        run: (folder, input) => folder.write('a.txt', input.text),
      }),
    }),
    done: async (folder) => (await folder.read('a.txt')) === text,
  });
  const { tree } = await search(environment, {
    policy: () => [{ action: { tool: 'write', input: { text } } }],
    evaluator: () => 0.5,
    budget: { simulations: 3 },
    stopWhen: solved(),
  });
  let asked = 0;
  const approve = () => {
    asked += 1;
    return true;
  };
  const { status } = await environment.commit(tree, { journal, approve });
  return { status, asked };
}

describe('with one journal, what was published once', () => {
  test('is done for that repository and that HEAD only', async () => {
    const journal = memoryJournal();
    const [one, other] = [repositoryWith('bad'), repositoryWith('bad')];
    for (const root of [one, other]) {
      const done = await write(gitWorktree({ repository: root }), 'good', journal);
      expect(done).toEqual({ status: 'committed', asked: 1 });
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('good');
    }
    inGit(one, 'revert', '--no-edit', 'HEAD');
    expect(readFileSync(join(one, 'a.txt'), 'utf8')).toBe('bad');
    await write(gitWorktree({ repository: one }), 'good', journal);
    expect(readFileSync(join(one, 'a.txt'), 'utf8')).toBe('good');
  });

  test('is done for that folder, and until something else is', async () => {
    const journal = memoryJournal();
    const [one, other] = [folderWith('0'), folderWith('0')];
    for (const [root, text] of [
      [one, '1'],
      [other, '1'],
      [one, '0'],
      [one, '1'],
    ] as const) {
      const done = await write(fileSystem({ root }), text, journal);
      expect(done).toEqual({ status: 'committed', asked: 1 });
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(text);
    }
  });
});

test('a mail of another task, or from other data, is not taken for the one that was sent', async () => {
  const journal = memoryJournal();
  const sent: string[] = [];
  const send = async (task: string, data: { readonly month: number }) => {
    const environment = toolEnvironment(data, {
      name: 'mail',
      task,
      tools: (tool) => ({
        mail: tool({
          input: z.object({ to: z.string() }),
          effect: 'irreversible',
          run: (_, { to }) => void sent.push(to),
        }),
      }),
    });
    const { tree } = await search(environment, {
      policy: () => [{ action: { tool: 'mail', input: { to: 'a@b.c' } } }],
      evaluator: () => 1,
      budget: { simulations: 1 },
    });
    return environment.commit(tree, { journal, approve: () => true });
  };
  expect(await send('Send it.', { month: 1 })).toMatchObject({ status: 'committed' });
  expect(await send('Send it.', { month: 1 })).toMatchObject({ status: 'committed' });
  expect(sent).toHaveLength(1);
  for (const other of [
    await send('Send it.', { month: 2 }),
    await send('Send another one.', { month: 1 }),
  ]) {
    expect(other).toMatchObject({
      status: 'stale',
      message: expect.stringContaining('use another journal'),
    });
  }
  expect(sent).toHaveLength(1);
});

test('a commit in the middle of which HEAD is moved leaves all as it was', async () => {
  const paths = Array.from({ length: 60 }, (_, index) => `f${index}`);
  const root = repositoryWith('old', paths);
  await using environment = toolEnvironment(gitWorktree({ repository: root }), {
    name: 'many',
    task: 'Write.',
    tools: (tool) => ({
      write: tool({
        input: z.object({}),
        effect: 'reversible',
        run: async (folder) => {
          for (const path of paths) await folder.write(path, 'new');
          return null;
        },
      }),
    }),
  });
  const { tree } = await search(environment, {
    policy: () => [{ action: { tool: 'write', input: {} } }],
    evaluator: () => 1,
    budget: { simulations: 1 },
  });
  let isMoved = false;
  const watching = setInterval(() => {
    if (isMoved || !readdirSync(root).some((name) => name.startsWith('.espalier-'))) return;
    isMoved = true;
    inGit(root, 'update-ref', 'HEAD', 'HEAD~1');
  }, 1);
  const journal = memoryJournal();
  const { status } = await environment.commit(tree, { journal, approve: () => true });
  clearInterval(watching);
  expect({ isMoved, status }).toEqual({ isMoved: true, status: 'stale' });
  for (const path of paths) expect(readFileSync(join(root, path), 'utf8')).toBe('old');
  expect(await environment.recover(journal)).toEqual({ undone: 0, failed: [] });
});

test('a repository that is none is refused before anything is searched', async () => {
  await using environment = toolEnvironment(gitWorktree({ repository: '/nowhere' }), {
    name: 'nowhere',
    task: 'Work.',
    tools: () => ({}),
  });
  const searching = search(environment, {
    policy: () => [],
    evaluator: () => 0,
    budget: { simulations: 1 },
  });
  await expect(searching).rejects.toThrow('is not a checkout of a git repository');
});

test('programs are not looked for in the folder of a branch', async () => {
  const root = folderWith('');
  put(root, 'bin/true', '#!/bin/sh\necho theirs\n');
  chmodSync(join(root, 'bin/true'), 0o755);
  const { env } = process;
  const before = env['PATH'];
  try {
    env['PATH'] = `bin:.:${before}`;
    const folder = await fileSystem({ root })();
    expect(await folder.run(['true'])).toEqual({ code: 0, output: '' });
    await folder.close?.();
  } finally {
    env['PATH'] = before;
  }
});
