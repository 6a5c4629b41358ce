import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { isPart, type TreeRecord, worthOf } from '../record.ts';

interface Statistic {
  visits: number;
  value: number;
}

/**
 * The search that led to an action, once more, from what the tree keeps of it: the leaves of its simulations in
 * order, up to the one that came first to the action itself.
 *
 * Each simulation starts at the parent of the action, where no visit counts yet, and takes the child with the
 * highest `Q + c · P · √N(s) / (1 + N(s, a))`, with √N taken as 1 where N(s) = Σ N(s, a) is 0, down to a node that
 * it meets for the first time or that has no children. That node brings back the score of an end, or else its
 * evaluation, and Q is the mean of what came back. Of equal children the first is taken. Actions that were never
 * taken, have failed or are duplicates are not there.
 *
 * @returns The leaves. The last one is `action`, reached or not within the limit.
 */
export function resimulate<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'tree'>,
  action: ChildNode<State, Action>,
  { c, simulations }: Readonly<Record<'c' | 'simulations', number>>,
): readonly ChildNode<State, Action>[] {
  const start = action.parent;
  const statistics = new Map<number, Statistic>();
  const leaves: ChildNode<State, Action>[] = [];
  for (let simulation = 0; simulation < simulations; simulation++) {
    const path = descend(start, statistics, c);
    const leaf = path.at(-1);
    if (leaf === undefined || leaf === action) break;
    leaves.push(leaf);
    const value = worthOf(record, leaf);
    for (const { id } of path) {
      const own = statistics.get(id) ?? { visits: 0, value: 0 };
      own.visits += 1;
      own.value += (value - own.value) / own.visits;
      statistics.set(id, own);
    }
  }
  return [...leaves, action];
}

function descend<State, Action>(
  start: SearchNode<State, Action>,
  statistics: ReadonlyMap<number, Statistic>,
  c: number,
): readonly ChildNode<State, Action>[] {
  const path: ChildNode<State, Action>[] = [];
  let node: SearchNode<State, Action> = start;
  while (node === start || statistics.has(node.id)) {
    const next = choose(node, statistics, c);
    if (next === undefined) break;
    path.push(next);
    node = next;
  }
  return path;
}

function choose<State, Action>(
  parent: SearchNode<State, Action>,
  statistics: ReadonlyMap<number, Statistic>,
  c: number,
): ChildNode<State, Action> | undefined {
  const children = parent.children.filter((child) => child.kind === 'realised' && isPart(child));
  const total = children.reduce((sum, { id }) => sum + (statistics.get(id)?.visits ?? 0), 0);
  const scale = c * Math.sqrt(Math.max(1, total));
  let best: ChildNode<State, Action> | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const child of children) {
    const { visits = 0, value = 0 } = statistics.get(child.id) ?? {};
    const score = value + (scale * child.prior) / (1 + visits);
    if (score <= highest) continue;
    best = child;
    highest = score;
  }
  return best;
}
