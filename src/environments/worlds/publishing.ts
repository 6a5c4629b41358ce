import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  chmod,
  link,
  mkdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EspalierError } from '../../base/errors.ts';
import { takeLock } from '../../base/lock.ts';
import { isCode } from '../../base/with-storage-errors.ts';
import type { ActCall } from '../../contracts/world.ts';
import { readFileAt, statusOf } from './confined.ts';
import { filesBelow } from './folder.ts';

/** A file or a link, by its content and its mode in git's notation: `100644`, or `120000` for links. */
export interface Entry {
  readonly mode: string;
  readonly hash: string;
}

/** The change of a path; `null` if there is no file. */
export interface FileChange {
  readonly path: string;
  readonly before: Entry | null;
  readonly after: Entry | null;
}

/** Folders that are created and removed, parents first. A folder that is not empty stays. */
export interface FolderChanges {
  readonly made: readonly string[];
  readonly gone: readonly string[];
}

/** Changes to publish in a folder of the user, one path after another. */
export interface Publishing {
  readonly root: string;
  readonly files: readonly FileChange[];
  readonly folders: FolderChanges;
  /** Names the folder that keeps the old files until everything is published. */
  readonly key: string;
  /** Whether modes are exact: git only records whether a file is executable. */
  readonly isExact: boolean;
  /** The new content of a path. */
  content(path: string, entry: Entry): Promise<Buffer>;
  /** The old content of a path, if it is also available elsewhere. */
  earlier?(path: string, entry: Entry): Promise<Buffer>;
}

/** Changes that were published, or were about to be: nothing new is written. */
export type Published = Omit<Publishing, 'content'>;

/** The prefix of our names in the folders of users. */
export const ownName = '.espalier-';

/** Lets one process at a time publish. @throws EspalierError `locked` if that takes too long. */
export async function inTurn<Result>(
  lock: string,
  { signal }: ActCall,
  act: () => Promise<Result>,
): Promise<Result> {
  const release = await free(lock, signal);
  try {
    return await act();
  } finally {
    release();
  }
}

async function free(lock: string, signal: AbortSignal): Promise<() => void> {
  for (let tries = 0; ; tries++) {
    try {
      return takeLock(lock);
    } catch (error) {
      const isLocked = EspalierError.isInstance(error) && error.code === 'locked';
      if (!isLocked || signal.aborted || tries === 600) throw error;
      await wait(50);
    }
  }
}

/** The file or link at a path; `undefined` if it is a device, or behind a link. */
export async function entryAt(
  root: string,
  path: string,
  { algorithm, isExact }: { readonly algorithm: string; readonly isExact: boolean },
): Promise<Entry | null | undefined> {
  const parts = path.split('/');
  for (let end = 1; end < parts.length; end++) {
    const above = await statusOf(join(root, ...parts.slice(0, end)));
    if (above === undefined) return null;
    if (!above.isDirectory()) return above.isFile() ? null : undefined;
  }
  const place = join(root, path);
  const status = await statusOf(place);
  if (status === undefined || status.isDirectory()) return null;
  if (status.isSymbolicLink()) {
    const hash = hashOf(await readlink(place, { encoding: 'buffer' }), algorithm);
    return { mode: '120000', hash };
  }
  if (!status.isFile()) return undefined;
  const plain = (status.mode & 0o100) === 0 ? 0o644 : 0o755;
  const mode = `100${(isExact ? status.mode & 0o777 : plain).toString(8).padStart(3, '0')}`;
  return { mode, hash: hashOf(await readFileAt(place), algorithm) };
}

