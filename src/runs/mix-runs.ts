import { isDeepStrictEqual } from 'node:util';
import { EspalierError } from '../base/errors.ts';
import type { TreeRecord } from '../data/record.ts';
import { splitter } from '../data/writers/split.ts';
import type { SavedRun } from './run-folder.ts';
import {
  type NotationName,
  type OwnEnvironments,
  problemsOfRun,
  type RunProblems,
} from './run-records.ts';

/** A run that rows are made from. */
export interface MixedRun {
  /** The folder. */
  readonly path: string;
  /** Its contents. */
  readonly saved: SavedRun;
  /** The share of its problems to use, above 0 and at most 1. @defaultValue 1: all */
  readonly share?: number;
  /** The environments of its problems, if they are the user's own. */
  readonly environments?: OwnEnvironments | undefined;
}

/** The trees of several runs, grouped by problem. */
export interface Mix {
  /** The names of the problems, in order. */
  readonly names: readonly string[];
  /** The trees, one problem after another. */
  readonly records: Iterable<readonly TreeRecord[]>;
}

/**
 * Combines runs. A problem of several runs has the trees of all of them, whose names then include the run. The problems
 * to use are drawn by the seed and their names, such that a smaller share is a subset of a larger one.
 *
 * @throws EspalierError `usage` if a folder does not record the problems of its trees, or problems of one name differ.
 */
export function mixRuns(
  runs: readonly MixedRun[],
  {
    notation,
    seed = 0,
  }: { readonly notation?: NotationName | undefined; readonly seed?: number | string } = {},
): Mix {
  const sources = runs.map(({ path, saved, share = 1, environments }): Source => {
    const problems = problemsOfRun(path, saved, { notation, environments });
    return { path, ...problems, taken: takenOf(problems, { share, seed }) };
  });
  expectSameProblems(sources);
  const names = [...new Set(sources.flatMap(({ taken }) => [...taken]))];
  return { names, records: recordsOf(names, sources) };
}

/** A run with its selected problems. */
interface Source extends Pick<MixedRun, 'path'>, RunProblems {
  readonly taken: ReadonlySet<string>;
}

function* recordsOf(
  names: readonly string[],
  sources: readonly Source[],
): Generator<readonly TreeRecord[], void, undefined> {
  for (const name of names) {
    yield sources
      .filter(({ taken }) => taken.has(name))
      .flatMap(({ path, read }) =>
        sources.length === 1
          ? read(name)
          : read(name).map((record) => ({ ...record, id: `${path}/${record.id ?? name}` })),
      );
  }
}

/** Uses another draw than the splits do: otherwise the selected problems would all be in the first split. */
function takenOf(
  { asked }: Pick<RunProblems, 'asked'>,
  { share, seed }: { readonly share: number; readonly seed: number | string },
): ReadonlySet<string> {
  const names = [...asked.keys()];
  const isTaken = splitter({ taken: share, left: 1 - share }, `share ${seed}`, names);
  return new Set(names.filter((name) => isTaken(name) === 'taken'));
}

function expectSameProblems(sources: readonly Source[]): void {
  const known = new Map<string, { readonly path: string; readonly problem: unknown }>();
  for (const { path, asked } of sources) {
    for (const [name, problem] of asked) {
      const other = known.get(name);
      if (other !== undefined && !isDeepStrictEqual(other.problem, problem)) {
        throw new EspalierError(
          'usage',
          `The problem ${JSON.stringify(name)} of \`${path}\` differs from that of \`${other.path}\`. Export the runs one by one, or give their problems different ids.`,
        );
      }
      known.set(name, { path, problem });
    }
  }
}
