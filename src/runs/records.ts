import { join } from 'node:path';
import { EspalierError } from '../base/errors.ts';
import { expectFunction, expectObjects, expectTexts } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { Environment } from '../contracts/environment.ts';
import type { TreeRecord } from '../data/record.ts';
import { treeFromJson } from '../tree/serialize.ts';
import type { SearchTree } from '../tree/tree.ts';
import type { SavedRun } from './run-folder.ts';
import { growerOf, runFile } from './source-files.ts';

/**
 * The finished trees of a run as input for row rules, grouped by problem. They come in the order of `problems`,
 * whatever order they were finished in; only one problem at a time is in memory. Their method and models are those of
 * the run, unless `describe` overrides them.
 */
export function* readRecords<State, Action>(
  saved: Partial<Omit<SavedRun, 'trees'>> & Pick<SavedRun, 'trees'>,
  options: {
    /** The names of the problems, in order. @defaultValue all, in the order of their first trees */
    readonly problems?: readonly string[];
    /** Additional information about a problem for its rows. `undefined` leaves its trees out. */
    readonly describe: (
      problem: string,
    ) =>
      | (Omit<TreeRecord<State, Action>, 'id' | 'problem' | 'tree'> &
          Pick<Environment<State, never>, 'codec'>)
      | undefined;
  },
): Generator<readonly TreeRecord<State, Action>[], void, undefined> {
  expectOptions('readRecords', options, 'problems describe');
  const { problems, describe } = options;
  expectObjects('trees', saved.trees);
  if (problems !== undefined) expectTexts('problems', problems);
  expectFunction('describe', describe);
  const byProblem = treesByProblem(saved.trees);
  let file: TreeRecord['file'];
  for (const problem of problems ?? byProblem.keys()) {
    const stored = byProblem.get(problem);
    const description = stored === undefined ? undefined : describe(problem);
    if (stored === undefined || description === undefined) continue;
    const { codec, ...rest } = description;
    yield stored
      .toSorted((a, b) => a.attempt - b.attempt || a.step - b.step)
      .map((each) => {
        const grower = growerOf(saved, each);
        const { path, run } = saved;
        if (path !== undefined) file ??= runFile({ path, run }, grower);
        return {
          ...grower,
          ...(file !== undefined && { file }),
          ...rest,
          problem,
          id: idOf(each),
          tree: readTree<State, Action>(each, { path, codec }),
        };
      });
  }
}

/** The trees of each problem. */
export function treesByProblem(trees: SavedRun['trees']): ReadonlyMap<string, SavedRun['trees']> {
  const groups = new Map<string, SavedRun['trees'][number][]>();
  for (const tree of trees) groups.set(tree.problem, [...(groups.get(tree.problem) ?? []), tree]);
  return groups;
}

/** The first tree of a problem has its name; the names of the others have a suffix. */
function idOf({ problem, attempt, step }: SavedRun['trees'][number]): string {
  const parts = [...(attempt > 0 ? [attempt] : step > 0 ? [0] : []), ...(step > 0 ? [step] : [])];
  return [problem, ...parts].join('#');
}

/**
 * Reads a tree of a run.
 *
 * @param path - The folder of the run.
 * @throws EspalierError `invalid-tree`, naming the file.
 */
export function readTree<State, Action>(
  { problem, read }: SavedRun['trees'][number],
  {
    path,
    codec,
  }: {
    readonly path: string | undefined;
    readonly codec: Environment<State, never>['codec'] | undefined;
  },
): SearchTree<State, Action> {
  try {
    return treeFromJson<State, Action>(read(), codec === undefined ? {} : { codec });
  } catch (cause) {
    if (!EspalierError.isInstance(cause) || cause.code !== 'invalid-tree') throw cause;
    const place = path === undefined ? '' : ` in \`${join(path, 'trees.jsonl')}\``;
    const message = `The tree of the problem ${JSON.stringify(problem)}${place}: ${cause.message}`;
    throw new EspalierError('invalid-tree', message, { cause });
  }
}
