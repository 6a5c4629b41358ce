import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect } from 'vitest';
import type { ActCall } from '../../../src/contracts/world.ts';
import type { Folder } from '../../../src/environments/index.ts';
import { actCall } from './model-world.ts';

/** A folder of a user, with files, a program and a link in it. */
export function userFolder(): string {
  const root = mkdtempSync(join(tmpdir(), 'user-'));
  put(root, 'sum.js', 'export const sum = (a, b) => a - b;\n');
  put(root, 'docs/guide.md', '# Guide\n');
  put(root, 'docs/old/notes.md', 'Old.\n');
  put(root, 'check.sh', '#!/bin/sh\nexit 0\n');
  chmodSync(join(root, 'check.sh'), 0o755);
  symlinkSync('docs/guide.md', join(root, 'README.md'));
  return root;
}

/** The same as a repository with one commit, and something ignored. */
export function userRepository(): string {
  const root = userFolder();
  put(root, '.gitignore', 'build/\n');
  put(root, 'build/out.txt', 'built\n');
  inGit(root, 'init', '--quiet', '--initial-branch', 'main');
  inGit(root, 'config', 'user.name', 'Ada');
  inGit(root, 'config', 'user.email', 'ada@example.org');
  inGit(root, 'add', '--all');
  inGit(root, 'commit', '--quiet', '-m', 'Begin');
  return root;
}

export function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

export function inGit(root: string, ...args: string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
}

/** Every file and link below a folder, with mode and content; `.git` too, unless it is left out. */
export function everything(root: string, leftOut: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    if (leftOut.some((name) => path === name || path.startsWith(`${name}/`))) continue;
    const status = lstatSync(join(root, path));
    const hash = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');
    if (status.isSymbolicLink()) found[path] = `link ${readlinkSync(join(root, path))}`;
    else if (status.isFile()) {
      found[path] = `${(status.mode & 0o777).toString(8)} ${hash(readFileSync(join(root, path)))}`;
    } else found[path] = 'folder';
  }
  return found;
}

export function removeAll(...roots: readonly string[]): void {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
}

/** Stops whatever looks at its signal for the n-th time, as a kill would. */
export function killedAt(count: number): ActCall & { readonly looks: number } {
  let looks = 0;
  const { signal } = new AbortController();
  signal.throwIfAborted = () => {
    if (++looks === count) throw new Error('killed');
  };
  return {
    ...actCall(signal),
    get looks() {
      return looks;
    },
  };
}

/** Which processes hold a text in what they were started with. */
export function processesWith(text: string): readonly string[] {
  const all = execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(text) && !line.startsWith('Z'));
}

/** Folders of users, and copies of them, that are given up after each test. */
export function givenUp() {
  const roots: string[] = [];
  const open: Folder[] = [];
  afterEach(async () => {
    for (const folder of open.splice(0)) await folder.close?.();
    removeAll(...roots.splice(0));
  });
  return {
    root(path: string): string {
      roots.push(path);
      return path;
    },
    async copy(create: () => Promise<Folder>): Promise<Folder> {
      const folder = await create();
      open.push(folder);
      await folder.reset?.(actCall());
      return folder;
    },
  };
}

/** Changes of every kind. */
export async function change(folder: Folder): Promise<void> {
  await folder.write('sum.js', 'export const sum = (a, b) => a + b;\n');
  await folder.write('src/new/deep.js', 'new\n');
  await folder.remove('docs/old');
  await folder.write('docs/old', 'a file where a folder was\n');
  await folder.remove('README.md');
  symlinkSync('sum.js', join(folder.root, 'README.md'));
  chmodSync(join(folder.root, 'check.sh'), 0o644);
}

/** Kills a publication at each point at which it can be, and has another process take it back. Returns at how many. */
export async function killEverywhere(
  folder: Folder,
  create: () => Promise<Folder>,
  see: () => unknown,
): Promise<number> {
  const before = see();
  const changes = (await folder.changes?.()) ?? null;
  for (let at = 1; ; at++) {
    const isKilled = await folder.publish?.(changes, killedAt(at))?.then(
      () => false,
      (error: Error) => error.message === 'killed' || expect.fail(error.message),
    );
    if (isKilled !== true) return at;
    const later = await create();
    await later.unpublish?.(changes, actCall());
    await later.unpublish?.(changes, actCall());
    await later.close?.();
    expect(see()).toEqual(before);
  }
}
