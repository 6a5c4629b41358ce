import {
  type Random,
  type SearchAlgorithm,
  type SearchContext,
  type SearchNode,
  type SearchTree,
  type SelectionRule,
  type Simulation,
  uct,
} from '../../src/index.ts';
import { isClosed } from '../../src/tree/selection.ts';

/** The five classic bugs of the field. */
export const classicBugs = [
  'select never descends below the root',
  'value of one child given to another',
  'backup stops at the parent',
  'root statistics reused for the next problem',
  'unvisited node picked for ever',
] as const;

/** One of the five classic bugs. */
export type ClassicBug = (typeof classicBugs)[number];

/** UCT written down once more, with one of the classic bugs or with none. */
export function textbookUct(bug?: ClassicBug): SearchAlgorithm {
  const kept = { visits: 0, value: 0 };
  return {
    name: 'textbook-uct',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run<State, Action>(
      tree: SearchTree<State, Action>,
      context: SearchContext<State, Action>,
    ): Promise<void> {
      const root = tree.mutable(0);
      if (bug === 'root statistics reused for the next problem' && root.visits === 0) {
        Object.assign(root, kept);
      }
      await context.simulate(async (simulation) => {
        const node = await grow(tree, context, { simulation, bug });
        if (node.status !== 'failed') backup(tree, node, bug);
        return tree.root.status === 'failed' ? 'exhausted' : 'continue';
      });
      kept.visits = root.visits;
      kept.value = root.value;
    },
  };
}

/** Selects, expands and evaluates. */
async function grow<State, Action>(
  tree: SearchTree<State, Action>,
  context: SearchContext<State, Action>,
  { simulation, bug }: { simulation: Simulation<State, Action>; bug: ClassicBug | undefined },
): Promise<SearchNode<State, Action>> {
  const leaf = simulation.visit(select(tree.root, simulation.random, bug));
  await context.realise([leaf]);
  const children = leaf.status === 'open' ? await context.expand(leaf) : [];
  const fewest = Math.min(...children.map(tries));
  const node = simulation.visit(children.find((child) => tries(child) === fewest) ?? leaf);
  await context.evaluate([node]);
  if (bug === 'value of one child given to another') await context.evaluate(siblingsOf(node));
  return node.status === 'pruned' ? tree.original(node) : node;
}

function select<State, Action>(
  root: SearchNode<State, Action>,
  random: Random,
  bug: ClassicBug | undefined,
): SearchNode<State, Action> {
  const rule: SelectionRule = uct();
  let node = root;
  while (node.children.length > 0) {
    const score = rule(node, random);
    const isChoosable = (child: SearchNode) =>
      !isClosed(child, true) || bug === 'unvisited node picked for ever';
    const scores = node.children.filter(isChoosable).map((child) => ({ child, own: score(child) }));
    const [first] = scores.toSorted((a, b) => b.own - a.own || a.child.id - b.child.id);
    if (first === undefined) break;
    node = first.child;
    if (bug === 'select never descends below the root') break;
  }
  return node;
}

function backup<State, Action>(
  tree: SearchTree<State, Action>,
  leaf: SearchNode<State, Action>,
  bug: ClassicBug | undefined,
): void {
  const source =
    bug === 'value of one child given to another' ? (siblingsOf(leaf).at(-1) ?? leaf) : leaf;
  const target = source.reward ?? source.rawValue ?? 0;
  const last = bug === 'backup stops at the parent' ? leaf.parent : undefined;
  for (let node: SearchNode<State, Action> | undefined = leaf; node; node = node.parent) {
    const own = tree.mutable(node.id);
    own.visits += 1;
    own.value += (target - own.value) / own.visits;
    if (node === last) break;
  }
}

function siblingsOf<State, Action>(
  node: SearchNode<State, Action>,
): readonly SearchNode<State, Action>[] {
  return node.parent?.children.filter((child) => child !== node) ?? [];
}

function tries({ visits, inFlight }: SearchNode): number {
  return visits + inFlight;
}
