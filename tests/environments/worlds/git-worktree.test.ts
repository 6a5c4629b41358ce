import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { memoryJournal } from '../../../src/calls/index.ts';
import {
  type Folder,
  fromWorld,
  gitWorktree,
  toolEnvironment,
} from '../../../src/environments/index.ts';
import { mcts, search } from '../../../src/index.ts';
import { actCall } from './model-world.ts';
import { inOwnTemporaryFolder } from './own-temporary-folder.ts';
import {
  change,
  everything,
  givenUp,
  inGit,
  killEverywhere,
  processesWith,
  put,
  userRepository,
} from './user-folder.ts';

inOwnTemporaryFolder();

const given = givenUp();

async function opened(options = {}) {
  const root = given.root(userRepository());
  const create = gitWorktree({ repository: root, ...options });
  return { root, folder: await given.copy(create), create };
}

/** A repository as its user sees it. */
function seen(root: string) {
  return {
    head: inGit(root, 'rev-parse', 'HEAD'),
    refs: inGit(root, 'for-each-ref'),
    status: inGit(root, 'status', '--porcelain'),
    staged: inGit(root, 'ls-files', '--stage'),
    files: everything(root, ['.git']),
  };
}

describe('a worktree', () => {
  test('is brought back to snapshots and to its start, and leaves no trace in the repository', async () => {
    const { root, folder } = await opened();
    const before = everything(root);
    const start = await folder.fingerprint?.();
    expect(await folder.list()).toEqual(
      Object.entries(everything(root, ['.git', 'build']))
        .filter(([, what]) => what !== 'folder')
        .map(([path]) => path),
    );
    await change(folder);
    const kept = await folder.snapshot?.();
    const changed = everything(folder.root, ['.git']);
    await folder.run([
      'sh',
      '-c',
      'rm -rf docs sum.js; mkdir sum.js; echo x > sum.js/x; git commit -qam no',
    ]);
    await folder.write('build/left.txt', 'ignored');
    await folder.restore?.(kept ?? null);
    expect(everything(folder.root, ['.git'])).toEqual(changed);
    expect(await folder.fingerprint?.()).toBe(kept);
    await folder.reset?.(actCall());
    expect(await folder.fingerprint?.()).toBe(start);
    expect(everything(root)).toEqual(before);
  });

  test('has the folders that programs need, and keeps them', async () => {
    const root = given.root(userRepository());
    put(root, 'build/tool.txt', 'tool');
    const folder = await given.copy(gitWorktree({ repository: root, copy: ['build'] }));
    await change(folder);
    await folder.reset?.(actCall());
    expect(await folder.read('build/tool.txt')).toBe('tool');
    expect(await folder.list()).not.toContain('build/tool.txt');
    expect(await folder.changes?.()).toBeUndefined();
  });
});

