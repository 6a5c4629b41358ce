import { readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Workspace } from '../../contracts/world.ts';
import { partsOf, placeIn, readFileAt, withinFolder, writeFileAt } from './confined.ts';
import { type Ran, type RunOptions, runProgram } from './run-program.ts';

/**
 * A working copy of a folder, restored between branches and discarded at the end. Paths are relative, with `/`, and
 * cannot leave it, neither by `..` nor by links.
 *
 * This confines paths, which a model writes, but not programs: a program has this user's permissions, and one that runs
 * while a path is resolved may replace a folder by a link.
 */
export interface Folder extends Workspace {
  /** The path of the folder. */
  readonly root: string;
  /** The text of a file. */
  read(path: string): Promise<string>;
  /** Writes a file, and the folders above it. */
  write(path: string, text: string): Promise<void>;
  /** Removes a file, or a folder with its contents. */
  remove(path: string): Promise<void>;
  /** All files, sorted; links are listed, not followed. */
  list(): Promise<readonly string[]>;
  /**
   * Runs a program in the folder, without a sandbox or a shell: the first text is the program, the others its
   * arguments. Everything it started is killed with it, on Linux in other sessions too; elsewhere only its process
   * group. Only a sandbox stops a process that leaves its session and changes the file-lock limit that marks it, or
   * that spawns others faster than they can be killed within two seconds, which the output reports. An exit code or a
   * timeout is a result, not an error.
   */
  run(command: readonly string[], options?: RunOptions): Promise<Ran>;
}

/** The operations on a folder. */
export type FolderActs = Pick<Folder, 'list' | 'read' | 'remove' | 'root' | 'run' | 'write'>;

/** The rules of a folder. */
export interface FolderRules {
  /** Names in it that paths cannot touch. */
  readonly hidden?: readonly string[];
  /** Paths in it that are not listed. */
  readonly unlisted?: readonly string[];
  /** Ends the programs that run in it. */
  readonly signal: AbortSignal;
  /** Wraps programs in a sandbox. */
  readonly wrap?: Wrap | undefined;
}

/** Wraps a command in a sandbox, given the folder that it must be able to write. */
export type Wrap = (command: readonly string[], folder: string) => readonly string[];

/** The operations on a folder. */
export function folderAt(
  root: string,
  { hidden = [], unlisted = [], wrap, signal: closed }: FolderRules,
): FolderActs {
  const withPath = async <Value>(
    path: string,
    act: (at: string) => Promise<Value>,
    last?: 'itself',
  ): Promise<Value> => {
    const [top = ''] = partsOf(path);
    if (hidden.includes(top.toLowerCase())) throw new Error(`\`${top}\` must not be touched.`);
    const at = await placeIn(root, path, last);
    // A link may lead into a hidden folder.
    for (const name of hidden) expectOutside(await placeIn(root, name), at);
    try {
      return await act(at);
    } catch (error) {
      throw withinFolder(error, { home: await realpath(root), path, at });
    }
  };
  return {
    root,
    read: (path) => withPath(path, async (at) => (await readFileAt(at)).toString()),
    write: (path, text) => withPath(path, (at) => writeFileAt(at, text)),
    // A link itself is removed, not its target.
    remove: (path) => withPath(path, (at) => rm(at, { recursive: true }), 'itself'),
    list: () => filesBelow(root, (path) => hidden.includes(path) || unlisted.includes(path)),
    run: async (command, options = {}) => {
      expectOptions('run', options, 'timeoutMs maxOutput env signal');
      expectInteger('timeoutMs', options.timeoutMs ?? 1, { min: 1 });
      expectInteger('maxOutput', options.maxOutput ?? 1, { min: 1 });
      const signal = AbortSignal.any([closed, ...(options.signal ? [options.signal] : [])]);
      return runProgram(wrap?.(command, root) ?? command, { ...options, signal, cwd: root });
    },
  };
}

function expectOutside(hidden: string, place: string): void {
  if (place === hidden || place.startsWith(`${hidden}/`)) {
    throw new Error('A link leads to a path that must not be touched.');
  }
}

/**
 * The files and links below a folder, sorted.
 *
 * @param folders - Collects the folders.
 * @throws Error for a name that is not UTF-8, because it could not be used to refer to the file.
 */
export async function filesBelow(
  root: string,
  isLeftOut: (path: string) => boolean,
  folders: string[] = [],
): Promise<readonly string[]> {
  const files: string[] = [];
  const look = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (isLeftOut(path)) continue;
      expectName(path);
      if (entry.isDirectory()) {
        folders.push(path);
        await look(path);
      } else if (entry.isFile() || entry.isSymbolicLink()) files.push(path);
    }
  };
  await look('');
  return files.sort();
}

/** @throws Error for a name that is not UTF-8 */
export function expectName(path: string): void {
  // The replacement character for each byte that cannot be decoded.
  if (!path.includes('\uFFFD')) return;
  throw new Error(`The name of \`${path}\` is not UTF-8. Give it another one.`);
}
