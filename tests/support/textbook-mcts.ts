/**
 * UCT and PUCT written down from the papers, on random problems of their own, against the search of this package.
 * It shares no code with it.
 *
 * What the papers leave open: among equal scores the likelier action goes first, and then the first one. Siblings
 * that turn out to be the same (equal state, equal reward) are one action with both probabilities. A state without
 * actions that is no end loses the simulation that comes to it, and is not gone to again; so does a state that only
 * leads to such.
 */
import {
  descend,
  type Environment,
  type Evaluator,
  mcts,
  type Policy,
  puct,
  type SearchNode,
  search,
  uct,
} from '../../src/index.ts';
import { numbers } from './multigraphs.ts';

/** One action: where it leads, what it brings, and how likely it is. */
interface Action {
  readonly name: string;
  readonly to: number;
  readonly reward: number | undefined;
  readonly prior: number;
}

/** A problem: what can be done in each state, what each is worth, and which are ends. */
interface Game {
  readonly actions: readonly (readonly Action[])[];
  readonly values: readonly number[];
  readonly ends: ReadonlySet<number>;
}

/** How a game is searched. */
interface Rules {
  readonly game: Game;
  readonly formula: 'puct' | 'uct';
  readonly c: number;
  readonly discount: number;
  /** Whether the state that was reached is evaluated, or the first one behind it. */
  readonly evaluate: 'leaf' | 'one';
  readonly simulations: number;
  /** Whether states can be told to be equal. */
  readonly keys: boolean;
}

