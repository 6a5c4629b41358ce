import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import type { SearchTree } from '../../tree/tree.ts';
import { pathsIn } from '../paths.ts';
import type { TreeRecord } from '../record.ts';

/**
 * Sets aside each sibling that says the same as an earlier one, as a search does. The nodes below it stay: they were
 * reached.
 *
 * @param keyed - The siblings in order, with their texts; of equal ones the first is kept.
 */
export function mergeTwins<State, Action>(
  tree: SearchTree<State, Action>,
  keyed: readonly (readonly [key: string, node: ChildNode<State, Action>])[],
): void {
  const first = new Map<string, ChildNode<State, Action>>();
  for (const [key, node] of keyed) {
    const twin = first.get(key);
    if (twin === undefined) first.set(key, node);
    else tree.merge(node, twin);
  }
}

/** A node with the data that a file gives for it. */
export interface Valued<State, Action> {
  readonly node: SearchNode<State, Action>;
  /** `undefined` where the file gives none. */
  readonly value: number | undefined;
}

/**
 * Gives each step one value, as one prefix has one: of nodes that are the same step, the mean of their values, each
 * weighed by the leaves at and below its node.
 *
 * @param valued - All nodes, parents before their children.
 */
export function evaluateSteps<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'notation' | 'tree'>,
  valued: readonly Valued<State, Action>[],
): void {
  const { stepOf } = pathsIn(record);
  const leaves: number[] = [];
  const samples = new Map<SearchNode<State, Action>, Sample[]>();
  for (const { node, value } of valued.toReversed()) {
    const own = leaves[node.id] ?? 1;
    if (node.kind !== 'root') leaves[node.parent.id] = (leaves[node.parent.id] ?? 0) + own;
    if (value === undefined) continue;
    const known = samples.get(stepOf(node)) ?? [];
    known.push({ value, leaves: own });
    samples.set(stepOf(node), known);
  }
  for (const { node } of valued) {
    const known = samples.get(stepOf(node));
    if (known !== undefined) record.tree.addEvaluation(node, { value: pooled(known) });
  }
}

interface Sample {
  readonly value: number;
  readonly leaves: number;
}

/** Equal values stay unchanged, to the last digit. */
function pooled(samples: readonly Sample[]): number {
  const [{ value: first } = { value: 0 }] = samples;
  if (samples.every(({ value }) => value === first)) return first;
  const total = samples.reduce((sum, { value, leaves }) => sum + leaves * value, 0);
  return total / samples.reduce((sum, { leaves }) => sum + leaves, 0);
}
