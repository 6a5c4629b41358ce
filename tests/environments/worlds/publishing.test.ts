import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Folder, fileSystem, gitWorktree } from '../../../src/environments/index.ts';
import { actCall } from './model-world.ts';
import { inOwnTemporaryFolder } from './own-temporary-folder.ts';
import {
  change,
  everything,
  givenUp,
  inGit,
  put,
  userFolder,
  userRepository,
} from './user-folder.ts';

inOwnTemporaryFolder();

const given = givenUp();

/** The same of a folder and of a repository. */
const kinds = {
  fileSystem: {
    user: userFolder,
    create: (root: string) => fileSystem({ root }),
    see: (root: string) => everything(root),
  },
  gitWorktree: {
    user: userRepository,
    create: (root: string) => gitWorktree({ repository: root }),
    see: (root: string) => ({
      files: everything(root, ['.git']),
      head: inGit(root, 'rev-parse', 'HEAD'),
      refs: inGit(root, 'for-each-ref'),
      staged: inGit(root, 'ls-files', '--stage'),
    }),
  },
} as const;

/** Publishes as a commit does: what fails is taken back. */
async function publish(folder: Folder, call = actCall()): Promise<string> {
  const changes = (await folder.changes?.()) ?? null;
  try {
    await folder.publish?.(changes, call);
    return 'published';
  } catch (error) {
    await folder.unpublish?.(changes, actCall());
    return (error as { readonly code?: string }).code ?? String(error);
  }
}

/** Does something when somebody looks at its signal for the n-th time. */
function meanwhile(count: number, act: () => void) {
  let looks = 0;
  const { signal } = new AbortController();
  signal.throwIfAborted = () => {
    if (++looks === count) act();
  };
  return { call: actCall(signal), looks: () => looks };
}

describe.each(['fileSystem', 'gitWorktree'] as const)('%s', (kind) => {
  const { user, create, see } = kinds[kind];

  test('lets one of two commits at the same time publish, and the other one see that', async () => {
    for (let round = 0; round < 4; round++) {
      const root = given.root(user());
      const folders = await Promise.all(
        ['one', 'other'].map(async (text) => {
          const folder = await given.copy(create(root));
          await folder.write('same.js', 'of both');
          await folder.remove('docs/old');
          for (const path of ['sum.js', 'check.sh', 'docs/guide.md', 'src/new.js']) {
            await folder.write(path, text);
          }
          return { folder, text };
        }),
      );
      const ended = await Promise.all(
        folders.map(async ({ folder, text }) => ({ text, came: await publish(folder) })),
      );
      expect(ended.map(({ came }) => came).toSorted()).toEqual(['published', 'stale']);
      const { text } = ended.find(({ came }) => came === 'published') ?? {};
      for (const path of ['sum.js', 'check.sh', 'docs/guide.md', 'src/new.js']) {
        expect(readFileSync(join(root, path), 'utf8')).toBe(text);
      }
      expect(readdirSync(root).filter((name) => name.startsWith('.espalier'))).toEqual([]);
      expect(readFileSync(join(root, 'same.js'), 'utf8')).toBe('of both');
      if (kind === 'gitWorktree') expect(inGit(root, 'status', '--porcelain')).toBe('');
    }
  });

  test('loses nothing that its user writes meanwhile', async () => {
    for (let at = 1; ; at++) {
      const root = given.root(user());
      const folder = await given.copy(create(root));
      await change(folder);
      const before = see(root);
      const during = meanwhile(at, () => put(root, 'sum.js', 'mine\n'));
      const came = await publish(folder, during.call);
      if (during.looks() < at) {
        expect(at).toBeGreaterThan(8);
        break;
      }
      expect(readFileSync(join(root, 'sum.js'), 'utf8')).toBe('mine\n');
      // Put back what is the user's, and all is as before, or as in the copy.
      rmSync(join(root, 'sum.js'));
      put(root, 'sum.js', came === 'stale' ? 'export const sum = (a, b) => a - b;\n' : 'x');
      if (came === 'stale') expect(see(root)).toEqual(before);
      else {
        expect(came).toBe('published');
        await folder.write('sum.js', 'x');
        expect(everything(root, ['.git', 'build'])).toEqual(everything(folder.root, ['.git']));
      }
    }
    // Git is started some hundred times: on a busy machine for more than a minute.
  }, 300_000);
});

