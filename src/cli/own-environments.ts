import { EspalierError } from '../base/errors.ts';
import type { SavedRun } from '../runs/index.ts';
import type { ShownEnvironment } from '../runs/problem.ts';
import { type OwnEnvironments, recordedIn } from '../runs/run-records.ts';
import { printError } from './output.ts';
import type { OwnModules } from './own-parts.ts';

/**
 * A run as a command would have written it. Where a program made a run, nothing may say in which environment: that is
 * the one that was named, for every problem that has a tree.
 */
export function adopted(saved: SavedRun, own: OwnModules): SavedRun {
  const { environment } = own.identity;
  if (environment === undefined || isKnown(saved)) return saved;
  const { command, input } = Object(saved.run) as Record<string, unknown>;
  const searched = command === 'search' && input !== undefined ? { input } : {};
  const told = new Map(saved.asked.map((line) => [Object(line).id as unknown, Object(line)]));
  const asked = [...new Set(saved.trees.map(({ problem }) => problem))].map((id) => ({
    ...{ input: id, ...searched, ...told.get(id) },
    id,
  }));
  return { ...saved, asked, run: { ...saved.run, command: 'generate', environment } };
}

/** Whether a run says what it searched: a puzzle, questions, or an environment of one's own. */
function isKnown({ run, asked }: SavedRun): boolean {
  const { command, environment, task } = Object(run) as Record<string, unknown>;
  if (![undefined, 'generate', 'search'].includes(command as string)) return true;
  const isTold = (line: object) => 'question' in line || 'task' in line;
  return (
    environment !== undefined || task !== undefined || asked.some((line) => isTold(Object(line)))
  );
}

/**
 * The environments of the problems with trees of a run that was made with `--environment`; `undefined` for any other run.
 *
 * @throws EspalierError `usage` if the module was not named again: a run folder names no code to run.
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
  // The module may refuse a problem, whose search has then failed.
  const grown = new Set(saved.trees.map(({ problem }) => problem));
  for (const { answer: _, ...problem } of recordedIn(path, saved).asked) {
    if (!grown.has(problem.id)) continue;
    const { environment } = await own.make({ problem });
    if (environment !== undefined) made.set(problem.id, environment);
  }
  return made;
}
