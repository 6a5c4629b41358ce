import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { EspalierError } from '../spec/errors.ts';

interface Holder {
  readonly pid: number;
  readonly host: string;
}

/**
 * Takes a lock file, so that a folder has one writer. A lock whose process is dead is taken over.
 *
 * @returns how to release it.
 * @throws EspalierError `locked`, naming the holder, or `storage`.
 */
export function takeLock(path: string): () => void {
  const own = JSON.stringify({ pid: process.pid, host: hostname() } satisfies Holder);
  // Two attempts: the second after a dead holder's lock was taken away.
  if (!create(path, own)) {
    takeAway(path);
    if (!create(path, own)) throw heldBy(path, read(path));
  }
  return () => rmSync(path, { force: true });
}

function create(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' });
    return true;
  } catch (cause) {
    if (isCode(cause, 'EEXIST')) return false;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EspalierError('storage', `The folder cannot be locked: ${reason}.`, { cause });
  }
}

/** Takes a dead holder's lock away. Moving it is atomic: of two rivals one moves it. */
function takeAway(path: string): void {
  const seen = read(path);
  if (seen !== undefined && isAlive(JSON.parse(seen) as Holder)) throw heldBy(path, seen);
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return;
    throw cause;
  }
  // A rival may have been faster, and what was moved is its new lock: it gets it back.
  if (read(aside) !== seen) linkSync(aside, path);
  rmSync(aside, { force: true });
}

/** The content of a lock; `undefined` where there is none, or its writer died before it could be written. */
function read(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    const { pid, host } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === 'number' && typeof host === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** A process of another machine cannot be asked; it counts as alive. */
function isAlive({ pid, host }: Holder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}

function heldBy(path: string, content: string | undefined): EspalierError {
  const { pid, host } = JSON.parse(content ?? '{}') as Partial<Holder>;
  return new EspalierError(
    'locked',
    `Process ${pid ?? '(unknown)'} on ${host ?? 'this machine'} is writing to this folder. If it is no longer running, delete \`${path}\`.`,
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