/** A random game without cycles, with parallel actions, rewards on the way, and states where nothing can be done. */
export function rulesOf(seed: number): Rules {
  const next = numbers(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  const size = 8 + below(20);
  const ends = new Set([size - 1]);
  const stuck = new Set<number>();
  for (let state = 1; state < size - 1; state++) {
    const kind = next();
    if (kind < 0.15) ends.add(state);
    else if (kind < 0.25) stuck.add(state);
  }
  const actions = Array.from({ length: size }, (_, from) => {
    if (ends.has(from) || stuck.has(from)) return [];
    const count = 1 + below(4) + (from < 4 ? 1 : 0);
    const weights = Array.from({ length: count }, () => 0.05 + next());
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let to = from;
    return weights.map((weight, place): Action => {
      // Every third action leads where the one before it led.
      if (place === 0 || next() > 0.35) to = from + 1 + below(size - 1 - from);
      const reward = next() < 0.6 ? below(3) / 8 : undefined;
      return { name: `${from}.${place}`, to, reward, prior: weight / total };
    });
  });
  return {
    game: { actions, values: Array.from({ length: size }, () => next()), ends },
    formula: seed % 2 === 0 ? 'uct' : 'puct',
    c: 0.3 + 2 * next(),
    discount: [1, 0.9, 0.5, 0.99][below(4)] ?? 1,
    evaluate: next() < 0.5 ? 'leaf' : 'one',
    simulations: 5 + below(200),
    keys: next() < 0.7,
  };
}

/** N and Q of a node, by the actions that lead to it. */
export type Counts = ReadonlyMap<string, readonly [visits: number, value: number]>;

/** A node of the textbook's tree: its edge and its statistics. */
interface Leaf {
  readonly state: number;
  readonly reward: number | undefined;
  readonly above: Leaf | undefined;
  readonly name: string;
  prior: number;
  n: number;
  q: number;
  below: Leaf[] | undefined;
  isTried: boolean;
  isLost: boolean;
}

/** Runs the textbook. */
export function textbook(rules: Rules): Counts {
  const root = leafOf(undefined, { name: '', to: 0, reward: undefined, prior: 1 });
  for (let left = rules.simulations; left > 0 && !root.isLost; left--) simulate(root, rules);
  const counts = new Map<string, readonly [number, number]>();
  const open = [root];
  for (const node of open) {
    if (node.n > 0) counts.set(pathOf(node), [node.n, node.q]);
    open.push(...(node.below ?? []));
  }
  return counts;
}

function leafOf(above: Leaf | undefined, { name, to, reward, prior }: Action): Leaf {
  const fresh = { n: 0, q: 0, below: undefined, isTried: false, isLost: false };
  return { state: to, reward, above, name, prior, ...fresh };
}

function simulate(root: Leaf, rules: Rules): void {
  const { game, evaluate } = rules;
  let node = walk(root, rules);
  if (node === undefined) return;
  if (!game.ends.has(node.state)) {
    const children = (game.actions[node.state] ?? []).map((action) => leafOf(node, action));
    if (children.length === 0) {
      lose(node);
      return;
    }
    node.below = children;
    if (evaluate === 'one') {
      const likeliest = children.reduce((a, b) => (b.prior > a.prior ? b : a));
      likeliest.isTried = true;
      node = likeliest;
    }
  }
  backUp(node, rules);
}

/** From the root to a node that nothing was done at yet. */
function walk(root: Leaf, rules: Rules): Leaf | undefined {
  let node = root;
  while (node.below !== undefined) {
    // What is merged changes the probabilities: the walk begins again.
    node = tried(node, choose(node, rules), rules) ?? root;
    if (root.isLost) return undefined;
  }
  return node;
}

function backUp(leaf: Leaf, { game, discount }: Rules): void {
  const isPaid = game.ends.has(leaf.state) && leaf.reward !== undefined;
  let behind = isPaid ? 0 : (game.values[leaf.state] ?? 0);
  for (let on: Leaf | undefined = leaf; on !== undefined; on = on.above) {
    const g = on.above === undefined ? behind : (on.reward ?? 0) + discount * behind;
    on.n += 1;
    on.q += (g - on.q) / on.n;
    behind = g;
  }
}

/** argmax of the formula over the actions that are not lost. */
function choose(node: Leaf, { formula, c }: Rules): Leaf {
  const score = ({ n, q, prior }: Leaf): number => {
    if (formula === 'puct') {
      const rate = c + Math.log((node.n + 19652 + 1) / 19652);
      return q + (rate * prior * Math.sqrt(node.n)) / (1 + n);
    }
    return n === 0 ? Number.POSITIVE_INFINITY : q + c * Math.sqrt(Math.log(node.n) / n);
  };
  const [first, ...others] = (node.below ?? []).filter(({ isLost }) => !isLost);
  if (first === undefined) throw new Error('A lost node was gone to.');
  return others.reduce((a, b) => {
    const [one, other] = [score(a), score(b)];
    return other > one || (other === one && b.prior > a.prior) ? b : a;
  }, first);
}

/** The child, unless it turns out to be a sibling that was tried before: that one takes its probability over. */
function tried(node: Leaf, child: Leaf, { keys }: Rules): Leaf | undefined {
  const twin = (node.below ?? []).find(
    (other) =>
      other !== child &&
      other.isTried &&
      other.state === child.state &&
      other.reward === child.reward,
  );
  if (child.isTried || !keys || twin === undefined) {
    child.isTried = true;
    return child;
  }
  twin.prior += child.prior;
  node.below = (node.below ?? []).filter((other) => other !== child);
  loseIfEmpty(node);
  return undefined;
}

function lose(node: Leaf): void {
  node.isLost = true;
  if (node.above !== undefined) loseIfEmpty(node.above);
}

function loseIfEmpty(node: Leaf): void {
  if (node.below?.every(({ isLost }) => isLost) === true) lose(node);
}

function pathOf(node: Leaf): string {
  return node.above === undefined ? '' : `${pathOf(node.above)}/${node.name}`;
}

/** Runs the search of this package by the same rules. */
export async function searched(rules: Rules): Promise<Counts> {
  const { game, formula, c, discount, evaluate, simulations, keys } = rules;
  const environment: Environment<number, string> = {
    name: 'game',
    reset: () => ({ state: 0 }),
    step(state, name) {
      const action = game.actions[state]?.find((other) => other.name === name);
      if (action === undefined) throw new Error(`No action ${name}.`);
      const { to, reward } = action;
      return {
        state: to,
        ...(reward !== undefined && { reward }),
        ...(game.ends.has(to) && { terminal: true }),
      };
    },
    ...(keys && { key: String }),
  };
  const policy: Policy<number, string> = {
    propose: ({ state }) =>
      (game.actions[Number(state)] ?? []).map(({ name, prior }) => ({ action: name, prior })),
  };
  const evaluator: Evaluator<number, string> = {
    needs: 'realised',
    evaluate: (nodes) => nodes.map(({ state }) => ({ value: game.values[Number(state)] ?? 0 })),
  };
  const rule = formula === 'uct' ? uct({ c }) : puct({ cInit: c });
  const { tree } = await search(environment, {
    policy,
    evaluator,
    algorithm: mcts({ selection: descend(rule, { revisit: true }), evaluate }),
    discount,
    budget: { simulations },
  });
  const counts = new Map<string, readonly [number, number]>();
  for (const node of tree.nodes()) {
    if (node.visits > 0) counts.set(namesTo(node), [node.visits, node.value]);
  }
  return counts;
}

function namesTo(node: SearchNode<number, string>): string {
  return node.kind === 'root' ? '' : `${namesTo(node.parent)}/${node.action}`;
}

/** The first node at which two trees differ, in words; `undefined` where they are equal. */
export function difference(expected: Counts, actual: Counts): string | undefined {
  for (const path of new Set([...expected.keys(), ...actual.keys()])) {
    const [n, q] = expected.get(path) ?? [0, 0];
    const [visits, value] = actual.get(path) ?? [0, 0];
    if (n !== visits || Math.abs(q - value) > 1e-12) {
      return `${path === '' ? 'the root' : path}: N ${visits} for ${n}, Q ${value} for ${q}`;
    }
  }
  return undefined;
}
