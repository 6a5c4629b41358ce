import { randomUUID } from 'node:crypto';
import {
  constants,
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
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
  /** The start time of the process, if the system reports it: a later process may have the same number. */
  readonly started?: string | undefined;
  /** Makes the content of each lock unique. */
  readonly id?: string;
}

/**
 * Takes a lock file, so that a folder has one writer. A lock whose process is dead is taken over.
 *
 * @param what - What the lock guards, as the error names it.
 * @returns a function that releases it.
 * @throws EspalierError `locked`, naming the holder, `usage` if the file is not a lock of espalier, or `storage`.
 */
export function takeLock(path: string, what: string = 'this folder'): () => void {
  const release = take(path, what);
  try {
    removeLeftovers(path);
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** The suffixes of files beside a lock: the addresses of dead locks, and an id. */
const suffix = /^(\.[0-9a-f]{64})*(\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;
/** A file with an id is linked into place within milliseconds: one older than this is left by a killed process. */
const oldestMs = 3_600_000;

/**
 * Removes files of processes that were killed while they held the lock. A process that is still trying to get it finds
 * ours there and gives up.
 */
function removeLeftovers(path: string): void {
  const [folder, own] = [dirname(path), basename(path)];
  withStorageErrors(`The lock \`${path}\``, () => {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(`${own}.`) || !suffix.test(name.slice(own.length))) continue;
      if (isLeft(join(folder, name))) rmSync(join(folder, name), { force: true });
    }
  });
}

/** Whether the process that wrote a file beside a lock was killed. */
function isLeft(path: string): boolean {
  const content = read(path);
  if (content === undefined) return false;
  // A new file without content may be in the middle of being written; of another machine nothing else is known.
  const isLinked = /-[0-9a-f]{12}$/.test(path);
  const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (isLinked && Date.now() - mtimeMs > oldestMs) return true;
  return holderOf(content) !== undefined && !isAlive(content);
}

function take(path: string, what: string): () => void {
  const id = randomUUID();
  const own = ownProcess(id);
  // Written to a separate file and linked into place, so that a lock is never visible without its content.
  const aside = `${path}.${id}`;
  try {
    withStorageErrors(`The lock \`${path}\``, () => writeFileSync(aside, own, { flag: 'wx' }));
    if (!link(aside, path)) takeOver(path, aside, what);
  } finally {
    rmSync(aside, { force: true });
  }
  return () => {
    if (read(path) === own) rmSync(path, { force: true });
  };
}

/** This process, in the form that {@link isOfDead} reads. */
export function ownProcess(id: string = randomUUID()): string {
  const started = processOf(process.pid)?.started;
  const holder: Holder = { pid: process.pid, host: hostname(), started, id };
  return JSON.stringify(holder);
}

/** Whether the lock is now ours; otherwise there already was one. */
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

/** Links a file, or copies it if the file system has no hard links: a rival may then see it without its content. */
function linkOrCopy(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (error) {
    if (!['EPERM', 'ENOSYS', 'ENOTSUP'].some((code) => isCode(error, code))) throw error;
    copyFileSync(aside, path, constants.COPYFILE_EXCL);
  }
}

/**
 * Replaces the lock of a dead holder. This requires a lock on that lock, so that only one of several rivals does it,
 * and none removes a lock that another one has taken meanwhile.
 */
function takeOver(path: string, aside: string, what: string): void {
  const seen = read(path);
  if (seen === undefined) {
    // Released in the meantime.
    if (link(aside, path)) return;
    throw heldBy(path, read(path), what);
  }
  if (!isOwn(seen)) {
    const message = `\`${path}\` is not a lock of espalier. Move it away, or choose another folder.`;
    throw new EspalierError('usage', message);
  }
  if (isAlive(seen)) throw heldBy(path, seen, what);
  const release = take(`${path}.${contentAddress(seen)}`, what);
  try {
    const now = read(path);
    if (now === seen) renameSync(aside, path);
    else if (!link(aside, path)) throw heldBy(path, now, what);
  } finally {
    release();
  }
}

/** The content of a lock; `undefined` if there is none. */
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

/** Whether a file is a lock of ours, or what is left of one after a power failure. */
function isOwn(content: string): boolean {
  const text = content.replaceAll('\0', '');
  return text.startsWith(beginning) || beginning.startsWith(text);
}

/** The writer of a lock; `undefined` if a power failure left nothing readable. */
function holderOf(content: string | undefined): Holder | undefined {
  try {
    const { pid, host, started: since, id } = JSON.parse(content ?? '') as Partial<Holder>;
    // The system treats 0 and negative numbers as process groups, which always exist.
    if (!Number.isSafeInteger(pid) || Number(pid) < 1 || typeof host !== 'string') return undefined;
    return { pid: Number(pid), host, started: since, ...(isId(id) && { id }) };
  } catch {
    return undefined;
  }
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

/** Whether a text is one of {@link ownProcess} and its process is dead. Other content says nothing about a process. */
export function isOfDead(content: string): boolean {
  const holder = holderOf(content);
  return holder?.id !== undefined && !isAlive(content);
}

/** Whether a recorded process is alive. One on another machine cannot be checked, and counts as alive. */
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
 * The system's information about a process; `undefined` if it has none. The start time is relative to the boot of the
 * machine, because each restart of a container reuses the same process numbers. A zombie process is dead although the
 * system still has its number.
 */
function processOf(
  pid: number,
): { readonly started: string; readonly isDead: boolean } | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The second field, the name in parentheses, may contain spaces; the state is the third field, the start time the
    // 22nd.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)?.trim().split(' ');
    return {
      started: `${boot} ${fields?.[19]}`,
      isDead: ['X', 'Z', 'x'].includes(fields?.[0] ?? ''),
    };
  } catch {
    return undefined;
  }
}

function heldBy(path: string, content: string | undefined, what: string): EspalierError {
  const { pid, host } = holderOf(content) ?? {};
  return new EspalierError(
    'locked',
    `Process ${pid ?? '(unknown)'} on ${host ?? 'this machine'} is writing to ${what}. If it is no longer running, delete \`${path}\`.`,
  );
}
