import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import type { Paths } from '../paths.ts';
import { isPart, type TreeRecord, worthOf } from '../record.ts';

interface Statistic {
  visits: number;
  value: number;
}

/** Equal steps behind one prompt, as one action of the search. */
interface Choice<State, Action> {
  /** The first of them that is no duplicate. */
  readonly node: ChildNode<State, Action>;
  /** P, what all of them have. */
  prior: number;
}

/**
 * Repeats the search that led to an action from the data that the tree keeps: the leaves of its simulations in order,
 * up to the one that came first to the action itself.
 *
 * Each simulation starts at the parent of the action, where no visit counts yet, and takes the child with the highest
 * `Q + c · P · √N(s) / (1 + N(s, a))`, with √N taken as 1 where N(s) = Σ N(s, a) is 0, down to a node that it meets for
 * the first time or that has no children. That node returns the score of an end, or otherwise its evaluation, and Q is
 * the mean of the returned values. Among equal children the first is taken. Actions that were never taken or have
 * failed are left out. Equal steps are one action, with the nodes below any of them.
 *
 * @returns The leaves. The last one is `action`, reached or not within the limit.
 */
export function resimulate<State, Action>(
  record: Pick<TreeRecord<State, Action>, 'tree'>,
  action: ChildNode<State, Action>,
  { paths, c, simulations }: SimulationOptions<State, Action>,
): readonly ChildNode<State, Action>[] {
  const start = action.parent;
  const statistics = new Map<number, Statistic>();
  const leaves: ChildNode<State, Action>[] = [];
  for (let simulation = 0; simulation < simulations; simulation++) {
    const path = descend(start, statistics, { paths, c });
    const leaf = path.at(-1);
    if (leaf === undefined || paths.stepOf(leaf) === paths.stepOf(action)) break;
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

interface SimulationOptions<State, Action> {
  readonly paths: Paths<State, Action>;
  readonly c: number;
  readonly simulations: number;
}

function descend<State, Action>(
  start: SearchNode<State, Action>,
  statistics: ReadonlyMap<number, Statistic>,
  { paths, c }: Omit<SimulationOptions<State, Action>, 'simulations'>,
): readonly ChildNode<State, Action>[] {
  const path: ChildNode<State, Action>[] = [];
  let node: SearchNode<State, Action> = start;
  while (node === start || statistics.has(node.id)) {
    const next = choose(choicesAt(node, paths), statistics, c);
    if (next === undefined) break;
    path.push(next);
    node = next;
  }
  return path;
}

/** The steps that were taken from a place. The priors of each node that shares it sum to 1, and those of its steps too. */
function choicesAt<State, Action>(
  node: SearchNode<State, Action>,
  { below, stepOf }: Paths<State, Action>,
): readonly Choice<State, Action>[] {
  const siblings = below(node);
  const parents = new Set(siblings.map(({ parent }) => parent)).size;
  const choices = new Map<SearchNode<State, Action>, Choice<State, Action>>();
  for (const child of siblings) {
    if (child.kind !== 'realised' || !isPart(child)) continue;
    const step = stepOf(child);
    const choice = choices.get(step) ?? { node: child, prior: 0 };
    choice.prior += child.prior / parents;
    choices.set(step, choice);
  }
  return [...choices.values()];
}

function choose<State, Action>(
  choices: readonly Choice<State, Action>[],
  statistics: ReadonlyMap<number, Statistic>,
  c: number,
): ChildNode<State, Action> | undefined {
  const total = choices.reduce((sum, { node }) => sum + (statistics.get(node.id)?.visits ?? 0), 0);
  const scale = c * Math.sqrt(Math.max(1, total));
  let best: ChildNode<State, Action> | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const { node, prior } of choices) {
    const { visits = 0, value = 0 } = statistics.get(node.id) ?? {};
    const score = value + (scale * prior) / (1 + visits);
    if (score <= highest) continue;
    best = node;
    highest = score;
  }
  return best;
}
