import { EspalierError } from '../spec/errors.ts';
import type { TreeJson } from '../tree/serialize.ts';
import { readLineAt, readLines } from './json-lines.ts';

/** What a tree belongs to. */
export interface TreeKey {
  /** The problem that the tree is about. */
  readonly problem: string;
  /** Which attempt at it, from 0. */
  readonly attempt: number;
  /** Which step of the real world: some methods grow one tree a step. */
  readonly step: number;
}

/** A finished tree and what it belongs to. */
export interface TreeEntry extends TreeKey {
  /** The tree itself. */
  readonly tree: TreeJson;
}

/** A tree that lies in a file. */
export interface StoredTree extends TreeKey {
  /** Reads it. */
  read(): TreeEntry;
}

/**
 * The latest tree of each problem, attempt and step, in the order of their first appearance. Only what they
 * belong to is held in memory.
 *
 * @throws EspalierError `invalid-tree` for a line that is no JSON.
 */
export function listTrees(path: string): readonly StoredTree[] {
  const latest = new Map<string, StoredTree>();
  for (const { text, number, offset } of readLines(path)) {
    const { problem, attempt, step } = parseEntry(path, text, number);
    const key = JSON.stringify([problem, attempt, step]);
    const read = (): TreeEntry => parseEntry(path, readLineAt(path, offset), number);
    latest.set(key, { problem, attempt, step, read });
  }
  return [...latest.values()];
}

function parseEntry(path: string, line: string, number: number): TreeEntry {
  try {
    return JSON.parse(line) as TreeEntry;
  } catch (cause) {
    throw new EspalierError('invalid-tree', `Line ${number} of \`${path}\` is not JSON.`, {
      cause,
    });
  }
}
