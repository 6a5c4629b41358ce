import { isPlainObject } from '../base/json.ts';

/**
 * A tree of version 1 in the present form. There, what an algorithm knew of a node stood among the annotations of users,
 * and the tree did not say what an evaluation is about: a node that was evaluated and never stepped to, in a tree that has
 * returns of simulations, tells that it was the action.
 *
 * What is not of that form is left as it is, for the reader to complain of.
 */
export function fromVersion1(tree: unknown): unknown {
  if (!isPlainObject(tree) || !Array.isArray(tree['nodes'])) return tree;
  const nodes = tree['nodes'].map((node) => (isPlainObject(node) ? node : {}));
  const hasOutcomes = nodes.some(({ annotations }) => 'outcome' in Object(annotations));
  const isOfAction =
    hasOutcomes && nodes.some(({ evaluation, state }) => evaluation && state === undefined);
  return {
    ...tree,
    version: 2,
    nodes: tree['nodes'].map((node: unknown) =>
      isPlainObject(node) ? nodeFromVersion1(node, isOfAction) : node,
    ),
  };
}

type Loose = Readonly<Record<string, unknown>>;

function nodeFromVersion1({ evaluation, annotations, ...node }: Loose, isOfAction: boolean): Loose {
  const { outcome, duplicateOf, failedProposals, lost, g, h, otherCosts, ...others } = Object(
    annotations,
  ) as Loose;
  const { simulationsBefore, ...kept } = others;
  const about = isOfAction && { about: 'action' };
  const notes = {
    ...(g !== undefined && { astar: { g, h, ...(otherCosts !== undefined && { otherCosts }) } }),
    ...(simulationsBefore !== undefined && { stepwise: { simulationsBefore } }),
  };
  return {
    ...node,
    ...(node['status'] === 'solved' && { status: 'closed' }),
    ...(node['status'] === 'pruned' && { pruned: reasonOf({ duplicateOf, g, h }) }),
    ...(evaluation !== undefined && { evaluations: [{ ...Object(evaluation), ...about }] }),
    ...(outcome !== undefined && { outcome }),
    ...(duplicateOf !== undefined && { duplicateOf }),
    ...(lost !== undefined && { failedProposals: lost }),
    ...(Object.keys(notes).length > 0 && { notes }),
    ...(Object.keys(kept).length > 0 && { annotations: kept }),
  };
}

function reasonOf({ duplicateOf, g, h }: Loose): string {
  if (duplicateOf !== undefined) return 'duplicate';
  if (g === undefined) return 'other';
  return h === null ? 'hopeless' : 'dominated';
}
