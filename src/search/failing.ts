import type { CountedFailure, Failure } from '../contracts/failure.ts';
import type { SearchNode } from '../contracts/node.ts';
import { hasFailedBelow, hasFailedToGrow } from '../tree/closing.ts';
import type { SearchTree } from '../tree/tree.ts';
import type { SearchResult } from './contracts.ts';
import type { SearchSession } from './session.ts';

/** Marks a node as failed and says so. */
export function failNode<State, Action>(
  { tree, emit }: Pick<SearchSession<State, Action>, 'tree' | 'emit'>,
  node: SearchNode<State, Action>,
  failure: Failure,
): void {
  tree.fail(node, failure);
  emit?.({ type: 'node-failed', node, failure });
}

/** What came to nothing, with what did before. */
export function withLost(
  before: readonly CountedFailure[],
  failures: readonly Failure[],
): readonly CountedFailure[] {
  const lost = before.map((kind) => ({ ...kind }));
  for (const { kind, message } of failures) {
    const known = lost.find((other) => other.kind === kind);
    if (known === undefined) lost.push({ kind, message, count: 1 });
    else known.count++;
  }
  return lost;
}

/** Counts what came to nothing in a tree. What failed because all below it did is counted there. */
export function failuresOf<State, Action>(
  tree: SearchTree<State, Action>,
): SearchResult<State, Action>['failures'] {
  const kinds = new Map<Failure['kind'], number>();
  const first: Failure[] = [];
  const add = ({ kind, message }: Failure, count: number) => {
    if (!kinds.has(kind)) first.push({ kind, message });
    kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  };
  // By id: this looks at every node of every search, and a generator would be half of it.
  for (let id = 0; id < tree.size; id++) {
    const node = tree.node(id);
    const { status, failure, failedProposals: lost, failedEvaluations } = node;
    if (failure === undefined && lost.length === 0 && failedEvaluations.length === 0) continue;
    for (const one of [...lost, ...failedEvaluations]) add(one, one.count);
    // A node that goes on notes why an expansion brought nothing, or why it got no further evaluation.
    const isCounted =
      status === 'failed'
        ? hasFailedBelow(node) || hasFailedToGrow(node)
        : lost.some(({ kind }) => kind === failure?.kind);
    if (!isCounted && failure !== undefined) add(failure, 1);
  }
  const count = [...kinds.values()].reduce((sum, some) => sum + some, 0);
  return { count, kinds: Object.fromEntries(kinds), first };
}

/** Takes back what failed by itself: all of it, or what failed for a reason that may have passed. */
export function reopenFailed<State, Action>(tree: SearchTree<State, Action>, all: boolean): void {
  // Children first: a node that is complete opens only with one of its children.
  for (let id = tree.size - 1; id >= 0; id--) {
    const node = tree.node(id);
    if (node.status !== 'failed' || hasFailedBelow(node)) continue;
    if (all || node.failure?.transient === true) tree.reopen(node);
  }
}
