import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isHeldOut } from '../../backends/tiny/held-out.ts';
import { contentAddress } from '../../base/canonical-json.ts';
import { EspalierError } from '../../base/errors.ts';
import { seededRandom } from '../../base/random.ts';
import type { Random } from '../../contracts/context.ts';
import type { Puzzle, PuzzleName } from '../../environments/index.ts';
import { unaidedIn } from '../../runs/problem.ts';
import { tasks } from '../../runs/tasks.ts';
import type { BenchInstance, BenchTask } from '../task.ts';
import { readRequest } from './request.ts';
import { lineFault, readTaskLines, type TaskLine, titleOf } from './task-file.ts';

/** The puzzles that the model which comes with the package has never seen, and all. */
const splits = ['unseen', 'all'] as const;

/** No step of a puzzle is longer, in tokens. */
const longestStep = 64;

/** How a puzzle becomes a task. */
export interface PuzzleTaskOptions<Instance> {
  readonly puzzle: Puzzle<Instance, unknown, unknown>;
  /** Draws a puzzle. */
  draw(random: Random): Instance;
  /** The longest step, in tokens. @defaultValue 64 */
  readonly maxTokens?: number;
  /** The path of a file with puzzles. @defaultValue they are drawn */
  readonly file?: string | undefined;
  /** Reads the puzzles of a file. @defaultValue one on each line, in its usual form */
  readonly read?: (path: string) => readonly NamedPuzzle<Instance>[];
}

/** A puzzle of a file. */
export interface NamedPuzzle<Instance> {
  readonly instance: Instance;
  /** @defaultValue its text, or a part of the SHA-256 of one with several lines */
  readonly id?: string | undefined;
}

/**
 * A puzzle as a task: it verifies itself. Drawn puzzles are different; where there are no more, there are fewer than
 * were asked for. Of a file, the first are taken.
 */
export function puzzleTask<Instance>(options: PuzzleTaskOptions<Instance>): BenchTask {
  const { puzzle, draw, maxTokens, file } = options;
  const { name, title } = puzzle;
  const { isTaught } = tasks[name as PuzzleName];
  const {
    read = (path: string) =>
      readTaskLines(path).map((line) => ({ instance: parsed(puzzle, line) })),
  } = options;
  if (file !== undefined) {
    return {
      ...{ name, title: titleOf(title, file) },
      source: basename(file),
      ...(isTaught && { splits: splits.toReversed() }),
      instances(request) {
        const { split, limit } = readRequest(this, request);
        return different(puzzle, read(file))
          .filter(({ instance }) => split !== 'unseen' || isHeldOut(puzzle.format(instance)))
          .slice(0, limit)
          .map((named) => puzzleInstance(puzzle, named, maxTokens));
      },
    };
  }
  return {
    ...{ name, title },
    ...(isTaught && { splits }),
    instances(request) {
      const { split, count, seed } = readRequest(this, request);
      return drawn({ puzzle, draw, seed, count, isUnseen: split === 'unseen' }).map((instance) =>
        puzzleInstance(puzzle, { instance }, maxTokens),
      );
    },
  };
}

/** A puzzle as an instance, which verifies itself. */
export function puzzleInstance<Instance>(
  puzzle: Puzzle<Instance, unknown, unknown>,
  { instance, id }: NamedPuzzle<Instance>,
  maxTokens: number = longestStep,
): BenchInstance {
  const environment = puzzle.environment(instance);
  const text = puzzle.format(instance);
  return {
    // A name given by the user says nothing about the instance.
    ...(id === undefined
      ? { id: idOf(text) }
      : { id, revision: contentAddress(text).slice(0, 12) }),
    ...{ environment, maxTokens, guides: unaidedIn(puzzle, environment) },
  };
}

function idOf(text: string): string {
  if (!text.includes('\n')) return text;
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function drawn<Instance>({
  puzzle,
  draw,
  seed,
  count,
  isUnseen,
}: Pick<PuzzleTaskOptions<Instance>, 'draw' | 'puzzle'> & {
  readonly seed: number | string;
  readonly count: number;
  readonly isUnseen: boolean;
}): readonly Instance[] {
  const random = seededRandom(seed).split(puzzle.name);
  const found = new Map<string, Instance>();
  // So many draws in a row that bring nothing new say that there is nothing.
  for (let [index, idle] = [0, 0]; found.size < count && idle < 10_000; index++) {
    const instance = draw(random.split(index));
    const text = puzzle.format(instance);
    const isNew = !found.has(text) && (!isUnseen || isHeldOut(text));
    idle = isNew ? 0 : idle + 1;
    if (isNew) found.set(text, instance);
  }
  return [...found.values()];
}

/**
 * Reads a puzzle from a line.
 *
 * @throws EspalierError `usage`, naming the line.
 */
export function parsed<Instance>(
  puzzle: Puzzle<Instance, unknown, unknown>,
  line: TaskLine,
  text: string = line.text,
): Instance {
  try {
    const instance = puzzle.parse(text);
    // What parses may still break a rule of the puzzle.
    puzzle.environment(instance);
    return instance;
  } catch (cause) {
    if (!EspalierError.isInstance(cause)) throw cause;
    throw lineFault(line, cause.message, cause);
  }
}

/** Each puzzle once: a file may hold one twice, and what is asked twice counts once. */
export function different<Named extends NamedPuzzle<Instance>, Instance>(
  puzzle: Puzzle<Instance, unknown, unknown>,
  named: readonly Named[],
): readonly Named[] {
  const seen = new Set<string>();
  return named.filter(({ instance }) => seen.size < seen.add(puzzle.format(instance)).size);
}