/** The hash of a content as computed by git. */
function hashOf(content: Buffer, algorithm: string): string {
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Whether two entries have the same content. */
export function isSameEntry(one: Entry | null | undefined, other: Entry | null): boolean {
  if (one == null || other === null) return one === other;
  return one.mode === other.mode && one.hash === other.hash;
}

type Checked = Pick<Publishing, 'files' | 'isExact' | 'root'>;

function entryOf(
  { root, isExact }: Omit<Checked, 'files'>,
  { path, before, after }: FileChange,
  at = path,
): Promise<Entry | null | undefined> {
  const algorithm = (before ?? after)?.hash.length === 64 ? 'sha256' : 'sha1';
  return entryAt(root, at, { algorithm, isExact });
}

/** The paths that do not have their intended content. */
export async function pathsUnlike(
  publishing: Checked,
  side: 'after' | 'before',
): Promise<readonly string[]> {
  const unlike: string[] = [];
  for (const change of publishing.files) {
    const there = await entryOf(publishing, change);
    if (!isSameEntry(there, change[side])) unlike.push(change.path);
  }
  return unlike;
}

/** @throws EspalierError `stale` if the user has changed a file that would be changed, or put something in the way. */
export async function expectUntouched(publishing: Checked): Promise<void> {
  const touched = [
    ...(await pathsUnlike(publishing, 'before')),
    ...(await foldersInTheWay(publishing)),
  ];
  if (touched.length > 0) throw touchedBy(publishing, touched);
}

function touchedBy({ root }: Pick<Checked, 'root'>, paths: readonly string[]): EspalierError {
  const named = paths.slice(0, 5).map((path) => `\`${path}\``);
  return new EspalierError(
    'stale',
    `Files in \`${root}\` have changed since the search began: ${named.join(', ')}. Restore them, or search again.`,
  );
}

/** Folders in the place of new files that contain something that must not be removed. */
async function foldersInTheWay({ root, files }: Checked): Promise<readonly string[]> {
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

/** The folder for old files, and for new ones before they are moved into place: on the same disk as their places. */
export function storeOf({ root, key }: Pick<Publishing, 'key' | 'root'>): string {
  return join(root, `${ownName}${key}`);
}

/**
 * Makes all changes. An old file is moved aside and checked there, so that no concurrent change by its user is lost.
 *
 * @throws EspalierError `stale` if the user has changed something meanwhile.
 */
export async function makeChanges(publishing: Publishing, signal: AbortSignal): Promise<void> {
  const { files, folders, root } = publishing;
  const store = storeOf(publishing);
  await rm(store, { recursive: true, force: true });
  await mkdir(store);
  // The slow part comes first.
  for (const [index, { path, after }] of files.entries()) {
    if (after === null) continue;
    signal.throwIfAborted();
    const like = await statusOf(join(root, path));
    const bytes = await publishing.content(path, after);
    await writeEntry(join(store, `${index}.new`), bytes, { ...publishing, entry: after, like });
  }
  for (const [index, change] of files.entries()) {
    signal.throwIfAborted();
    if (change.after === null) await moveAside(publishing, change, index);
  }
  await removeFolders(root, folders.gone);
  for (const path of folders.made) await mkdir(join(root, path), { recursive: true });
  for (const [index, change] of files.entries()) {
    if (change.after === null) continue;
    signal.throwIfAborted();
    await moveAside(publishing, change, index);
    signal.throwIfAborted();
    await moveIn(publishing, change, index);
  }
}

async function moveAside(publishing: Publishing, change: FileChange, index: number): Promise<void> {
  if (change.before === null) return;
  const { root, isExact } = publishing;
  const [place, store] = [join(root, change.path), storeOf(publishing)];
  const old = join(store, `${index}.old`);
  try {
    await rename(place, old);
  } catch (error) {
    throw isCode(error, 'ENOENT') ? touchedBy(publishing, [change.path]) : error;
  }
  const held = await entryOf({ root: store, isExact }, change, `${index}.old`);
  if (isSameEntry(held, change.before)) return;
  if ((await statusOf(place)) === undefined) await rename(old, place);
  throw touchedBy(publishing, [change.path]);
}

/** Moves a file into place without replacing another one. */
async function moveIn(publishing: Publishing, change: FileChange, index: number): Promise<void> {
  const place = join(publishing.root, change.path);
  const made = join(storeOf(publishing), `${index}.new`);
  try {
    if (change.after?.mode === '120000') {
      await symlink(await readlink(made, { encoding: 'buffer' }), place);
    } else await linkOrMove(made, place);
    await rm(made, { force: true });
  } catch (error) {
    throw isCode(error, 'EEXIST') ? touchedBy(publishing, [change.path]) : error;
  }
}

/** If a file system has no hard links, the place is checked but may be taken meanwhile. */
async function linkOrMove(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!['EPERM', 'ENOSYS', 'ENOTSUP'].some((code) => isCode(error, code))) throw error;
    await rename(from, to);
  }
}

