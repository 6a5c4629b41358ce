import { createHash } from 'node:crypto';
import { readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { readFileAt, statusOf, writeFileAt } from './confined.ts';
import { filesBelow } from './folder.ts';

/** A file or a link, by its content, as git knows them. */
export interface Entry {
  readonly mode: '100644' | '100755' | '120000';
  readonly hash: string;
}

/** How a path changes; `null` where there is nothing. */
export interface FileChange {
  readonly path: string;
  readonly before: Entry | null;
  readonly after: Entry | null;
}

/** Changes that are made in a folder of the user's, one path after the other. */
export interface Publishing {
  readonly root: string;
  readonly files: readonly FileChange[];
  /** Names the files that are moved into place: what a kill has left of them is known by it. */
  readonly key: string;
  /** What a path is to hold. */
  content(path: string, entry: Entry): Promise<Buffer>;
}

/** What file or link stands at a path; `undefined` where that is a device, or lies behind a link. */
export async function entryAt(
  root: string,
  path: string,
  algorithm = 'sha1',
): Promise<Entry | null | undefined> {
  const parts = path.split('/');
  for (let end = 1; end < parts.length; end++) {
    const above = await statusOf(join(root, ...parts.slice(0, end)));
    if (above === undefined) return null;
    if (!above.isDirectory()) return above.isFile() ? null : undefined;
  }
  const place = join(root, path);
  const status = await statusOf(place);
  if (status === undefined) return null;
  if (status.isSymbolicLink()) {
    return {
      mode: '120000',
      hash: hashOf(await readlink(place, { encoding: 'buffer' }), algorithm),
    };
  }
  if (status.isDirectory()) return null;
  if (!status.isFile()) return undefined;
  const mode = (status.mode & 0o100) === 0 ? '100644' : '100755';
  return { mode, hash: hashOf(await readFileAt(place), algorithm) };
}

/** The hash of a content as git makes it. */
function hashOf(content: Buffer, algorithm: string): string {
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Whether two paths hold the same. */
export function isSameEntry(one: Entry | null | undefined, other: Entry | null): boolean {
  if (one == null || other === null) return one === other;
  return one.mode === other.mode && one.hash === other.hash;
}

/** The paths that do not hold what they are to hold. */
export async function pathsUnlike(
  { root, files }: Pick<Publishing, 'files' | 'root'>,
  side: 'after' | 'before',
): Promise<readonly string[]> {
  const unlike: string[] = [];
  for (const change of files) {
    const there = await entryAt(root, change.path, algorithmOf(change));
    if (!isSameEntry(there, change[side])) unlike.push(change.path);
  }
  return unlike;
}

/** @throws EspalierError `stale` where the user has changed what would be changed, or put something in the way. */
export async function expectUntouched(
  publishing: Pick<Publishing, 'files' | 'root'>,
): Promise<void> {
  const touched = [
    ...(await pathsUnlike(publishing, 'before')),
    ...(await foldersInTheWay(publishing)),
  ];
  if (touched.length === 0) return;
  const named = touched.slice(0, 5).map((path) => `\`${path}\``);
  throw new EspalierError(
    'stale',
    `Files in \`${publishing.root}\` have changed since the search began: ${named.join(', ')}. Put them back as they were, or search again.`,
  );
}

/** Folders where files are to be, that hold what is not to be removed. */
async function foldersInTheWay({
  root,
  files,
}: Pick<Publishing, 'files' | 'root'>): Promise<readonly string[]> {
  const removed = new Set(files.filter(({ after }) => after === null).map(({ path }) => path));
  const found: string[] = [];
  for (const { path, after } of files) {
    if (after === null) continue;
    if ((await statusOf(join(root, path)))?.isDirectory() !== true) continue;
    const held = await filesBelow(join(root, path), () => false);
    if (held.some((name) => !removed.has(`${path}/${name}`))) found.push(path);
  }
  return found;
}

/** Makes all changes. */
export async function makeChanges(publishing: Publishing, signal: AbortSignal): Promise<void> {
  for (const { path, after } of removalsFirst(publishing.files, 'after')) {
    signal.throwIfAborted();
    await put(publishing, path, after);
  }
}

/** Takes back the changes that were made. What is neither as before nor as after is the user's, and stays. */
export async function takeBackChanges(publishing: Publishing): Promise<void> {
  const { root, files, key } = publishing;
  for (const { path } of files) {
    const aside = asideOf(join(root, path), key);
    // A folder above it may be a file now.
    if ((await statusOf(aside)) !== undefined) await rm(aside);
  }
  for (const change of removalsFirst(files, 'before')) {
    const there = await entryAt(root, change.path, algorithmOf(change));
    const isMade = isSameEntry(there, change.after) && !isSameEntry(there, change.before);
    if (isMade) await put(publishing, change.path, change.before);
  }
  for (const { path } of files) await removeEmpty(root, path);
}

/** In the order in which they can be made: a folder may stand where a file was, and the other way round. */
export function removalsFirst(
  files: readonly FileChange[],
  side: 'after' | 'before',
): readonly FileChange[] {
  return files.toSorted((one, other) => Number(one[side] !== null) - Number(other[side] !== null));
}

function algorithmOf({ before, after }: FileChange): string {
  return (before ?? after)?.hash.length === 64 ? 'sha256' : 'sha1';
}

function asideOf(place: string, key: string): string {
  return `${place}.espalier-${key}`;
}

async function put(
  { root, key, content }: Publishing,
  path: string,
  entry: Entry | null,
): Promise<void> {
  const place = join(root, path);
  if (entry === null) {
    await rm(place, { force: true });
    await removeEmpty(root, path);
    return;
  }
  const bytes = await content(path, entry);
  const aside = asideOf(place, key);
  if (entry.mode !== '120000') {
    await writeFileAt(place, bytes, { aside, mode: entry.mode === '100755' ? 0o755 : 0o644 });
    return;
  }
  await symlink(bytes, aside);
  await rename(aside, place);
}

/** Removes the folders above a path that hold nothing any more: git does not know of them. */
async function removeEmpty(root: string, path: string): Promise<void> {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    try {
      await rmdir(join(root, above));
    } catch {
      return;
    }
  }
}
