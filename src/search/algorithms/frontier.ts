import { Heap } from '../../base/heap.ts';

/** By what nodes are ordered: the least f, of equal ones the least h, of equal ones the first. */
export interface Priority {
  readonly f: number;
  readonly h: number;
  readonly id: number;
}

interface Entry<Node> {
  readonly node: Node;
  readonly priority: Priority;
}

/** The open nodes of a best-first search. Nodes that were pruned meanwhile are skipped. */
export class Frontier<Node extends { readonly status: string }> {
  readonly #heap = new Heap<Entry<Node>>(precedes);

  push(node: Node, priority: Priority): void {
    this.#heap.push({ node, priority });
  }

  /** Takes out the first node that is still wanted. */
  pop(): Node | undefined {
    for (let entry = this.#heap.pop(); entry !== undefined; entry = this.#heap.pop()) {
      if (entry.node.status !== 'pruned' && entry.node.status !== 'failed') return entry.node;
    }
    return undefined;
  }
}

function precedes<Node>({ priority: a }: Entry<Node>, { priority: b }: Entry<Node>): boolean {
  return (a.f - b.f || a.h - b.h || a.id - b.id) < 0;
}
