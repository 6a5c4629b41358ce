import { constants } from 'node:fs';
import { cp, mkdir, readdir, readlink, realpath, rm } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import { EspalierError } from '../../base/errors.ts';
import { expectation, expectText, expectTexts } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall } from '../../contracts/world.ts';
import { partsOf, readFileAt, statusOf } from './confined.ts';
import { type Folder, filesBelow, folderAt, type Wrap } from './folder.ts';
import { temporaryFolder } from './leftovers.ts';
import {
  type Entry,
  entryAt,
  expectUntouched,
  type FileChange,
  type FolderChanges,
  finish,
  inTurn,
  isSameEntry,
  makeChanges,
  ownName,
  type Published,
  type Publishing,
  pathsUnlike,
  storeOf,
  takeBackChanges,
} from './publishing.ts';

/** Options of {@link fileSystem}. */
export interface FileSystemOptions {
  /** The folder. Nothing is written to it before a commit. */
  readonly root: string;
  /** Paths not copied: names at any depth, such as `node_modules`, or paths below the folder. @defaultValue none */
  readonly ignore?: readonly string[];
  /**
   * Wraps the commands of programs in a sandbox, such as bubblewrap or a container, given the folder they must be able
   * to write.
   *
   * @defaultValue none: programs run as this user
   */
  readonly wrap?: (command: readonly string[], folder: string) => readonly string[];
}

/** The changes of a copy, as recorded before they are published. */
interface Changes {
  readonly root: string;
  readonly files: readonly FileChange[];
  readonly folders: FolderChanges;
}

/**
 * Opens copies of a folder, copy-on-write if the file system supports it.
 *
 * A commit makes the folder equal to the copy, provided that its files are unchanged since the copy was made. It is all
 * or nothing, after a `recover` if there was a kill.
 */
export function fileSystem(options: FileSystemOptions): () => Promise<Folder> {
  expectOptions('fileSystem', options, 'root ignore wrap');
  const { root, ignore = [], wrap } = options;
  expectText('root', root);
  const ignored = ignoredPaths(ignore);
  const isLeftOut = (path: string) =>
    path.startsWith(ownName) || ignored.has(path) || ignored.has(basename(path));
  return async () => {
    const original = await realpath(root).catch(() => missing(root));
    if ((await statusOf(original))?.isDirectory() !== true) missing(root);
    // Uncopyable files are found before anything is copied.
    await filesBelow(original, isLeftOut);
    const folder = await temporaryFolder();
    const [files, base] = [join(folder, 'files'), join(folder, 'base')];
    await copy(original, base, isLeftOut);
    await copy(base, files);
    const manifest = await manifestOf(base, isLeftOut);
    return folderWorld({ original, folder, files, base, manifest, isLeftOut, wrap });
  };
}

/** The ignored names and paths, without `./` before and `/` behind them. */
function ignoredPaths(ignore: readonly string[]): ReadonlySet<string> {
  expectTexts('ignore', ignore);
  const paths = ignore.map((path, index) => {
    try {
      return partsOf(path.replace(/^(\.\/+)+|\/+$/g, '')).join('/');
    } catch {
      const wanted = 'a name or a path below the folder, such as `node_modules` or `data/raw`';
      throw expectation(`ignore[${index}]`, wanted, path);
    }
  });
  return new Set(paths);
}

function missing(root: string): never {
  throw new EspalierError(
    'usage',
    `There is no folder \`${root}\`. Give an existing folder as \`root\`.`,
  );
}

interface Manifest {
  readonly files: ReadonlyMap<string, Entry>;
  readonly folders: readonly string[];
}

function addressOf({ files, folders }: Manifest): string {
  return contentAddress(canonicalJson('files', [[...files], folders] as unknown));
}

interface Copied {
  readonly wrap: Wrap | undefined;
  readonly original: string;
  readonly folder: string;
  readonly files: string;
  readonly base: string;
  readonly manifest: Manifest;
  isLeftOut(path: string): boolean;
}

