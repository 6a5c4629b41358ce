import { EspalierError } from '../base/errors.ts';
import type { SavedRun } from '../runs/index.ts';
import type { ShownEnvironment } from '../runs/problem.ts';
import { type OwnEnvironments, recordedIn } from '../runs/run-records.ts';
import { printError } from './output.ts';
import type { OwnModules } from './own-parts.ts';

/**
 * The environments of the problems of a run that was made with `--environment`; `undefined` for any other run.
 *
 * @throws EspalierError `usage` where the module was not named again: a run folder names no code to run.
 */
export async function environmentsOf(
  path: string,
  saved: SavedRun,
  own: OwnModules,
): Promise<OwnEnvironments | undefined> {
  const grownIn = saved.run?.['environment'] as OwnModules['identity'][string] | undefined;
  if (grownIn === undefined) return undefined;
  const { environment: given } = own.identity;
  if (given === undefined) {
    const message = `The trees of \`${path}\` were grown in an environment of your own, whose notation rows need: add \`--environment ${grownIn.module}\`.`;
    throw new EspalierError('usage', message);
  }
  if (given.file !== grownIn.file) {
    printError(
      `\`${given.module}\` has changed since the run in \`${path}\`: rows follow it as it is now.`,
    );
  }
  const made = new Map<string, ShownEnvironment>();
  for (const { answer: _, ...problem } of recordedIn(path, saved).asked) {
    const { environment } = await own.make({ problem });
    if (environment !== undefined) made.set(problem.id, environment);
  }
  return made;
}
