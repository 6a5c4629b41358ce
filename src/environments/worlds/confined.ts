import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { chmod, lstat, mkdir, open, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { describeValue } from '../../base/expect.ts';
import { messageOf, sentenceOf } from '../../base/failure.ts';
import { isCode } from '../../base/with-storage-errors.ts';

/** The parts of a path below a folder. Throws if it is not a path, or leads out of the folder. */
export function partsOf(path: string): readonly string[] {
  const parts = typeof path === 'string' ? path.split(/[/\\]/) : [];
  const isPlain = parts.length > 0 && parts.every((part) => !['', '.', '..'].includes(part));
  if (isPlain && !/\0|^[a-z]:|\p{Surrogate}/iu.test(path)) return parts;
  throw new Error(
    `Expected a path below the folder, such as \`src/index.js\`, got ${describeValue(path)}.`,
  );
}

/**
 * The real location of a path in a folder. Throws if links lead out of the folder.
 *
 * @param last - Whether to follow the last part of the path if it is a link.
 */
export async function placeIn(
  root: string,
  path: string,
  last: 'followed' | 'itself' = 'followed',
): Promise<string> {
  const parts = partsOf(path);
  const home = await realpath(root);
  let at = home;
  for (const [index, part] of parts.entries()) {
    const next = join(at, part);
    const status = await statusOf(next).catch((cause) => {
      throw withinFolder(cause, { home, path });
    });
    // Below a path that does not exist, there are no links.
    if (status === undefined) return join(next, ...parts.slice(index + 1));
    const isFollowed = last === 'followed' || index < parts.length - 1;
    at =
      isFollowed && status.isSymbolicLink()
        ? await realpath(next).catch(() => leadsOut(path))
        : next;
    if (at !== home && !at.startsWith(home + sep)) leadsOut(path);
  }
  return at;
}

/** An error about a path. Where the folder lies is random, and is no concern of the model. */
export function withinFolder(
  cause: unknown,
  { home, path, at = '' }: { readonly home: string; readonly path: string; readonly at?: string },
): Error {
  const told = messageOf(cause);
  const named = at === '' ? told : told.replaceAll(at, path);
  return new Error(`\`${path}\`: ${sentenceOf(named.replaceAll(home + sep, ''))}`, { cause });
}

function leadsOut(path: string): never {
  throw new Error(`\`${path}\` is a link that leads out of the folder, or nowhere.`);
}

export async function statusOf(place: string): Promise<Stats | undefined> {
  try {
    return await lstat(place);
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Reads a regular file; pipes and devices would never end. */
export async function readFileAt(place: string): Promise<Buffer> {
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('It is not a file.');
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/**
 * Writes a file to a temporary place and moves it, so that it is complete or missing, and hard links are unaffected.
 */
export async function writeFileAt(place: string, content: string): Promise<void> {
  const before = await statusOf(place);
  if (before !== undefined && !before.isFile() && !before.isSymbolicLink()) {
    throw new Error('It is not a file.');
  }
  await mkdir(dirname(place), { recursive: true });
  const aside = `${place}.${randomUUID()}`;
  try {
    await writeFile(aside, content, { flag: 'wx' });
    if (before?.isFile() === true) await chmod(aside, before.mode & 0o777);
    await rename(aside, place);
  } catch (error) {
    await rm(aside, { force: true }).catch(() => {});
    throw new Error(messageOf(error).replaceAll(aside, place), { cause: error });
  }
}
