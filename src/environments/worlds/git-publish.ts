import { constants } from 'node:fs';
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EspalierError } from '../../base/errors.ts';
import { isCode } from '../../base/with-storage-errors.ts';
import type { ActCall } from '../../contracts/world.ts';
import { type GitPlace, git, gitBytes, gitParts, resolved, toldOf } from './git.ts';
import { pathOf } from './git-copy.ts';
import { type GitChanges, setEntries } from './git-record.ts';
import {
  type Entry,
  expectUntouched,
  finish,
  foldersAbove,
  inTurn,
  isSameEntry,
  makeChanges,
  type Publishing,
  takeBackChanges,
} from './publishing.ts';

/**
 * Makes a commit the HEAD of a repository, with its files and its index, which is locked meanwhile. HEAD is moved last,
 * atomically: until then {@link unpublishCommit} can undo everything.
 *
 * @param from - The git folder that contains the commit.
 */
export async function publishCommit(
  changes: GitChanges,
  from: string,
  call: ActCall,
): Promise<void> {
  const { original, target, files, branch } = changes;
  const { signal } = call;
  if (files.length === 0) return;
  await inTurn(lockOf(original), call, async () => {
    const goal = branch === undefined ? 'HEAD' : `refs/heads/${branch}`;
    if ((await resolved(original, goal)) !== target) {
      if (branch !== undefined) {
        if ((await resolved(original, goal)) !== undefined) throw inTheWay(original, branch);
        await fetchFrom(from, changes, signal);
        await move(changes, goal, [target, '0'.repeat(target.length)]);
      } else {
        await withIndex(original, (index) => publishFiles(changes, from, { signal, index }));
      }
      signal.throwIfAborted();
    }
    await finish(publishingOf(changes));
    await git(original, ['update-ref', '-d', refOf(changes)]);
  });
}

async function publishFiles(
  changes: GitChanges,
  from: string,
  { signal, index }: { readonly signal: AbortSignal; readonly index: LockedIndex },
): Promise<void> {
  const { original, base, target } = changes;
  if ((await resolved(original, 'HEAD')) !== base) throw movedOn(original);
  await expectUntouched(publishingOf(changes));
  await expectIndex(changes);
  await fetchFrom(from, changes, signal);
  await makeChanges(publishingOf(changes), signal);
  signal.throwIfAborted();
  await changeIndex(changes, 'after', index);
  signal.throwIfAborted();
  try {
    await move(changes, 'HEAD', [target, base]);
  } catch (error) {
    throw (await resolved(original, 'HEAD')) === base ? error : movedOn(original);
  }
}

/** Undoes a commit that was published, or was about to be; does nothing if that never began. */
export async function unpublishCommit(changes: GitChanges, call: ActCall): Promise<void> {
  const { original, base, target, held, files, branch } = changes;
  if (files.length === 0) return;
  await inTurn(lockOf(original), call, async () => {
    await unlockIndex(original);
    // The objects are fetched first: without them, nothing else was done.
    if ((await resolved(original, `${held}^{commit}`)) === undefined) return;
    if (branch === undefined) {
      await withIndex(
        original,
        async (index) => {
          const head = await resolved(original, 'HEAD');
          if (head === target) await move(changes, 'HEAD', [base, target]);
          // Commits built on it keep it permanently.
          else if (await isBehind(original, target, head)) throw movedOn(original);
          await takeBackChanges(publishingOf(changes));
          await changeIndex(changes, 'before', index);
        },
        patience,
      );
    } else if ((await resolved(original, `refs/heads/${branch}`)) === target) {
      await git(original, ['update-ref', '-d', `refs/heads/${branch}`, target]);
    }
    await git(original, ['update-ref', '-d', refOf(changes)]);
  });
}

function lockOf({ directory }: GitPlace): string {
  return join(directory, 'espalier-lock');
}

async function move(
  { original }: GitChanges,
  name: string,
  [to, from]: readonly [string, string],
): Promise<void> {
  await git(original, ['update-ref', '-m', 'espalier', name, to, from]);
}

/** Whether a commit is an ancestor of another. */
async function isBehind(
  original: GitPlace,
  commit: string,
  head: string | undefined,
): Promise<boolean> {
  if (head === undefined) return false;
  const asked = git(original, ['merge-base', '--is-ancestor', commit, head]);
  return asked.then(
    () => true,
    () => false,
  );
}

function movedOn({ tree }: GitPlace): EspalierError {
  const message = `\`HEAD\` of \`${tree}\` has moved on since the search began. Move it back, or search again.`;
  return new EspalierError('stale', message);
}

