/** Exploratory learning as its paper says: the search before each action of the best path, run once more by PUCT. */
import { bestOf, unlike } from './loops.ts';
import { type Raw, type RawTree, type Turn, wayTo } from './raw.ts';

interface Seen {
  visits: number;
  total: number;
}

const worthOf = ({ right, estimate, q }: Raw): number =>
  right === undefined ? (estimate ?? q) : Number(right);

/** The leaves of at most 50 simulations from the parent of an action, the last of which is the action. */
function leavesBefore(action: Raw): readonly Raw[] {
  const start = action.parent as Raw;
  const seen = new Map<Raw, Seen>();
  const leaves: Raw[] = [];
  for (let simulation = 0; simulation < 50; simulation++) {
    const path: Raw[] = [];
    for (let at = start; at === start || seen.has(at); ) {
      const children = at.children.filter(({ twinOf }) => twinOf === undefined);
      const total = children.reduce((sum, child) => sum + (seen.get(child)?.visits ?? 0), 0);
      const scores = children.map((child) => {
        const { visits, total: sum } = seen.get(child) ?? { visits: 0, total: 0 };
        const value = visits === 0 ? 0 : sum / visits;
        return value + (Math.sqrt(Math.max(1, total)) * child.prior) / (1 + visits);
      });
      const next = children[scores.indexOf(Math.max(...scores))];
      if (next === undefined) break;
      path.push(next);
      at = next;
    }
    const leaf = path.at(-1) as Raw;
    if (leaf === action) break;
    leaves.push(leaf);
    for (const node of path) {
      const own = seen.get(node) ?? { visits: 0, total: 0 };
      seen.set(node, { visits: own.visits + 1, total: own.total + worthOf(leaf) });
    }
  }
  return [...leaves, action];
}

interface Move {
  readonly to: Raw;
  /** How many steps back it goes; 0 for a step forward. */
  readonly back: number;
}

function movesThrough(root: Raw, targets: readonly Raw[]): readonly Move[] {
  const moves: Move[] = [];
  let here = root;
  for (const target of targets.filter((one, place) => one !== targets[place - 1])) {
    // A step to an end is not told where the walk goes back from there.
    if (here.right !== undefined && moves.at(-1)?.to === here) {
      moves.pop();
      here = here.parent as Raw;
    }
    const [way, next] = [
      [root, ...wayTo(here)],
      [root, ...wayTo(target)],
    ];
    const shared = way.filter((node, place) => node === next[place]).length;
    if (shared < way.length) {
      const last = moves.at(-1)?.back ?? 0;
      if (last > 0) moves.pop();
      moves.push({ to: next[shared - 1] as Raw, back: way.length - shared + last });
    }
    for (const to of next.slice(shared)) moves.push({ to, back: 0 });
    here = target;
  }
  return moves;
}

export function walk(tree: RawTree): readonly (readonly unknown[])[] {
  const way = wayTo(bestOf(tree) as Raw);
  const moves = movesThrough(tree.root, way.flatMap(leavesBefore));
  if (moves.length > 35) return [];
  let prompt = tree.root.context;
  const rows = moves.map((move, place) => {
    const turn = turnOf(move);
    const isLast = place === moves.length - 1 && move.to.right !== undefined;
    const row = [prompt, [turn], 1, isLast];
    prompt = tree.isWhole ? [...prompt, turn, ...shownAfter(move)] : written(prompt, turn, tree);
    return row;
  });
  return unlike(rows, ([asked, completion]) => [asked, completion]);
}

function turnOf({ to, back }: Move): Turn {
  if (back === 0) return to.turn;
  return ['assistant', back === 1 ? 'Go back one step.' : `Go back ${back} steps.`, []];
}

/** What the tool answered, or what was shown last where the walk goes back to. */
function shownAfter({ to, back }: Move): readonly Turn[] {
  if (back === 0) return to.context.slice((to.parent?.context.length ?? 0) + 1);
  return [['user', (to.context.at(-1) as Turn)[1], []]];
}

/** All that was said so far as one turn of the assistant. */
function written(prompt: readonly Turn[], turn: Turn, { root, parted }: RawTree): readonly Turn[] {
  const [, begun = ''] = prompt[root.context.length] ?? [];
  return [...root.context, ['assistant', `${begun}${turn[1]}${parted}`, []]];
}
