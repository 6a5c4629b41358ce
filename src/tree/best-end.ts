import type { SearchNode } from '../contracts/node.ts';
import { promiseOf, scoreOf } from './summary.ts';

/** The parts of a tree that decide which end is best. */
interface Ends<State, Action> {
  readonly cursor: SearchNode<State, Action>;
  readonly discount: number;
  nodes(): Iterable<SearchNode<State, Action>>;
}

/** Keeps track of the best terminal node or answer at or below the cursor while a tree grows. */
export class BestEnd<State, Action> {
  readonly #tree: Ends<State, Action>;
  #best: Scored<State, Action> | undefined;
  readonly #unscored = new Set<SearchNode<State, Action>>();

  constructor(tree: Ends<State, Action>) {
    this.#tree = tree;
  }

  /** The end with the highest score. */
  get node(): SearchNode<State, Action> | undefined {
    return this.#best?.node;
  }

  /**
   * Of the ends that were not evaluated, such as when the budget ended before, the one whose parent promises most; ties go
   * to the higher prior, then to the first.
   */
  get unscored(): SearchNode<State, Action> | undefined {
    const { cursor, discount } = this.#tree;
    let best: Scored<State, Action> | undefined;
    for (const node of this.#unscored) {
      if (node.status === 'pruned' || isLost(node) || !isAtOrBelow(node, cursor)) continue;
      const candidate = { node, score: promiseOf(node.parent ?? node, discount) };
      if (best === undefined || promisesMore(candidate, best)) best = candidate;
    }
    return best?.node;
  }

  /** Considers a node that has changed. */
  consider(node: SearchNode<State, Action>): void {
    if ((!node.terminal && !node.answer) || node.status === 'pruned') return;
    if (!isAtOrBelow(node, this.#tree.cursor)) return;
    const score = scoreOf(node, this.#tree.discount);
    if (score === undefined) {
      this.#unscored.add(node);
      return;
    }
    this.#unscored.delete(node);
    const best = this.#best;
    if (best === undefined || precedes({ node, score }, best)) {
      this.#best = { node, score };
    } else if (best.node === node && score < best.score) {
      // The score of the best end has dropped: another one may now be better.
      this.reconsider();
    }
  }

  /** Starts over: the best end may have changed or become unreachable. */
  reconsider(): void {
    this.#best = undefined;
    for (const node of this.#tree.nodes()) this.consider(node);
  }
}

/** Whether the evaluation of an end failed. An answer that only could not be continued is not lost. */
export function isLost(node: SearchNode): boolean {
  if (node.status !== 'failed' || scoreOf(node, 1) !== undefined) return false;
  return node.children.length === 0 && node.failedProposals.length === 0;
}

/** Whether a node is below another one of the same tree, or the same node. */
export function isAtOrBelow(node: SearchNode, above: SearchNode): boolean {
  let current: SearchNode | undefined = node;
  while (current !== undefined && current.depth > above.depth) current = current.parent;
  return current === above;
}

interface Scored<State, Action> {
  readonly node: SearchNode<State, Action>;
  readonly score: number;
}

/** Equal scores are ordered by depth, then by position. */
function precedes(a: Scored<unknown, unknown>, b: Scored<unknown, unknown>): boolean {
  return (b.score - a.score || a.node.depth - b.node.depth || a.node.id - b.node.id) < 0;
}

/** Equal promises are ordered by prior, then by position. */
function promisesMore(a: Scored<unknown, unknown>, b: Scored<unknown, unknown>): boolean {
  return (b.score - a.score || b.node.prior - a.node.prior || a.node.id - b.node.id) < 0;
}
