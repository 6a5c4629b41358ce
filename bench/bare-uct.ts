/** A bare hand-written UCT loop on the same synthetic environment: the rival of `mcts` in `engine.ts`. */

interface BareNode {
  readonly parent: BareNode | undefined;
  readonly state: number;
  readonly depth: number;
  children: BareNode[] | undefined;
  visits: number;
  total: number;
}

export const branching = 4;
export const maxDepth = 12;

/** The state after an action: a mixed 32-bit number. */
export function nextState(state: number, action: number): number {
  const mixed = Math.imul(state ^ (action + 0x9e3779b9), 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** A value in [0, 1) that is fixed by the state. */
export function valueOf(state: number): number {
  return (Math.imul(state, 0xc2b2ae35) >>> 0) / 0x100000000;
}

function bareNode(parent: BareNode | undefined, state: number): BareNode {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  return { parent, state, depth, children: undefined, visits: 0, total: 0 };
}

/** Grows a tree by so many simulations and returns its root. */
export function bareUct(simulations: number, c: number = Math.SQRT2): BareNode {
  const root = bareNode(undefined, 1);
  for (let simulation = 0; simulation < simulations; simulation++) {
    let node = root;
    while (node.children !== undefined) {
      const logVisits = Math.log(node.visits);
      let best = node.children[0] as BareNode;
      let highest = Number.NEGATIVE_INFINITY;
      for (const child of node.children) {
        const score =
          child.visits === 0
            ? Number.POSITIVE_INFINITY
            : child.total / child.visits + c * Math.sqrt(logVisits / child.visits);
        if (score > highest) {
          highest = score;
          best = child;
        }
      }
      node = best;
    }
    if (node.depth < maxDepth) {
      const children: BareNode[] = [];
      for (let action = 0; action < branching; action++) {
        children.push(bareNode(node, nextState(node.state, action)));
      }
      node.children = children;
      node = children[0] as BareNode;
    }
    const value = valueOf(node.state);
    for (let above: BareNode | undefined = node; above !== undefined; above = above.parent) {
      above.visits += 1;
      above.total += value;
    }
  }
  return root;
}