/** Removes the old files, because everything is published or undone. */
export async function finish(publishing: Pick<Publishing, 'key' | 'root'>): Promise<void> {
  const store = storeOf(publishing);
  const done = `${store}.done`;
  try {
    // Renamed in one step: if only some were removed, the others would look lost.
    await rename(store, done);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
  await rm(done, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * Undoes the changes that were made. A path in neither its old nor its new state belongs to the user, and is left
 * alone.
 *
 * @throws Error that names the files that cannot be restored; all others are.
 */
export async function takeBackChanges(publishing: Published): Promise<void> {
  const { root, files, folders } = publishing;
  const lost: string[] = [];
  const due: { readonly index: number; readonly like: Stats | undefined }[] = [];
  for (const [index, change] of files.entries()) {
    const state = await stateOf(publishing, change, index);
    if (state === 'lost') lost.push(change.path);
    if (state !== 'made') continue;
    const like = await statusOf(join(root, change.path));
    if (like?.isDirectory() === false) await rm(join(root, change.path));
    if (change.before !== null) due.push({ index, like });
  }
  await removeFolders(root, folders.made);
  // The user may have put a file there.
  for (const path of folders.gone)
    await mkdir(join(root, path), { recursive: true }).catch(() => {});
  for (const { index, like } of due) await putBack(publishing, index, like);
  if (lost.length === 0) return finish(publishing);
  const named = lost.slice(0, 5).map((path) => `\`${path}\``);
  throw new Error(
    `A commit was interrupted in \`${root}\`, and its old files in \`${storeOf(publishing)}\` are gone: ${named.join(', ')}. Restore them manually.`,
  );
}

/** Whether a change was made, completely or partly, and whether the old content is still available. */
async function stateOf(
  publishing: Published,
  change: FileChange,
  index: number,
): Promise<'lost' | 'made' | 'other'> {
  const { before, after } = change;
  const there = await entryOf(publishing, change);
  const isKept = (await statusOf(join(storeOf(publishing), `${index}.old`))) !== undefined;
  const isMade = isSameEntry(there, after) && !isSameEntry(there, before);
  // It was moved aside, and nothing has replaced it. If it is missing there too, its user has removed it.
  const isGone = (await statusOf(storeOf(publishing))) === undefined;
  const isMissing = there === null && before !== null && (isKept || isGone);
  if (!isMade && !isMissing) return 'other';
  return before === null || isKept || publishing.earlier !== undefined ? 'made' : 'lost';
}

async function putBack(
  publishing: Published,
  index: number,
  like: Stats | undefined,
): Promise<void> {
  const { root, files, earlier } = publishing;
  const { path = '', before = null } = files[index] ?? {};
  const [place, old] = [join(root, path), join(storeOf(publishing), `${index}.old`)];
  if ((await statusOf(old)) !== undefined) {
    await mkdir(dirname(place), { recursive: true });
    await rename(old, place);
  } else if (before !== null && earlier !== undefined) {
    const bytes = await earlier(path, before);
    await mkdir(dirname(place), { recursive: true });
    await writeEntry(place, bytes, { ...publishing, entry: before, like });
  }
}

async function writeEntry(
  place: string,
  bytes: Buffer,
  {
    entry: { mode },
    isExact,
    like,
  }: Pick<Publishing, 'isExact'> & { readonly entry: Entry; readonly like: Stats | undefined },
): Promise<void> {
  if (mode === '120000') return symlink(bytes, place);
  const told = Number.parseInt(mode.slice(-3), 8);
  const canRun = (told & 0o100) !== 0;
  await writeFile(place, bytes, { flag: 'wx', mode: canRun ? 0o777 : 0o666 });
  if (isExact) await chmod(place, told);
  else if (like?.isFile() === true) {
    const all = like.mode & 0o777;
    await chmod(place, canRun ? all | ((all & 0o444) >> 2) : all & ~0o111);
  }
}

/** Removes folders that are empty. */
async function removeFolders(root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths.toReversed()) await rmdir(join(root, path)).catch(() => {});
}

/** The parent folders of paths, topmost first. */
export function foldersAbove(paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    for (let above = dirname(path); above !== '.'; above = dirname(above)) found.add(above);
  }
  return [...found].sort();
}
