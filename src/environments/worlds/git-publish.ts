import { constants } from 'node:fs';
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { EspalierError } from '../../base/errors.ts';
import { isCode } from '../../base/with-storage-errors.ts';
import { type GitPlace, git, gitBytes, resolved } from './git.ts';
import {
  expectUntouched,
  type FileChange,
  isSameEntry,
  makeChanges,
  type Publishing,
  removalsFirst,
  takeBackChanges,
} from './publishing.ts';

/** A commit that is to be taken over by a repository, as it is written down before. */
export interface GitChanges {
  /** The repository. */
  readonly original: GitPlace;
  /** Its HEAD. */
  readonly base: string;
  /** The commit that is to be its HEAD. */
  readonly target: string;
  /** What differs. */
  readonly files: readonly FileChange[];
  /** The branch that it makes, in place of HEAD. */
  readonly branch?: string;
}

/**
 * Makes a commit the HEAD of a repository, with its files and its index. HEAD is moved last, in one piece: until then
 * {@link unpublishCommit} takes all back.
 */
export async function publishCommit(
  changes: GitChanges,
  clone: GitPlace,
  signal: AbortSignal,
): Promise<void> {
  const { original, base, target, files, branch } = changes;
  if (target === base || files.length === 0) return;
  const goal = branch === undefined ? 'HEAD' : `refs/heads/${branch}`;
  const there = await resolved(original, goal);
  if (there !== target) {
    if (there !== (branch === undefined ? base : undefined)) throw inTheWay(changes);
    if (branch === undefined) {
      await expectUntouched(publishingOf(changes));
      await expectIndex(changes);
    }
    signal.throwIfAborted();
    await fetchFrom(clone, changes);
    signal.throwIfAborted();
    if (branch === undefined) {
      await makeChanges(publishingOf(changes), signal);
      signal.throwIfAborted();
      await changeIndex(changes, 'after');
      signal.throwIfAborted();
    }
    const old = branch === undefined ? base : '0'.repeat(base.length);
    await git(original, ['update-ref', '-m', 'espalier', goal, target, old]);
    signal.throwIfAborted();
  }
  await git(original, ['update-ref', '-d', refOf(changes)]);
}

/** Takes back a commit that was published, or that was about to be; does nothing where that never began. */
export async function unpublishCommit(changes: GitChanges): Promise<void> {
  const { original, base, target, files, branch } = changes;
  // The objects come first: without them nothing else was done.
  if (files.length === 0 || (await resolved(original, `${target}^{commit}`)) === undefined) return;
  if (branch === undefined) {
    const head = await resolved(original, 'HEAD');
    if (head !== base && head !== target) throw movedOn(original, 'HEAD');
    if (head === target) {
      await git(original, ['update-ref', '-m', 'espalier: undo', 'HEAD', base, target]);
    }
    await takeBackChanges(publishingOf(changes));
    await changeIndex(changes, 'before');
  } else if ((await resolved(original, `refs/heads/${branch}`)) === target) {
    await git(original, ['update-ref', '-d', `refs/heads/${branch}`, target]);
  }
  await git(original, ['update-ref', '-d', refOf(changes)]);
}

function movedOn(original: GitPlace, goal: string): EspalierError {
  const message = `\`${goal}\` of \`${original.tree}\` has moved on since the search began. Move it back, or search again.`;
  return new EspalierError('stale', message);
}

function inTheWay({ original, branch }: GitChanges): EspalierError {
  if (branch === undefined) return movedOn(original, 'HEAD');
  const message = `\`${original.tree}\` has a branch \`${branch}\` already. Delete it, or name another one as \`branch\`.`;
  return new EspalierError('stale', message);
}

function keyOf({ target }: GitChanges): string {
  return target.slice(0, 16);
}

/** Keeps the objects from being cleared away. */
function refOf(changes: GitChanges): string {
  return `refs/espalier/${keyOf(changes)}`;
}

function publishingOf(changes: GitChanges): Publishing {
  const { original, files } = changes;
  return {
    ...{ root: original.tree, files, key: keyOf(changes) },
    content: (_, { hash }) => gitBytes(original, ['cat-file', 'blob', hash]),
  };
}

async function fetchFrom(clone: GitPlace, changes: GitChanges): Promise<void> {
  const ref = refOf(changes);
  await git(clone, ['update-ref', ref, changes.target]);
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
  await git(changes.original, ['fetch', ...options, '--', clone.tree, `${ref}:${ref}`]);
}

/** What the index holds of the paths that change. */
async function stagedOf({ original, files }: GitChanges): Promise<ReadonlyMap<string, string>> {
  const paths = new Set(files.map(({ path }) => path));
  const lines = (await git(original, ['ls-files', '--stage', '-z'])).split('\0');
  const entries = lines.map((line) => {
    const [told = '', path = ''] = line.split('\t');
    return [path, told] as const;
  });
  return new Map(entries.filter(([path]) => paths.has(path)));
}

function stagedAs(entry: FileChange['after']): string | undefined {
  return entry === null ? undefined : `${entry.mode} ${entry.hash} 0`;
}

async function expectIndex(changes: GitChanges): Promise<void> {
  const staged = await stagedOf(changes);
  const other = changes.files.find(({ path, before }) => staged.get(path) !== stagedAs(before));
  if (other === undefined) return;
  throw new EspalierError(
    'stale',
    `\`${other.path}\` has been staged since the search began. Unstage it, or search again.`,
  );
}

/** Changes the entries of the paths, and no other, in a copy of the index that is moved into its place. */
async function changeIndex(changes: GitChanges, side: 'after' | 'before'): Promise<void> {
  const { original, files } = changes;
  const index = await git(original, ['rev-parse', '--path-format=absolute', '--git-path', 'index']);
  const [lock, aside] = [`${index}.lock`, `${index}.espalier-${keyOf(changes)}`];
  const own = `espalier ${keyOf(changes)}`;
  if (side === 'before' && (await textAt(lock)) === own) await rm(lock);
  await rm(`${aside}.lock`, { force: true });
  await rm(aside, { force: true });
  const staged = await stagedOf(changes);
  const lines = removalsFirst(files, side)
    .filter(({ path, before, after }) => {
      const from = side === 'after' ? before : after;
      return !isSameEntry(before, after) && staged.get(path) === stagedAs(from);
    })
    .map((change) => {
      const entry = change[side];
      const told =
        entry === null ? `0 ${'0'.repeat(changes.base.length)}` : `${entry.mode} ${entry.hash}`;
      return `${told}\t${change.path}\0`;
    });
  if (lines.length === 0) return;
  try {
    await writeFile(lock, own, { flag: 'wx' });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    throw new Error(
      `Another git works in \`${original.tree}\`. Wait for it, or delete \`${lock}\`.`,
    );
  }
  try {
    await copyFile(index, aside, constants.COPYFILE_FICLONE);
    const options = { input: lines.join(''), env: { GIT_INDEX_FILE: aside } };
    await git(original, ['update-index', '-z', '--index-info'], options);
    await rename(aside, index);
  } finally {
    await rm(aside, { force: true });
    await rm(lock, { force: true });
  }
}

async function textAt(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
