import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { isAlive, ownProcess } from '../../base/lock.ts';
import { isCode, withStorageErrors } from '../../base/with-storage-errors.ts';
import type { Recovery } from './live.ts';

/** What tells the process that has started another one, in the environment of that. */
export const ownerVariable = 'ESPALIER_OWNER';

const beginning = 'espalier-world-';

/** This process, as it is written down for those who come after it. */
export const owner: string = ownProcess();

/**
 * A new folder for what lives no longer than this process. What is left of one that was killed is removed by
 * {@link removeLeftovers}.
 */
export async function temporaryFolder(): Promise<string> {
  await removeLeftovers();
  return withStorageErrors('The folder for temporary files', () => {
    const made = mkdtempSync(join(tmpdir(), 'espalier-new-'));
    writeFileSync(join(made, 'owner'), owner);
    // Only now others look at it: it is never seen without its owner.
    const folder = join(dirname(made), basename(made).replace('espalier-new-', beginning));
    renameSync(made, folder);
    return folder;
  });
}

/** Removes the folders, and ends the processes, of processes of this user that were killed. */
export async function removeLeftovers(): Promise<Recovery> {
  const failed: string[] = [];
  let undone = endOrphans((pid) => {
    const started = environmentOf(pid).get(ownerVariable);
    return started !== undefined && !isAlive(started);
  });
  for (const folder of leftFolders()) {
    try {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      undone++;
    } catch (error) {
      failed.push(`\`${folder}\` could not be removed: ${messageOf(error)}`);
    }
  }
  return { undone, failed };
}

/** Folders of ours whose owner is dead. */
function leftFolders(): readonly string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(beginning))
    .map((name) => join(tmpdir(), name))
    .filter((folder) => {
      try {
        // Somebody else may have put a link here.
        const { uid, isOwn } = { uid: process.getuid?.(), isOwn: lstatSync(folder) };
        if (!isOwn.isDirectory() || (uid !== undefined && isOwn.uid !== uid)) return false;
        return !isAlive(readFileSync(join(folder, 'owner'), 'utf8'));
      } catch {
        return false;
      }
    });
}

/**
 * Kills processes, where the system has what it knows of them in files, as Linux has, until there are none. Returns how
 * many.
 *
 * @param isMeant - Told the number of a process. Where it throws, the process is another user's, or has ended.
 */
export function endOrphans(isMeant: (pid: number) => boolean): number {
  let killed = 0;
  let known: ReadonlySet<number> = new Set();
  // One that starts another and ends is gone before its turn comes. Whoever has been looked at is not looked at again,
  // so that a round takes less time than such a process lives. What ended unseen may have been one of them; a machine on
  // which others come and go all the time is not waited for.
  for (let [quiet, inVain] = [0, 0]; quiet < 3 && inVain < 500; ) {
    const now = processes();
    const met = now.filter((pid) => !known.has(pid)).map((pid) => endIfMeant(pid, isMeant));
    // Only those that are still there: their numbers are given to others later.
    known = new Set(now);
    const kills = met.filter((what) => what === 'killed').length;
    killed += kills;
    quiet = met.every((what) => what === 'spared') ? quiet + 1 : 0;
    inVain = kills > 0 ? 0 : inVain + 1;
  }
  return killed;
}

function endIfMeant(pid: number, isMeant: (pid: number) => boolean): 'ended' | 'killed' | 'spared' {
  try {
    if (!isMeant(pid)) return 'spared';
    process.kill(pid, 'SIGKILL');
    return 'killed';
  } catch (error) {
    return isCode(error, 'ENOENT') || isCode(error, 'ESRCH') ? 'ended' : 'spared';
  }
}

function environmentOf(pid: number): ReadonlyMap<string, string> {
  const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  const own = lines.filter((line) => line.startsWith('ESPALIER_'));
  return new Map(
    own.map((line) => {
      const end = line.indexOf('=');
      return [line.slice(0, end), line.slice(end + 1)] as const;
    }),
  );
}

/** The limit that {@link marked} sets: of processes that keep all else secret, such as `ssh-agent`, it can be read. */
export function markOf(pid: number): string | undefined {
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  return /^Max file locks +(\d+)/m.exec(limits)?.[1];
}

/**
 * A command that runs with a mark, which all that it starts inherits: a limit that has had no effect since Linux 2.4.25.
 * Environments are cleared, sessions left and files closed by programs that start others; nobody sets this limit.
 */
export function marked(command: readonly string[], mark: number): readonly string[] {
  const set = `ulimit -S -w ${mark} || ulimit -S -x ${mark}`;
  return ['/bin/sh', '-c', `{ ${set}; } 2>/dev/null; exec "$@"`, 'sh', ...command];
}

/** The numbers of all other processes, parents before children as a rule: none is to see that its child was killed. */
function processes(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}
