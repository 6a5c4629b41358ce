import { fileURLToPath } from 'node:url';
import { systemClock } from '../../base/clock.ts';
import { EspalierError } from '../../base/errors.ts';
import { packageFile } from '../../base/package-file.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Environment, Transition } from '../../contracts/environment.ts';
import { plainContext } from '../../testing/index.ts';

/** What is asked beside a search, such as a score, so that nothing of it is in its journal or its ledger. */
export const aside: CallContext = plainContext({ clock: systemClock });

/** The command that starts a program of the folder `python`. */
export function pythonCommand(file: string): readonly string[] {
  return ['python3', fileURLToPath(packageFile(`python/${file}`))];
}

/**
 * The start of a program.
 *
 * @param missing - What is to be installed, in one sentence.
 * @throws EspalierError `usage` if it cannot be started.
 */
export async function startedAside<State, Action>(
  remote: Environment<State, Action>,
  missing: string,
): Promise<Transition<State>> {
  try {
    return await remote.reset(aside);
  } catch (cause) {
    throw new EspalierError('usage', missing, { cause });
  }
}