describe('a worktree beside its repository', () => {
  test('keeps paths out of `.git`, and pushes out of the repository', async () => {
    const { root, folder } = await opened();
    await folder.run(['ln', '-s', '.git', 'inside']);
    for (const path of ['.git/config', '.GIT/config', 'inside/config']) {
      await expect(folder.write(path, 'x')).rejects.toThrow('must not be touched');
      await expect(folder.read(path)).rejects.toThrow('must not be touched');
    }
    const before = everything(root);
    const { code } = await folder.run(['git', 'push', 'origin', 'HEAD:refs/heads/x']);
    expect(code).not.toBe(0);
    expect(everything(root)).toEqual(before);
  });

  test('is refused of what it cannot hold', async () => {
    const root = given.root(userRepository());
    const at = (path: string) => gitWorktree({ repository: path })();
    await expect(at('/')).rejects.toThrow('is not a checkout of a git repository');
    const head = inGit(root, 'rev-parse', 'HEAD');
    inGit(root, 'update-index', '--add', '--cacheinfo', `160000,${head},module`);
    inGit(root, 'commit', '--quiet', '-m', 'A module');
    await expect(at(root)).rejects.toThrow('has submodules');
  });

  test('leaves nothing behind when its process is killed', async () => {
    const root = given.root(userRepository());
    const before = everything(root);
    const worlds = join(import.meta.dirname, '../../../src/environments/index.ts');
    const program = `
      const { gitWorktree } = await import(${JSON.stringify(worlds)});
      const folder = await gitWorktree({ repository: ${JSON.stringify(root)} })();
      await folder.write('sum.js', 'changed');
      console.log(folder.root);
      await folder.run(['sh', '-c', 'setsid sleep 98711 & sleep 98712']);`;
    const child = spawn(process.execPath, [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      program,
    ]);
    const place = await new Promise<string>((resolve, reject) => {
      child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
      child.stderr.once('data', (chunk: Buffer) => reject(new Error(chunk.toString())));
    });
    while (processesWith('sleep 9871').length < 2)
      await new Promise((next) => setTimeout(next, 20));
    const dead = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await dead;
    expect(existsSync(place)).toBe(true);
    expect(everything(root)).toEqual(before);
    expect(inGit(root, 'worktree', 'list').split('\n')).toHaveLength(1);

    const environment = fromWorld(() => expect.fail('No world.'), { name: 'x', instances: 1 });
    const recovery = await environment.recover();
    expect(recovery.undone).toBeGreaterThanOrEqual(3);
    expect(recovery.failed).toEqual([]);
    expect(existsSync(place)).toBe(false);
    expect(processesWith('sleep 9871')).toEqual([]);
    expect(everything(root)).toEqual(before);
  });
});