describe.each(['fileSystem', 'gitWorktree'] as const)('%s', (kind) => {
  const { user, create, see } = kinds[kind];

  test('takes back what a kill has left, or says what is lost', async () => {
    const root = given.root(user());
    const folder = await given.copy(create(root));
    await change(folder);
    const before = see(root);
    const changes = (await folder.changes?.()) ?? null;
    const place = join(root, 'docs/old');
    const { signal } = new AbortController();
    signal.throwIfAborted = () => {
      if (existsSync(place) && statSync(place).isFile()) throw new Error('killed');
    };
    await expect(folder.publish?.(changes, actCall(signal))).rejects.toThrow('killed');
    const stores = readdirSync(root).filter((name) => name.startsWith('.espalier-'));
    expect(stores).toHaveLength(1);
    rmSync(join(root, stores[0] ?? ''), { recursive: true });
    if (kind === 'fileSystem') {
      const lost = /gone: `README.md`, `check.sh`, `docs\/old\/notes.md`. Restore them manually/;
      await expect(folder.unpublish?.(changes, actCall())).rejects.toThrow(lost);
      rmSync(join(root, 'README.md'));
      symlinkSync('docs/guide.md', join(root, 'README.md'));
      chmodSync(join(root, 'check.sh'), 0o755);
      put(root, 'docs/old/notes.md', 'Old.\n');
    }
    // Git still has the old files in its objects.
    await folder.unpublish?.(changes, actCall());
    expect(see(root)).toEqual(before);
  });
});

test('other git commands wait, or fail, while a commit is published', async () => {
  const { user, create } = kinds.gitWorktree;
  const root = given.root(user());
  const folder = await given.copy(create(root));
  await change(folder);
  const head = inGit(root, 'rev-parse', 'HEAD');
  const failed: string[] = [];
  const { signal } = new AbortController();
  signal.throwIfAborted = () => {
    if (inGit(root, 'rev-parse', 'HEAD') !== head) return;
    try {
      execFileSync('git', ['-C', root, 'commit', '--allow-empty', '-m', 'Mine'], { stdio: 'pipe' });
    } catch (error) {
      failed.push(String(error));
    }
  };
  expect(await publish(folder, actCall(signal))).toBe('published');
  expect(failed.length).toBeGreaterThan(8);
  expect(failed.every((text) => text.includes('index.lock'))).toBe(true);
  expect(inGit(root, 'rev-parse', 'HEAD^')).toBe(head);
  expect(inGit(root, 'status', '--porcelain')).toBe('');
});

describe('a folder', () => {
  test('gets modes and empty folders as they are in the copy', async () => {
    const { user, create } = kinds.fileSystem;
    const root = given.root(user());
    put(root, '.env', 'K=1');
    mkdirSync(join(root, 'empty'));
    chmodSync(join(root, '.env'), 0o600);
    const folder = await given.copy(create(root));
    await folder.write('.env', 'K=2');
    await folder.remove('docs/old/notes.md');
    await folder.remove('empty');
    mkdirSync(join(folder.root, 'made/deep'), { recursive: true });
    await folder.run(['chmod', '666', 'sum.js']);
    const changes = (await folder.changes?.()) ?? null;
    await folder.publish?.(changes, actCall());
    const there = everything(root);
    expect(there).toEqual(everything(folder.root));
    expect(there['.env']).toMatch(/^600 /);
    expect(there['sum.js']).toMatch(/^666 /);
    expect([there['docs/old'], there['made/deep'], there['empty']]).toEqual([
      'folder',
      'folder',
      undefined,
    ]);
    await folder.unpublish?.(changes, actCall());
    expect(everything(root)).toEqual(there);
  });

  test('with names that are not UTF-8 is refused before it is copied', async () => {
    const { user, create } = kinds.fileSystem;
    const root = given.root(user());
    writeFileSync(Buffer.from(`${root}/b\xff`, 'latin1'), 'x');
    await expect(create(root)()).rejects.toThrow('is not UTF-8');
  });
});
