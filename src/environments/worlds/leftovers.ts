import {
  type Dir,
  existsSync,
  lstatSync,
  mkdtempSync,
  opendirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../base/failure.ts';
import { isOfDead, ownProcess } from '../../base/lock.ts';
import { isCode, withStorageErrors } from '../../base/with-storage-errors.ts';
import type { Recovery } from './live.ts';

/** The environment variable that names the process that started a program. */
export const ownerVariable = 'ESPALIER_OWNER';

const beginning = 'espalier-world-';

/** This process, as recorded for later processes. */
export const owner: string = ownProcess();

/**
 * A new folder that lives no longer than this process. The folders of killed processes are removed by {@link
 * removeLeftovers}.
 */
export async function temporaryFolder(): Promise<string> {
  await removeLeftovers();
  return withStorageErrors('The folder for temporary files', () => {
    const made = mkdtempSync(join(tmpdir(), 'espalier-new-'));
    writeFileSync(join(made, 'owner'), owner);
    // Others look at it only under its final name, so it is never seen without its owner.
    const folder = join(dirname(made), basename(made).replace('espalier-new-', beginning));
    renameSync(made, folder);
    return folder;
  });
}

/** Removes the folders, and kills the child processes, of killed processes of this user. */
export async function removeLeftovers(): Promise<Recovery> {
  const failed: string[] = [];
  const ended = await endOrphans((pid) => {
    const started = environmentOf(pid).get(ownerVariable);
    return started !== undefined && isOfDead(started);
  });
  let undone = ended.killed;
  if (ended.isKilling) failed.push('Processes start each other faster than they can be killed.');
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

/** Our folders whose owner is dead. */
function leftFolders(): readonly string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(beginning))
    .map((name) => join(tmpdir(), name))
    .filter((folder) => {
      try {
        // Another user may have put a link here.
        const { uid, isOwn } = { uid: process.getuid?.(), isOwn: lstatSync(folder) };
        if (!isOwn.isDirectory() || (uid !== undefined && isOwn.uid !== uid)) return false;
        return isOfDead(readFileSync(join(folder, 'owner'), 'utf8'));
      } catch {
        return false;
      }
    });
}

/** How long to look for processes, and how long before other work gets a turn, in milliseconds. */
const patience = 2_000;
const turn = 50;

/** The result of killing processes. */
interface Ended {
  readonly killed: number;
  /** Whether none are left; false if they start each other faster than they are found. */
  readonly isDone: boolean;
  /** Whether the last rounds still killed some. If not, the time was up because the machine is busy with others. */
  readonly isKilling: boolean;
}

/**
 * Kills processes until none are left, for at most two seconds, on systems with process files, such as Linux. Other
 * work gets a turn meanwhile.
 *
 * @param isMeant - Gets the number of a process. If it throws, the process belongs to another user or has ended.
 */
export async function endOrphans(isMeant: (pid: number) => boolean): Promise<Ended> {
  const began = performance.now();
  const hunt = new Hunt(isMeant);
  let turnEnd = began + turn;
  // A process that ended unseen may have been one of them, so another round follows; but on a busy machine the search
  // must end.
  for (let [quiet, inVain] = [0, 0]; quiet < 3 && inVain < 500; ) {
    const round = hunt.round();
    let step = round.next();
    for (; step.done !== true; step = round.next()) {
      if (performance.now() < turnEnd) continue;
      await nextTurn();
      if (performance.now() > began + patience) {
        round.return('ended');
        const isKilling = hunt.killed > 0 && inVain < 3;
        return { killed: hunt.killed, isDone: false, isKilling };
      }
      turnEnd = performance.now() + turn;
    }
    quiet = step.value === 'spared' ? quiet + 1 : 0;
    inVain = step.value === 'killed' ? 0 : inVain + 1;
  }
  return { killed: hunt.killed, isDone: true, isKilling: false };
}

type Met = 'ended' | 'killed' | 'spared';

/**
 * Searches for processes to kill. A process that starts another and ends is gone before its turn comes, so processes
 * that were already checked are skipped: a round must take less time than such a process lives.
 */
class Hunt {
  killed = 0;
  readonly #isMeant: (pid: number) => boolean;
  #known = new Set<number>();
  #latest = 0;

  constructor(isMeant: (pid: number) => boolean) {
    this.#isMeant = isMeant;
  }

