import { existsSync, readFileSync } from 'node:fs';
import type { PuzzleName } from '../environments/puzzles/index.ts';
import { EspalierError } from '../spec/errors.ts';
import { type Task, tasks } from './tasks.ts';

/** A puzzle to search. */
export interface Problem {
  readonly task: Task;
  readonly instance: unknown;
  /** The puzzle for people, in one line. */
  readonly title: string;
  /** The instance in its usual form: equal for equal instances. */
  readonly text: string;
}

/**
 * Reads a puzzle from a value, or from the file of that name where there is one.
 *
 * @throws EspalierError `usage` in one sentence.
 */
export function readProblem(name: PuzzleName, input: string): Problem {
  const task = tasks[name];
  const isFile = existsSync(input);
  const instance = parse(task, isFile ? readInput(input) : input, { input, isFile });
  const text = task.puzzle.format(instance);
  const shown = isFile ? input : text;
  const title = shown.includes('\n') ? task.puzzle.title : `${task.puzzle.title}: ${shown}`;
  return { task, instance, title, text };
}

function readInput(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EspalierError('usage', `\`${path}\` cannot be read: ${reason}.`, { cause });
  }
}

function parse(
  { puzzle }: Task,
  text: string,
  { input, isFile }: { readonly input: string; readonly isFile: boolean },
): unknown {
  try {
    const instance = puzzle.parse(text);
    // What parses may still break a rule of the puzzle.
    puzzle.environment(instance);
    return instance;
  } catch (cause) {
    if (!EspalierError.isInstance(cause)) throw cause;
    if (isFile) throw new EspalierError('usage', `In \`${input}\`: ${cause.message}`, { cause });
    // What looks like the name of a file was most likely meant as one.
    if (!/^\S*\.\w+$/.test(input)) throw cause;
    throw new EspalierError('usage', `There is no file \`${input}\`.`, { cause });
  }
}
