import { randomUUID } from 'node:crypto';
import {
  constants,
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { contentAddress } from './canonical-json.ts';
import { EspalierError } from './errors.ts';
import { expectRegularFile } from './regular-file.ts';
import { isCode, withStorageErrors } from './with-storage-errors.ts';

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the process began, as far as the system tells: a later process may have its number. */
  readonly started?: string | undefined;
  /** Makes the content of each lock another one. */
  readonly id?: string;
}

/**
 * Takes a lock file, so that a folder has one writer. A lock whose process is dead is taken over.
 *
 * @returns how to release it.
 * @throws EspalierError `locked`, naming the holder, `usage` where it is no lock of ours, or `storage`.
 */
export function takeLock(path: string): () => void {
  const release = take(path);
  try {
    removeLeftovers(path);
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** What follows the name of a lock in those of files beside it: addresses of dead locks, and an id. */
const suffix = /^(\.[0-9a-f]{64})*(\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;

/** Files of processes that were killed at the lock. Whoever still tries to get it finds ours there, and gives up. */
function removeLeftovers(path: string): void {
  const [folder, own] = [dirname(path), basename(path)];
  withStorageErrors(`The lock \`${path}\``, () => {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(`${own}.`) || !suffix.test(name.slice(own.length))) continue;
      const content = read(join(folder, name));
      // What has no content yet may be written just now.
      if (content === undefined || holderOf(content) === undefined || isAlive(content)) continue;
      rmSync(join(folder, name), { force: true });
    }
  });
}

function take(path: string): () => void {
  const id = randomUUID();
  const own = ownProcess(id);
  // Written aside and linked into place, a lock is never seen before its content.
  const aside = `${path}.${id}`;
  try {
    withStorageErrors(`The lock \`${path}\``, () => writeFileSync(aside, own, { flag: 'wx' }));
    if (!link(aside, path)) takeOver(path, aside);
  } finally {
    rmSync(aside, { force: true });
  }
  return () => {
    if (read(path) === own) rmSync(path, { force: true });
  };
}

/** This process, as {@link isOfDead} knows it. */
export function ownProcess(id: string = randomUUID()): string {
  const started = processOf(process.pid)?.started;
  const holder: Holder = { pid: process.pid, host: hostname(), started, id };
  return JSON.stringify(holder);
}

/** Whether the lock is now ours; else there was one already. */
function link(aside: string, path: string): boolean {
  return withStorageErrors(`The lock \`${path}\``, () => {
    try {
      linkOrCopy(aside, path);
      return true;
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false;
      throw error;
    }
  });
}

/** Where a file system has no hard links, a copy: a rival may see it before its content. */
function linkOrCopy(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (error) {
    if (!['EPERM', 'ENOSYS', 'ENOTSUP'].some((code) => isCode(error, code))) throw error;
    copyFileSync(aside, path, constants.COPYFILE_EXCL);
  }
}

/**
 * Puts our lock in the place of a dead holder's. Only who holds the lock on a dead holder's lock may do so:
 * of several rivals one does, and none takes away what is another's by then.
 */
function takeOver(path: string, aside: string): void {
  const seen = read(path);
  if (seen === undefined) {
    // Released in the meantime.
    if (link(aside, path)) return;
    throw heldBy(path, read(path));
  }
  if (!isOwn(seen)) {
    const message = `\`${path}\` is no lock of espalier. Move it away, or choose another folder.`;
    throw new EspalierError('usage', message);
  }
  if (isAlive(seen)) throw heldBy(path, seen);
  const release = take(`${path}.${contentAddress(seen)}`);
  try {
    const now = read(path);
    if (now === seen) renameSync(aside, path);
    else if (!link(aside, path)) throw heldBy(path, now);
  } finally {
    release();
  }
}

/** The content of a lock; `undefined` where there is none. */
function read(path: string): string | undefined {
  return withStorageErrors(`The lock \`${path}\``, () => {
    expectRegularFile(path);
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (isCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  });
}

const beginning = '{"pid":';

/** Tells a lock, or what a failure of power left of one, from a file of somebody else. */
function isOwn(content: string): boolean {
  const text = content.replaceAll('\0', '');
  return text.startsWith(beginning) || beginning.startsWith(text);
}

/** Who wrote a lock; `undefined` where a failure of power left nothing that can be read. */
function holderOf(content: string | undefined): Holder | undefined {
  try {
    const { pid, host, started: since, id } = JSON.parse(content ?? '') as Partial<Holder>;
    // The system takes 0 and negative numbers for groups of processes, which are always there.
    if (!Number.isSafeInteger(pid) || Number(pid) < 1 || typeof host !== 'string') return undefined;
    return { pid: Number(pid), host, started: since, ...(isId(id) && { id }) };
  } catch {
    return undefined;
  }
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

/** Whether a text is one of {@link ownProcess}, and its process is dead. What somebody else wrote tells of nobody. */
export function isOfDead(content: string): boolean {
  const holder = holderOf(content);
  return holder?.id !== undefined && !isAlive(content);
}

/** Whether a process that was written down lives. One of another machine cannot be asked; it counts as alive. */
function isAlive(content: string): boolean {
  const holder = holderOf(content);
  if (holder === undefined) return false;
  if (holder.host !== hostname()) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (!isCode(error, 'EPERM')) return false;
  }
  const seen = processOf(holder.pid);
  if (seen === undefined) return true;
  return !seen.isDead && (holder.started === undefined || seen.started === holder.started);
}

/**
 * What the system tells of a process; `undefined` where it has no such file. It began so long after a boot of the
 * machine: in a container each restart has the same number of a process. A dead one has ended and only waits for its
 * parent to notice: the system still knows its number.
 */
function processOf(
  pid: number,
): { readonly started: string; readonly isDead: boolean } | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The second field, the name in parentheses, may hold spaces; the state is the third, the start the 22nd.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)?.trim().split(' ');
    return {
      started: `${boot} ${fields?.[19]}`,
      isDead: ['X', 'Z', 'x'].includes(fields?.[0] ?? ''),
    };
  } catch {
    return undefined;
  }
}

function heldBy(path: string, content: string | undefined): EspalierError {
  const { pid, host } = holderOf(content) ?? {};
  return new EspalierError(
    'locked',
    `Process ${pid ?? '(unknown)'} on ${host ?? 'this machine'} is writing to this folder. If it is no longer running, delete \`${path}\`.`,
  );
}