  /** Looks at all that are new, one at a step. Returns the worst that it met. */
  *round(): Generator<undefined, Met> {
    const [now, before] = [new Set<number>(), this.killed];
    let [hasEnded, met] = [false, 0];
    for (const pid of processes()) {
      // Before the first of them too: there may be few.
      if (met++ % 8 === 0) this.#lookAtLatest(now);
      // One that left its group just before lives on, and is looked at again.
      if (!this.#known.has(pid) && this.#look(pid) === 'ended') hasEnded = true;
      else now.add(pid);
      yield;
    }
    // Only those that are still there: their numbers are given to others later.
    this.#known = now;
    if (this.killed > before) return 'killed';
    return hasEnded ? 'ended' : 'spared';
  }

  #lookAtLatest(now: ReadonlySet<number>): void {
    const latest = latestProcess();
    if (latest === this.#latest) return;
    // A number is given before the process can be seen: until then it is looked for again.
    if (!this.#known.has(latest) && !now.has(latest) && this.#look(latest) === 'ended') return;
    this.#latest = latest;
    this.#known.add(latest);
  }

  #look(pid: number): Met {
    const met = endIfMeant(pid, this.#isMeant);
    if (met === 'killed') this.killed++;
    return met;
  }
}

/**
 * The number that was given last: of processes that start one another and end, the one that lives. 0, which is none,
 * where a thread of this process has got it.
 */
function latestProcess(): number {
  try {
    const pid = Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').at(-1));
    return pid > 0 && !existsSync(`/proc/self/task/${pid}`) ? pid : 0;
  } catch {
    return 0;
  }
}

function endIfMeant(pid: number, isMeant: (pid: number) => boolean): Met {
  try {
    if (!isMeant(pid)) return 'spared';
    const whole = wholeOf(pid, isMeant);
    process.kill(whole, 'SIGKILL');
    // It may have left its group just before.
    if (whole !== pid) process.kill(pid, 'SIGKILL');
    return 'killed';
  } catch (error) {
    return isCode(error, 'ENOENT') || isCode(error, 'ESRCH') ? 'ended' : 'spared';
  }
}

/**
 * Kills a process with its group, so that none of it can start another meanwhile; but not a group led by somebody else,
 * such as a shell.
 */
function wholeOf(pid: number, isMeant: (pid: number) => boolean): number {
  const group = groupOf(pid);
  if (group === groupOf(process.pid)) return pid;
  try {
    return isMeant(group) ? -group : pid;
  } catch (error) {
    return isCode(error, 'ENOENT') ? -group : pid;
  }
}

function groupOf(pid: number): number {
  // After the name, which may contain anything: the state, the parent, the group.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)?.trim().split(' ');
  return Number(fields?.[2]);
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

/**
 * The limit that {@link marked} sets. It can be read even for processes that hide everything else, such as `ssh-agent`.
 */
export function markOf(pid: number): string | undefined {
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  // That of a process which ends between opening and reading is empty.
  if (limits === '') throw Object.assign(new Error('The process has ended.'), { code: 'ESRCH' });
  return /^Max file locks +(\d+)/m.exec(limits)?.[1];
}

/**
 * A command with a mark that all its descendants inherit: a resource limit that has had no effect since Linux 2.4.25.
 * Programs that start others may clear the environment, leave the session and close files, but do not set this limit.
 */
export function marked(command: readonly string[], mark: number): readonly string[] {
  const set = `ulimit -S -w ${mark} || ulimit -S -x ${mark}`;
  return ['/bin/sh', '-c', `{ ${set}; } 2>/dev/null; exec "$@"`, 'sh', ...command];
}

/**
 * The numbers of all other processes, usually parents before children, so that no parent sees its child killed. One at
 * a time, because the list never ends if processes are started constantly.
 */
function* processes(): Generator<number> {
  let folder: Dir;
  try {
    folder = opendirSync('/proc');
  } catch {
    return;
  }
  try {
    for (let name = nextName(folder); name !== undefined; name = nextName(folder)) {
      const pid = Number(name);
      if (pid > 0 && pid !== process.pid) yield pid;
    }
  } finally {
    folder.closeSync();
  }
}

function nextName(folder: Dir): string | undefined {
  for (;;) {
    try {
      return folder.readSync()?.name;
    } catch (error) {
      // The system gives no type for a process that has just ended, and Node.js then looks for its folder.
      if (!isCode(error, 'ENOENT')) throw error;
    }
  }
}
