import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { messageOf, sentenceOf } from '../../base/failure.ts';
import type { Workspace } from '../../contracts/world.ts';
import { partsOf, placeIn, readFileAt, writeFileAt } from './confined.ts';
import { type Ran, type RunOptions, runProgram } from './run-program.ts';

/**
 * A folder of files that is worked in: a copy, which is brought back and thrown away. Paths are relative, with `/`, and
 * cannot leave it, not by `..` and not by links.
 *
 * That holds for paths, which a model writes, and not for programs: a program may do whatever this user may, and one
 * that runs while a path is looked at may put a link where a folder was.
 */
export interface Folder extends Workspace {
  /** Where it is. */
  readonly root: string;
  /** The text of a file. */
  read(path: string): Promise<string>;
  /** Writes a file, and the folders above it. */
  write(path: string, text: string): Promise<void>;
  /** Removes a file, or a folder with all that is in it. */
  remove(path: string): Promise<void>;
  /** All files, sorted; links are told, and not followed. */
  list(): Promise<readonly string[]>;
  /**
   * Runs a program in the folder, in no sandbox and in no shell: the first text is the program, the others are what it is
   * told. Whatever it has started ends with it, on Linux in another session too; elsewhere only its process group. What
   * leaves its session and changes its limit of file locks, by which it is known, is held by a sandbox alone; so is what
   * cannot be ended within two seconds, since it starts others faster, which the output says. What it exits with is a
   * result, and so is its end at the limit of time.
   */
  run(command: readonly string[], options?: RunOptions): Promise<Ran>;
}

/** What paths and programs can do in a folder. */
export type FolderActs = Pick<Folder, 'list' | 'read' | 'remove' | 'root' | 'run' | 'write'>;

/** What a folder is made with. */
export interface FolderRules {
  /** Names in it that paths cannot touch. */
  readonly hidden?: readonly string[];
  /** Paths in it that are not listed. */
  readonly unlisted?: readonly string[];
  /** Ends the programs that run in it. */
  readonly signal: AbortSignal;
  /** Puts a sandbox around programs. */
  readonly wrap?: Wrap | undefined;
}

/** What a command becomes, so that it runs in a sandbox: told the folder that it has to write. */
export type Wrap = (command: readonly string[], folder: string) => readonly string[];

/** What can be done in a folder. */
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
    if (hidden.includes(top.toLowerCase())) throw new Error(`\`${top}\` is not to be touched.`);
    const at = await placeIn(root, path, last);
    // A link may lead there.
    for (const name of hidden) expectOutside(await placeIn(root, name), at);
    try {
      return await act(at);
    } catch (error) {
      const why = sentenceOf(messageOf(error).replaceAll(at, path));
      throw new Error(`\`${path}\`: ${why}`, { cause: error });
    }
  };
  return {
    root,
    read: (path) => withPath(path, async (at) => (await readFileAt(at)).toString()),
    write: (path, text) => withPath(path, (at) => writeFileAt(at, text)),
    // A link itself is removed, and not what it leads to.
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
    throw new Error('A link leads to what is not to be touched.');
  }
}

/**
 * The files and links below a folder, sorted.
 *
 * @param folders - Where the folders are told.
 * @throws Error of a name that is not UTF-8: what is asked for by it would be another one.
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

/** @throws Error of a name that is not UTF-8 */
export function expectName(path: string): void {
  // What stands for each byte that cannot be read.
  if (!path.includes('\uFFFD')) return;
  throw new Error(`The name of \`${path}\` is not UTF-8. Give it another one.`);
}