function inTheWay({ tree }: GitPlace, branch: string): EspalierError {
  const message = `\`${tree}\` has a branch \`${branch}\` already. Delete it, or name another one as \`branch\`.`;
  return new EspalierError('stale', message);
}

/** The ref that keeps the objects from being garbage-collected. */
function refOf({ held }: GitChanges): string {
  return `refs/espalier/${held.slice(0, 16)}`;
}

function publishingOf({ original, held, files }: GitChanges): Publishing {
  const content = (_: string, { hash }: Entry) => gitBytes(original, ['cat-file', 'blob', hash]);
  const pathsWithout = (side: 'after' | 'before') =>
    files.filter((change) => change[side] === null).map(({ path }) => path);
  // Git does not record folders: they come and go with their files.
  const folders = {
    made: foldersAbove(pathsWithout('before')),
    gone: foldersAbove(pathsWithout('after')),
  };
  return {
    ...{ root: original.tree, files, folders, key: held.slice(0, 16), isExact: false },
    ...{ content, earlier: content },
  };
}

async function fetchFrom(from: string, changes: GitChanges, signal: AbortSignal): Promise<void> {
  const { original, held } = changes;
  signal.throwIfAborted();
  const ref = refOf(changes);
  await git({ tree: from, directory: from, isOwn: true }, ['update-ref', ref, held]);
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
  await git(original, ['fetch', ...options, '--', from, `${ref}:${ref}`]);
  signal.throwIfAborted();
}

/** The index entries of the paths that change. */
async function stagedOf({ original, entries }: GitChanges): Promise<ReadonlyMap<string, string>> {
  const paths = new Set(entries.map(({ path }) => path));
  const lines = (await gitParts(original, ['ls-files', '--stage', '-z'])).map(toldOf);
  return new Map(lines.filter(({ path }) => paths.has(path)).map(({ path, told }) => [path, told]));
}

function stagedAs(entry: Entry | null): string | undefined {
  return entry === null ? undefined : `${entry.mode} ${entry.hash} 0`;
}

async function expectIndex(changes: GitChanges): Promise<void> {
  const staged = await stagedOf(changes);
  const other = changes.entries.find(({ path, before }) => staged.get(path) !== stagedAs(before));
  if (other === undefined) return;
  throw new EspalierError(
    'stale',
    `\`${other.path}\` has been staged since the search began. Unstage it, or search again.`,
  );
}

/** An index locked against other changes, and the path of its working copy. */
interface LockedIndex {
  readonly index: string;
  readonly aside: string;
}

/** How long other git commands may hold the index while changes must be undone, in milliseconds. */
const patience = 10_000;

/** Distinguishes our locks from those of git. */
const ownLock = 'espalier';

/** Removes the locks left by a kill. The caller holds the lock of all publishers. */
async function unlockIndex(original: GitPlace): Promise<void> {
  const lock = `${await pathOf(original, 'index')}.lock`;
  const text = await readFile(lock, 'utf8').catch(() => '');
  if (text.startsWith(ownLock)) await rm(lock);
}

/** Keeps other git commands from changing the index, by git's own lock. */
async function withIndex(
  original: GitPlace,
  act: (index: LockedIndex) => Promise<void>,
  patienceMs = 0,
): Promise<void> {
  await unlockIndex(original);
  const index = await pathOf(original, 'index');
  const [lock, aside] = [`${index}.lock`, `${index}.espalier`];
  await rm(`${aside}.lock`, { force: true });
  await rm(aside, { force: true });
  for (let waited = 0; ; waited += 20) {
    try {
      await writeFile(lock, ownLock, { flag: 'wx' });
      break;
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
      if (waited < patienceMs) await wait(20);
      else {
        const message = `Another git process is working in \`${original.tree}\`. Wait for it, or delete \`${lock}\`.`;
        throw new Error(message);
      }
    }
  }
  try {
    await act({ index, aside });
  } finally {
    await rm(aside, { force: true });
    await rm(lock, { force: true });
  }
}

/** Changes the entries of these paths in a copy of the index, which is then moved into place. */
async function changeIndex(
  changes: GitChanges,
  side: 'after' | 'before',
  { index, aside }: LockedIndex,
): Promise<void> {
  const { original, entries } = changes;
  const staged = await stagedOf(changes);
  const due = entries.filter(({ path, before, after }) => {
    const from = side === 'after' ? before : after;
    return !isSameEntry(before, after) && staged.get(path) === stagedAs(from);
  });
  if (due.length === 0) return;
  await copyFile(index, aside, constants.COPYFILE_FICLONE);
  await setEntries(original, due, { side, env: { GIT_INDEX_FILE: aside } });
  await rename(aside, index);
}
