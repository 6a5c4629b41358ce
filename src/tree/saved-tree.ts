import type { Codec } from '../contracts/json.ts';
import type { NodeId } from '../contracts/node.ts';
import type { Conclusion } from './conclusion.ts';
import { nodeToJson, type TreeNode } from './node.ts';
import type { SimulationLog } from './simulation-log.ts';
import { type TreeJson, treeVersion } from './tree-json.ts';

/** What is saved of a tree. */
interface Saved<State, Action> extends Pick<TreeJson, 'discount' | 'rule' | 'simulations'> {
  readonly handedBack: number;
  readonly origin: Pick<TreeJson, 'environment' | 'seed'>;
  readonly stamps: ReadonlySet<string>;
  readonly cursor: { readonly id: NodeId };
  readonly preferred: { readonly id: NodeId } | undefined;
  readonly conclusion: Conclusion<State, Action> | undefined;
  readonly log: SimulationLog;
  readonly size: number;
  mutable(id: NodeId): TreeNode<State, Action>;
}

/** A tree as it is saved. */
export function savedTree<State, Action>(
  tree: Saved<State, Action>,
  codec: Codec<State> | undefined,
): TreeJson {
  const { origin, stamps, simulations, handedBack, discount, rule } = tree;
  const { cursor, preferred, conclusion, log, size } = tree;
  return {
    format: 'espalier-tree',
    version: treeVersion,
    environment: origin.environment,
    seed: origin.seed,
    stamps: [...stamps],
    simulations,
    ...(handedBack > 0 && { handedBack }),
    ...(discount !== 1 && { discount }),
    ...(rule !== undefined && { rule }),
    cursor: cursor.id,
    ...(preferred !== undefined && { preferred: preferred.id }),
    ...(conclusion !== undefined && {
      conclusion: { ...conclusion, node: conclusion.node.id },
    }),
    ...(log.size > 0 && { log: log.toJSON() }),
    nodes: Array.from({ length: size }, (_, id) => nodeToJson(tree.mutable(id), codec)),
  };
}
