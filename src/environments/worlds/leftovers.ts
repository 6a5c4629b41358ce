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
import { withStorageErrors } from '../../base/with-storage-errors.ts';
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
  let undone = endOrphans((environment) => {
    const started = environment.get(ownerVariable);
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
 * Kills the processes whose environment tells so, where the system has it in files, as Linux has. Returns how many.
 *
 * @param isMeant - Told the variables of a process.
 */
export function endOrphans(isMeant: (environment: ReadonlyMap<string, string>) => boolean): number {
  let count = 0;
  for (const pid of processes()) {
    try {
      const text = readFileSync(`/proc/${pid}/environ`, 'utf8');
      if (!text.includes('ESPALIER_')) continue;
      const variables = text.split('\0').map((line) => {
        const end = line.indexOf('=');
        return [line.slice(0, end), line.slice(end + 1)] as const;
      });
      if (!isMeant(new Map(variables))) continue;
      process.kill(pid, 'SIGKILL');
      count++;
    } catch {
      // It has ended, or is another user's.
    }
  }
  return count;
}

function processes(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}
