/** The rival of `mcts` in `engine.ts`: a bare hand-written UCT loop, without promises, budgets or events. */

/** A node of the bare tree. */
export interface BareNode {
  readonly parent: BareNode | undefined;
  readonly state: number;
  readonly depth: number;
  children: readonly BareNode[];
  visits: number;
  total: number;
}

/** The synthetic environment of both: four actions, twelve levels. */
export const branching = 4;
export const maxDepth = 12;

/** The state after an action: a mixed 31-bit number, which the engine stores without a box. */
export function nextState(state: number, action: number): number {
  const mixed = Math.imul(state ^ (action + 0x9e3779b9), 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 1;
}

/** A value in [0, 1) that is fixed by the state. */
export function valueOfState(state: number): number {
  return (Math.imul(state, 0xc2b2ae35) >>> 0) / 0x100000000;
}

/** Grows a tree by so many simulations and returns its root. */
export function bareUct(simulations: number, c: number = Math.SQRT2): BareNode {
  const root = bareNode(undefined, 1);
  for (let simulation = 0; simulation < simulations; simulation++) {
    const leaf = select(root, c);
    const node = leaf.depth < maxDepth ? expand(leaf) : leaf;
    backup(node, valueOfState(node.state));
  }
  return root;
}

const none: readonly BareNode[] = [];

function bareNode(parent: BareNode | undefined, state: number): BareNode {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  return { parent, state, depth, children: none, visits: 0, total: 0 };
}

function select(root: BareNode, c: number): BareNode {
  let node = root;
  while (node.children.length > 0) {
    const logVisits = Math.log(node.visits);
    let best = node;
    let highest = Number.NEGATIVE_INFINITY;
    for (const child of node.children) {
      const { visits } = child;
      if (visits === 0) {
        best = child;
        break;
      }
      const score = child.total / visits + c * Math.sqrt(logVisits / visits);
      if (score > highest) {
        highest = score;
        best = child;
      }
    }
    node = best;
  }
  return node;
}

function expand(leaf: BareNode): BareNode {
  const first = bareNode(leaf, nextState(leaf.state, 0));
  const children = [first];
  for (let action = 1; action < branching; action++) {
    children.push(bareNode(leaf, nextState(leaf.state, action)));
  }
  leaf.children = children;
  return first;
}

function backup(node: BareNode, value: number): void {
  for (let above: BareNode | undefined = node; above !== undefined; above = above.parent) {
    above.visits += 1;
    above.total += value;
  }
}
