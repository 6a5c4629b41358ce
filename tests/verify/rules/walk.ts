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

type Move = { readonly to: Raw; readonly back: number };

function movesThrough(root: Raw, targets: readonly Raw[]): readonly Move[] {
  const moves: Move[] = [];
  let here = root;
  for (const target of targets) {
    if (target === here) continue;
    // A step to an end is not told where the walk goes back from there.
    if (here.right !== undefined && moves.at(-1)?.to === here) {
      moves.pop();
      here = here.parent as Raw;
    }
    const [way, next] = [
      [root, ...wayTo(here)],
      [root, ...wayTo(target)],
    ];
    let shared = 0;
    while (shared < way.length && way[shared] === next[shared]) shared++;
    const back = way.length - shared;
    const last = moves.at(-1);
    if (back > 0 && last !== undefined && last.back > 0) moves.pop();
    const together = back + (back > 0 && last !== undefined ? last.back : 0);
    if (back > 0) moves.push({ to: next[shared - 1] as Raw, back: together });
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
  const rows = moves.map(({ to, back }, place) => {
    const words = back === 1 ? 'Go back one step.' : `Go back ${back} steps.`;
    const turn: Turn = back === 0 ? to.turn : ['assistant', words, []];
    const row = [prompt, [turn], 1, place === moves.length - 1 && to.right !== undefined];
    const shown: readonly Turn[] =
      back === 0
        ? to.context.slice((to.parent?.context.length ?? 0) + 1)
        : [['user', (to.context.at(-1) as Turn)[1], []]];
    const begun = prompt.at(-1)?.[0] === 'assistant' ? prompt.at(-1)?.[1] : undefined;
    prompt = tree.isWhole
      ? [...prompt, turn, ...shown]
      : [
          ...(begun === undefined ? prompt : prompt.slice(0, -1)),
          ['assistant', `${begun ?? ''}${turn[1]}${tree.parted}`, []],
        ];
    return row;
  });
  return unlike(rows, ([asked, completion]) => [asked, completion]);
}
