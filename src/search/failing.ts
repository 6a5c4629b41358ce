import { withCause } from '../base/failure.ts';
import { visible } from '../base/visible.ts';
import type { CountedFailure, Failure } from '../contracts/failure.ts';
import type { SearchNode } from '../contracts/node.ts';
import { hasFailedBelow, hasFailedToGrow } from '../tree/closing.ts';
import type { SearchTree } from '../tree/tree.ts';
import type { SearchResult } from './contracts.ts';
import type { SearchSession } from './session.ts';

/** Marks a node as failed and reports it. */
export function failNode<State, Action>(
  { tree, emit }: Pick<SearchSession<State, Action>, 'tree' | 'emit'>,
  node: SearchNode<State, Action>,
  failure: Failure,
): void {
  tree.fail(node, failure);
  emit?.({ type: 'node-failed', node, failure });
}

/** Adds new failures to earlier ones. */
export function withLost(
  before: readonly CountedFailure[],
  failures: readonly Failure[],
): readonly CountedFailure[] {
  const lost = before.map((kind) => withCause({ ...kind }, kind.cause));
  for (const { kind, message, cause } of failures) {
    const known = lost.find((other) => other.kind === kind);
    if (known === undefined) lost.push(withCause({ kind, message, count: 1 }, cause));
    else known.count++;
  }
  return lost;
}

/** Counts the failures in a tree. A node that failed only because everything below it did is not counted itself. */
export function failuresOf<State, Action>(
  tree: SearchTree<State, Action>,
): SearchResult<State, Action>['failures'] {
  const kinds = new Map<Failure['kind'], number>();
  const first: Failure[] = [];
  const add = ({ kind, message, cause }: Failure, count: number) => {
    if (!kinds.has(kind)) first.push(withCause({ kind, message: visible(message) }, cause));
    kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  };
  // By id: this visits every node of every search, and a generator would double its time.
  for (let id = 0; id < tree.size; id++) {
    const node = tree.node(id);
    const { status, failure, failedProposals: lost, failedEvaluations } = node;
    if (failure === undefined && lost.length === 0 && failedEvaluations.length === 0) continue;
    for (const one of [...lost, ...failedEvaluations]) add(one, one.count);
    // A node that is still in use notes why an expansion yielded nothing, or why a further evaluation failed.
    const isCounted =
      status === 'failed'
        ? hasFailedBelow(node) || hasFailedToGrow(node)
        : lost.some(({ kind }) => kind === failure?.kind);
    if (!isCounted && failure !== undefined) add(failure, 1);
  }
  const count = [...kinds.values()].reduce((sum, some) => sum + some, 0);
  return { count, kinds: Object.fromEntries(kinds), first };
}

/** Reopens nodes that failed themselves: all of them, or those with a transient failure. */
export function reopenFailed<State, Action>(tree: SearchTree<State, Action>, all: boolean): void {
  // Children first: a complete node reopens only with one of its children.
  for (let id = tree.size - 1; id >= 0; id--) {
    const node = tree.node(id);
    if (node.status !== 'failed' || hasFailedBelow(node)) continue;
    if (all || node.failure?.transient === true) tree.reopen(node);
  }
}
