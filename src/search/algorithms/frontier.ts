import { Heap } from '../../base/heap.ts';

/** The order of nodes: smallest f first, ties by smallest h, then by lowest id. */
export interface Priority {
  readonly f: number;
  readonly h: number;
  readonly id: number;
}

interface Entry<Node> {
  readonly node: Node;
  readonly priority: Priority;
}

/** The open nodes of a best-first search. Nodes that have been pruned in the meantime are skipped. */
export class Frontier<Node extends { readonly status: string }> {
  readonly #heap = new Heap<Entry<Node>>(precedes);

  push(node: Node, priority: Priority): void {
    this.#heap.push({ node, priority });
  }

  /** Removes and returns the first node that is still open. */
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
