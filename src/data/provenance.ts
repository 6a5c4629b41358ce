import type { NodeId, SearchNode } from '../contracts/node.ts';
import { knownValue } from '../tree/selection.ts';
import type { TreeRecord } from './record.ts';
import type { Guidance, RowProvenance } from './rows.ts';

/** Where a row comes from, given its rule, its nodes and where its completion starts. */
export function provenanceOf<State, Action>(
  record: TreeRecord<State, Action>,
  { rule, nodes, from }: RowOrigin<State, Action>,
): RowProvenance {
  const { problem, id = problem, tree, models = [], method = '' } = record;
  return {
    problem,
    tree: id,
    nodes: nodes.map((node): NodeId => node.id),
    depth: from.depth,
    visits: nodes.map(({ visits }) => visits),
    values: nodes.map(knownValue),
    parts: nodes.map(({ evaluations }) => evaluations.at(-1)?.parts ?? {}),
    models,
    method,
    rule,
    seed: String(tree.origin.seed),
    guidance: guidanceOf(record),
    stamps: [...tree.stamps].toSorted(),
  };
}

/** What a row is made of. */
export interface RowOrigin<State, Action> {
  /** The name of the rule. */
  readonly rule: string;
  /** The nodes that the row is about. */
  readonly nodes: readonly SearchNode<State, Action>[];
  /** The node whose prompt the row has. */
  readonly from: SearchNode<State, Action>;
}

/** Found once a tree: a tree that has grown since is looked at again. */
const guidances = new WeakMap<object, { readonly size: number; readonly guidance: Guidance }>();

function guidanceOf<State, Action>({ tree }: TreeRecord<State, Action>): Guidance {
  if (tree.stamps.has('oracle-guided')) return 'oracle-guided';
  const known = guidances.get(tree);
  if (known?.size === tree.size) return known.guidance;
  const isRewarded = [...tree.nodes()].some(
    ({ terminal, reward }) => terminal && reward !== undefined,
  );
  const guidance = isRewarded ? 'rewarded' : 'self-evaluated';
  guidances.set(tree, { size: tree.size, guidance });
  return guidance;
}
