import { constants } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import { EspalierError } from '../../base/errors.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ActCall } from '../../contracts/world.ts';
import { readFileAt, statusOf } from './confined.ts';
import { type Folder, filesBelow, folderAt } from './folder.ts';
import { temporaryFolder } from './leftovers.ts';
import {
  type Entry,
  entryAt,
  expectUntouched,
  type FileChange,
  isSameEntry,
  makeChanges,
  type Publishing,
  pathsUnlike,
  takeBackChanges,
} from './publishing.ts';

/** A folder that is searched in copies. */
export interface FileSystemOptions {
  /** The folder. Nothing is written to it before a commit. */
  readonly root: string;
  /** What is not copied: names at any depth, such as `node_modules`, or paths below the folder. @defaultValue none */
  readonly ignore?: readonly string[];
  /** Puts a sandbox around programs, such as bubblewrap or a container. @defaultValue none: they run as this user */
  readonly wrap?: (command: readonly string[]) => readonly string[];
}

/** The changes of a copy, as they are written down before they are published. */
interface Changes {
  readonly root: string;
  readonly files: readonly FileChange[];
}

/**
 * Opens copies of a folder, which share their blocks with it until they are written, where the file system can.
 *
 * A commit makes the folder as the copy is: only where its files are as they were when the copy was made, and wholly or
 * not at all, after a `recover` that follows a kill.
 */
export function fileSystem(options: FileSystemOptions): () => Promise<Folder> {
  expectOptions('fileSystem', options, 'root ignore wrap');
  const { root, ignore = [], wrap } = options;
  const isLeftOut = (path: string) => ignore.includes(path) || ignore.includes(basename(path));
  return async () => {
    const original = await realpath(root).catch(() => missing(root));
    if ((await statusOf(original))?.isDirectory() !== true) missing(root);
    const folder = await temporaryFolder();
    const [files, base] = [join(folder, 'files'), join(folder, 'base')];
    await copy(original, base, isLeftOut);
    await copy(base, files);
    const manifest = await manifestOf(base, isLeftOut);
    return folderWorld({ original, folder, files, base, manifest, isLeftOut, wrap });
  };
}

function missing(root: string): never {
  throw new EspalierError(
    'usage',
    `There is no folder \`${root}\`. Name one that is there as \`root\`.`,
  );
}

type Manifest = ReadonlyMap<string, Entry>;

interface Copied {
  readonly wrap: FileSystemOptions['wrap'] | undefined;
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
    fingerprint: async () =>
      contentAddress(canonicalJson('files', [...(await manifestOf(files, isLeftOut))] as unknown)),
    changes: async (): Promise<JsonValue> => {
      const now = await manifestOf(files, isLeftOut);
      const paths = [...new Set([...manifest.keys(), ...now.keys()])].sort();
      const changed = paths
        .map((path) => ({
          path,
          before: manifest.get(path) ?? null,
          after: now.get(path) ?? null,
        }))
        .filter(({ before, after }) => !isSameEntry(before, after));
      return { root: original, files: changed as unknown as JsonValue };
    },
    publish: (changes, call) => publish(changes as unknown as Changes, files, call),
    unpublish: (changes) => unpublish(changes as unknown as Changes),
    async close() {
      closed.abort(new Error('The folder was closed.'));
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Where the old files are kept while new ones are put in their places. No process owns it: it outlives a kill. */
function storeOf(changes: Changes): string {
  return join(tmpdir(), `espalier-publish-${keyOf(changes)}`);
}

function keyOf({ root, files }: Changes): string {
  return contentAddress(canonicalJson('changes', { root, files })).slice(0, 16);
}

async function publish(changes: Changes, copied: string, { signal }: ActCall): Promise<void> {
  const store = storeOf(changes);
  const publishing: Publishing = {
    ...changes,
    key: keyOf(changes),
    content: (path, { mode }) => contentAt(copied, path, mode),
  };
  // A kill came between its end and the word of it.
  if ((await pathsUnlike(changes, 'after')).length > 0) {
    await expectUntouched(changes);
    signal.throwIfAborted();
    const made = await mkdtemp(`${store}-`);
    for (const { path, before } of changes.files) {
      if (before === null) continue;
      signal.throwIfAborted();
      await writeFile(join(made, before.hash), await contentAt(changes.root, path, before.mode));
    }
    await rename(made, store);
    signal.throwIfAborted();
    await makeChanges(publishing, signal);
    signal.throwIfAborted();
  }
  await rm(store, { recursive: true, force: true });
}

async function unpublish(changes: Changes): Promise<void> {
  const store = storeOf(changes);
  for (const name of await readdir(tmpdir())) {
    const half = join(tmpdir(), name);
    if (half.startsWith(`${store}-`)) await rm(half, { recursive: true, force: true });
  }
  // It never began, or it is done.
  if ((await statusOf(store)) === undefined) return;
  const content = (_: string, { hash }: Entry) => readFile(join(store, hash));
  await takeBackChanges({ ...changes, key: keyOf(changes), content });
  await rm(store, { recursive: true, force: true });
}

async function contentAt(root: string, path: string, mode: Entry['mode']): Promise<Buffer> {
  if (mode !== '120000') return readFileAt(join(root, path));
  return readlink(join(root, path), { encoding: 'buffer' });
}

async function manifestOf(root: string, isLeftOut: (path: string) => boolean): Promise<Manifest> {
  const manifest = new Map<string, Entry>();
  for (const path of await filesBelow(root, isLeftOut)) {
    const entry = await entryAt(root, path, 'sha256');
    if (entry != null) manifest.set(path, entry);
  }
  return manifest;
}

/** Copies a folder; on write where the file system can. */
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
      // Pipes and devices are nothing to be copied.
      const status = await statusOf(source);
      return (
        status?.isFile() === true ||
        status?.isDirectory() === true ||
        status?.isSymbolicLink() === true
      );
    },
  });
}