function folderWorld(copied: Copied): Folder {
  const { original, folder, files, base, manifest, isLeftOut, wrap } = copied;
  const closed = new AbortController();
  const refused = new Set<string>();
  let count = 0;
  const bringTo = async (source: string): Promise<void> => {
    for (const name of await readdir(files)) {
      await rm(join(files, name), { recursive: true, force: true, maxRetries: 3 });
    }
    await copy(source, files);
  };
  return {
    ...folderAt(files, { signal: closed.signal, ...(wrap && { wrap }) }),
    reset: () => bringTo(base),
    async snapshot() {
      const name = `kept-${++count}`;
      await copy(files, join(folder, name));
      return name;
    },
    restore: (kept) => bringTo(join(folder, String(kept))),
    forget: (kept) => rm(join(folder, String(kept)), { recursive: true, force: true }),
    fingerprint: async () => addressOf(await manifestOf(files, isLeftOut)),
    original: () => `${original} ${addressOf(manifest)}`,
    async changes() {
      const now = await manifestOf(files, isLeftOut);
      const changes = changesBetween(original, manifest, now);
      const { made, gone } = changes.folders;
      const isEmpty = [...changes.files, ...made, ...gone].length === 0;
      return isEmpty ? undefined : (changes as unknown as JsonValue);
    },
    diff: (changes) => diffOf(changes as unknown as Changes, { base, files }),
    publish: (changes, call) => publish(changes as unknown as Changes, { files, refused }, call),
    unpublish: (changes, call) => unpublish(changes as unknown as Changes, refused, call),
    async close() {
      closed.abort(new Error('The folder was closed.'));
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function changesBetween(root: string, base: Manifest, now: Manifest): Changes {
  const paths = [...new Set([...base.files.keys(), ...now.files.keys()])].sort();
  const files = paths
    .map((path) => ({
      path,
      before: base.files.get(path) ?? null,
      after: now.files.get(path) ?? null,
    }))
    .filter(({ before, after }) => !isSameEntry(before, after));
  const made = now.folders.filter((path) => !base.folders.includes(path));
  const gone = base.folders.filter((path) => !now.folders.includes(path));
  return { root, files, folders: { made, gone } };
}

/** The added, modified and deleted files, one per line, with sizes and modes: the folder need not use `git`. */
async function diffOf(
  { files: changed, folders }: Changes,
  { base, files }: Pick<Copied, 'base' | 'files'>,
): Promise<string> {
  const lines = await Promise.all(
    changed.map(async ({ path, before, after }) => {
      const was = before && (await told(base, path, before));
      const is = after && (await told(files, path, after));
      const letter = was === null ? 'A' : is === null ? 'D' : 'M';
      return `${letter} ${oneLine(path)} (${[was, is].filter((what) => what !== null).join(' → ')})\n`;
    }),
  );
  const ofFolders = [
    ...folders.made.map((path) => `A ${oneLine(path)}/\n`),
    ...folders.gone.map((path) => `D ${oneLine(path)}/\n`),
  ];
  return [...lines, ...ofFolders].join('');
}

async function told(root: string, path: string, { mode }: Entry): Promise<string> {
  if (mode === '120000') return `link to ${oneLine(await readlink(join(root, path)))}`;
  return `${(await statusOf(join(root, path)))?.size ?? 0} bytes, mode ${mode.slice(-3)}`;
}

/** A name may contain line breaks, and must not look like another line or another name. */
function oneLine(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function publishingOf(changes: Changes): Published {
  const key = contentAddress(canonicalJson('changes', { ...changes })).slice(0, 16);
  return { ...changes, key, isExact: true };
}

function lockOf({ root }: Changes): string {
  return join(root, `${ownName}lock`);
}

async function publish(
  changes: Changes,
  { files, refused }: { readonly files: string; readonly refused: Set<string> },
  call: ActCall,
): Promise<void> {
  const publishing: Publishing = {
    ...publishingOf(changes),
    content: (path, { mode }) => contentAt(files, path, mode),
  };
  refused.add(publishing.key);
  await inTurn(lockOf(changes), call, async () => {
    if (await isPublished(publishing)) return finish(publishing);
    await expectUntouched(publishing);
    refused.delete(publishing.key);
    await makeChanges(publishing, call.signal);
    call.signal.throwIfAborted();
    await finish(publishing);
  });
}

/** A kill may have come between the end of publishing and its record. */
async function isPublished(publishing: Published): Promise<boolean> {
  const { root, folders } = publishing;
  for (const path of folders.made) {
    if ((await statusOf(join(root, path)))?.isDirectory() !== true) return false;
  }
  const gone = await Promise.all(folders.gone.map((path) => statusOf(join(root, path))));
  const isLeft = gone.some((status) => status?.isDirectory() === true);
  return (
    (await pathsUnlike(publishing, 'after')).length === 0 &&
    (publishing.files.length > 0 || !isLeft)
  );
}

/** @param refused - Whether publishing never began: others may have made the same changes since. */
async function unpublish(
  changes: Changes,
  refused: ReadonlySet<string>,
  call: ActCall,
): Promise<void> {
  const publishing = publishingOf(changes);
  if (refused.has(publishing.key)) return;
  await inTurn(lockOf(changes), call, async () => {
    // Without old files, publishing never began, or it is complete, or they are lost.
    const isBegun = (await statusOf(storeOf(publishing))) !== undefined;
    if (!isBegun && (await isPublished(publishing))) return finish(publishing);
    await takeBackChanges(publishing);
  });
}

async function contentAt(root: string, path: string, mode: Entry['mode']): Promise<Buffer> {
  if (mode !== '120000') return readFileAt(join(root, path));
  return readlink(join(root, path), { encoding: 'buffer' });
}

async function manifestOf(root: string, isLeftOut: (path: string) => boolean): Promise<Manifest> {
  const files = new Map<string, Entry>();
  const folders: string[] = [];
  for (const path of await filesBelow(root, isLeftOut, folders)) {
    const entry = await entryAt(root, path, { algorithm: 'sha256', isExact: true });
    if (entry != null) files.set(path, entry);
  }
  return { files, folders: folders.sort() };
}

/** Copies a folder, copy-on-write if the file system supports it. */
async function copy(
  from: string,
  to: string,
  isLeftOut: (path: string) => boolean = () => false,
): Promise<void> {
  await mkdir(to, { recursive: true });
  await cp(from, to, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    async filter(source) {
      const path = relative(from, source).split(sep).join('/');
      if (path !== '' && isLeftOut(path)) return false;
      // Pipes and devices cannot be copied.
      const status = await statusOf(source);
      return (
        status?.isFile() === true ||
        status?.isDirectory() === true ||
        status?.isSymbolicLink() === true
      );
    },
  });
}
