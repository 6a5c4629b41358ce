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

/** A binary heap: the open nodes of a best-first search. Nodes that were pruned meanwhile are skipped. */
export class Frontier<Node extends { readonly status: string }> {
  readonly #heap: Entry<Node>[] = [];

  push(node: Node, priority: Priority): void {
    const heap = this.#heap;
    const entry = { node, priority };
    let hole = heap.length;
    heap.push(entry);
    while (hole > 0) {
      const above = (hole - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !precedes(entry, parent)) break;
      heap[hole] = parent;
      hole = above;
    }
    heap[hole] = entry;
  }

  /** Takes out the first node that is still wanted. */
  pop(): Node | undefined {
    for (let entry = this.#popEntry(); entry !== undefined; entry = this.#popEntry()) {
      if (entry.node.status !== 'pruned' && entry.node.status !== 'failed') return entry.node;
    }
    return undefined;
  }

  #popEntry(): Entry<Node> | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let hole = 0;
    for (;;) {
      const below = this.#lesserChild(hole);
      const child = heap[below];
      if (child === undefined || !precedes(child, last)) break;
      heap[hole] = child;
      hole = below;
    }
    heap[hole] = last;
    return first;
  }

  #lesserChild(index: number): number {
    const left = 2 * index + 1;
    const [a, b] = [this.#heap[left], this.#heap[left + 1]];
    return a !== undefined && b !== undefined && precedes(b, a) ? left + 1 : left;
  }
}

function precedes<Node>({ priority: a }: Entry<Node>, { priority: b }: Entry<Node>): boolean {
  return (a.f - b.f || a.h - b.h || a.id - b.id) < 0;
}
