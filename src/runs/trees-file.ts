import { z } from 'zod';
import { isPlainObject } from '../base/json.ts';
import type { TreeJson } from '../tree/tree-json.ts';
import { readLineAt, readLines } from './json-lines.ts';

/** A finished tree, with its problem, attempt and step. */
export interface TreeEntry {
  /** The problem of the tree. */
  readonly problem: string;
  /** The index of the attempt, from 0. */
  readonly attempt: number;
  /** The step of the real world: some methods grow one tree per step. */
  readonly step: number;
  /** The tree itself. */
  readonly tree: TreeJson;
}

type StoredTree = Omit<TreeEntry, 'tree'> & { readonly read: () => TreeJson };

const count = z.int().min(0);

/** Its fields, as they are saved. */
export const entrySchema: z.ZodType<TreeEntry> = z.object({
  problem: z.string(),
  attempt: count,
  step: count,
  // Its nodes are checked when a tree is made from it.
  tree: z.custom<TreeJson>(isPlainObject, 'expected a tree'),
});

/**
 * The latest tree of each problem, attempt and step, in the order of their first appearance. Only their identities are
 * held in memory.
 *
 * @throws EspalierError `storage`, naming the line that cannot be read.
 */
export function listTrees(path: string): readonly StoredTree[] {
  const latest = new Map<string, StoredTree>();
  for (const { value, place } of readLines(path, entrySchema)) {
    const { problem, attempt, step } = value;
    const key = JSON.stringify([problem, attempt, step]);
    const read = (): TreeJson => readLineAt(path, place, entrySchema).tree;
    latest.set(key, { problem, attempt, step, read });
  }
  return [...latest.values()];
}