describe('a repository', () => {
  test('has one commit more when a worktree is published, and none when that is taken back', async () => {
    const { root, folder } = await opened();
    put(root, 'notes.txt', 'mine, not staged');
    put(root, 'staged.txt', 'mine, staged');
    inGit(root, 'add', 'staged.txt');
    const before = seen(root);
    await change(folder);
    const changes = (await folder.changes?.()) ?? null;
    expect(await folder.changes?.()).toEqual(changes);
    expect(seen(root)).toEqual(before);
    await folder.unpublish?.(changes, actCall());
    expect(seen(root)).toEqual(before);

    await folder.publish?.(changes, actCall());
    expect(inGit(root, 'rev-parse', 'HEAD^')).toBe(before.head);
    expect(inGit(root, 'log', '-1', '--format=%an')).toBe('Ada');
    expect(inGit(root, 'status', '--porcelain')).toBe('A  staged.txt\n?? notes.txt');
    expect(inGit(root, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    const expected = everything(folder.root, ['.git']);
    expect(everything(root, ['.git', 'build', 'notes.txt', 'staged.txt'])).toEqual(expected);
    await folder.publish?.(changes, actCall());
    inGit(root, 'fsck', '--strict');

    await folder.unpublish?.(changes, actCall());
    expect(seen(root)).toEqual(before);
  });

  test('is wholly published or not at all, wherever a kill comes', async () => {
    const { root, folder, create } = await opened();
    const before = seen(root);
    await change(folder);
    expect(await killEverywhere(folder, create, () => seen(root))).toBeGreaterThan(10);
    expect(inGit(root, 'status', '--porcelain')).toBe('');
    expect(inGit(root, 'rev-parse', 'HEAD^')).toBe(before.head);
  });
});

describe('a repository of a user who works on', () => {
  test('gets back its index from a kill in the middle of that', async () => {
    const { root, folder } = await opened();
    const before = seen(root);
    await change(folder);
    const changes = ((await folder.changes?.()) ?? null) as { readonly target: string };
    await folder.publish?.(changes, actCall());
    await folder.unpublish?.(changes, actCall());
    put(root, '.git/index.lock', `espalier ${changes.target.slice(0, 16)}`);
    put(root, `.git/index.espalier-${changes.target.slice(0, 16)}`, 'half');
    await folder.unpublish?.(changes, actCall());
    expect(seen(root)).toEqual(before);
    expect(existsSync(join(root, '.git/index.lock'))).toBe(false);
    // The lock of another git is not ours to remove.
    put(root, '.git/index.lock', '');
    await expect(folder.publish?.(changes, actCall())).rejects.toThrow(
      'Another git process is working in',
    );
    rmSync(join(root, '.git/index.lock'));
    await folder.unpublish?.(changes, actCall());
    expect(seen(root)).toEqual(before);
  });

  test.each<[string, (root: string) => void]>([
    ['a file that changes', (root) => put(root, 'sum.js', 'mine\n')],
    ['a file in the way', (root) => put(root, 'src/new/deep.js', 'mine\n')],
    ['a folder in the way', (root) => put(root, 'src/new/deep.js/mine.txt', 'mine\n')],
    [
      'something staged',
      (root) => {
        put(root, 'src/new/deep.js', 'mine\n');
        inGit(root, 'add', 'src/new/deep.js');
        rmSync(join(root, 'src'), { recursive: true });
      },
    ],
    ['another commit', (root) => inGit(root, 'commit', '--quiet', '--allow-empty', '-m', 'Mine')],
  ])('is not touched where there is %s of the user', async (_, act) => {
    const { root, folder } = await opened();
    await change(folder);
    const changes = (await folder.changes?.()) ?? null;
    act(root);
    const mine = seen(root);
    await expect(folder.publish?.(changes, actCall())).rejects.toMatchObject({ code: 'stale' });
    expect(seen(root)).toEqual(mine);
  });

  test('gets a branch, and nothing else, where that is asked for', async () => {
    const { root, folder } = await opened({ branch: 'found' });
    const before = seen(root);
    await change(folder);
    const changes = (await folder.changes?.()) ?? null;
    await folder.publish?.(changes, actCall());
    expect(inGit(root, 'rev-parse', 'found^')).toBe(before.head);
    expect({ ...seen(root), refs: '' }).toEqual({ ...before, refs: '' });
    await folder.unpublish?.(changes, actCall());
    expect(seen(root)).toEqual(before);
    inGit(root, 'branch', 'found');
    await expect(folder.publish?.(changes, actCall())).rejects.toMatchObject({ code: 'stale' });
  });
});

/** Writes texts in a repository whose check leaves a report behind, which git does not ignore. */
function reporting() {
  const repository = given.root(userRepository());
  const outputs: unknown[] = [];
  const environment = toolEnvironment(gitWorktree({ repository }), {
    name: 'reporting',
    task: 'Write 2.',
    tools: (tool) => ({
      write: tool({
        input: z.object({ path: z.string(), text: z.string() }),
        effect: 'reversible',
        run: async (folder, { path, text }) => {
          await folder.write(path, text);
          return `${(await folder.list()).filter((each) => each.startsWith('report')).length} reports`;
        },
      }),
    }),
    async done(folder: Folder, output) {
      outputs.push(output);
      await folder.write(`report-${outputs.length}.txt`, 'Checked.\n');
      return false;
    },
  });
  return { repository, environment, outputs };
}

test('what a check leaves in a copy is in no other state and in no commit, and it is told what came out', async () => {
  const { repository, environment, outputs } = reporting();
  const before = everything(repository);
  const { tree, best } = await search(environment, {
    policy: () => [
      { action: { tool: 'write', input: { path: 'a', text: '1' } } },
      { action: { tool: 'write', input: { path: 'c', text: '2' } } },
    ],
    evaluator: () => 0.5,
    algorithm: mcts({ maxDepth: 3 }),
    budget: { simulations: 12 },
  });
  expect([...tree.nodes()].flatMap(({ failure }) => failure ?? [])).toEqual([]);
  expect(tree.size).toBeGreaterThan(5);
  // At the start nothing came out of anything.
  expect(outputs[0]).toBeUndefined();
  expect(new Set(outputs.slice(1))).toEqual(new Set(['0 reports']));
  expect(everything(repository)).toEqual(before);
  const { status } = await environment.commit(best, { journal: memoryJournal() });
  await environment.close();
  expect(status).toBe('committed');
  const files = inGit(repository, 'ls-files').split('\n');
  expect(files.filter((file) => file.startsWith('report'))).toEqual([]);
  expect(inGit(repository, 'status', '--porcelain')).toBe('');
});

/** Writes a text and commits it, as often as it is called. */
function writing(options: { readonly branch?: string } = {}) {
  const repository = given.root(userRepository());
  const environment = toolEnvironment(gitWorktree({ repository, ...options }), {
    name: 'writing',
    task: 'Write something.',
    tools: (tool) => ({
      write: tool({
        input: z.object({ path: z.string() }),
        effect: 'reversible',
        run: (folder, { path }) => folder.write(path, 'new\n'),
      }),
    }),
    answer: z.literal('written'),
  });
  const write = async (path: string) => {
    const { best } = await search(environment, {
      policy: ({ state: { calls } }) => [
        {
          action:
            calls.length === 0
              ? { tool: 'write', input: { path } }
              : { tool: 'answer', input: 'written' },
        },
      ],
      evaluator: () => 0.5,
      algorithm: mcts({ maxDepth: 2 }),
      budget: { simulations: 3 },
    });
    return environment.commit(best, {
      journal: memoryJournal(),
      approve: ({ diff }) => diff?.includes(`+++ b/${path}`) === true,
    });
  };
  return { repository, environment, write };
}

test('what is searched after a commit starts from it', async () => {
  const { repository, environment, write } = writing();
  await using _ = environment;
  expect(await write('one')).toMatchObject({ status: 'committed' });
  expect(await write('two')).toMatchObject({ status: 'committed' });
  expect(inGit(repository, 'log', '--format=%s').split('\n')).toHaveLength(3);
  expect(inGit(repository, 'status', '--porcelain')).toBe('');
});

test('folders to copy are a list', () => {
  expect(() => gitWorktree({ repository: '.', copy: 'build' as never })).toThrow(
    '`copy` to be an array',
  );
});

test('a branch that is there already is not moved', async () => {
  const { repository, environment, write } = writing({ branch: 'found' });
  await using _ = environment;
  inGit(repository, 'branch', 'found');
  const before = everything(repository);
  const { status, message } = await write('one');
  expect(status).toBe('stale');
  expect(message).toMatch(
    /has a branch `found` already. Delete it, or name another one as `branch`/,
  );
  expect(everything(repository)).toEqual(before);
});

test.each<[string, (root: string) => void]>([
  ['in its files', (root) => put(root, 'docs/.gitattributes', '*.bin filter=lfs diff=lfs\n')],
  ['beside them', (root) => put(root, '.git/info/attributes', '*.bin filter=lfs\n')],
  [
    'of the user',
    (root) => {
      put(root, '.git/mine', '*.bin filter=lfs\n');
      inGit(root, 'config', 'core.attributesFile', join(root, '.git/mine'));
    },
  ],
])(
  'a repository is refused where attributes %s have a file go through a filter',
  async (_, write) => {
    const root = given.root(userRepository());
    write(root);
    inGit(root, 'add', '--all');
    inGit(root, 'commit', '--quiet', '--allow-empty', '-m', 'Attributes');
    // Nothing goes through the filter yet, but what a branch writes.
    const folder = await given.copy(gitWorktree({ repository: root }));
    await folder.write('docs/large.bin', 'large');
    await expect(folder.changes?.()).rejects.toThrow('`docs/large.bin` of the branch goes through');
    put(root, 'docs/large.bin', 'large');
    inGit(root, 'add', '--all');
    inGit(root, 'commit', '--quiet', '-m', 'Large files');
    const places = readdirSync(tmpdir()).length;
    await expect(gitWorktree({ repository: root })()).rejects.toThrow(
      '`docs/large.bin` goes through a filter',
    );
    expect(readdirSync(tmpdir())).toHaveLength(places);
  },
);
