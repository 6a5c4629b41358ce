import type { NodeStatistics, SearchNode } from '../../contracts/node.ts';
import { mostPromising } from '../../tree/final-choice.ts';
import { answersLeft, type Funds } from '../../tree/funds.ts';
import { leastTried, subtree } from '../../tree/selection.ts';
import type { SimulationLog } from '../../tree/simulation-log.ts';
import { promiseOf } from '../../tree/summary.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchContext, Simulation } from '../contracts.ts';

const units = ['calls', 'tokens', 'usd'] as const;

/** What is left of a unit. */
interface UnitFunds extends Funds {
  readonly unit: (typeof units)[number];
}

/** Returns what is left of calls, tokens and dollars, as far as they are limited, the scarcest first. */
export type Purse = () => readonly UnitFunds[];

/**
 * Returns a function that computes what is left of calls, tokens and dollars, as far as they are limited, the scarcest
 * first. A step is estimated at the mean cost of a call of this search so far. Until there is an answer, 1.5 times the
 * cost of one is reserved, because a call reserves more than it uses.
 */
export function purseOf<State, Action>(
  tree: SearchTree<State, Action>,
  context: SearchContext<State, Action>,
): Purse {
  const whole = context.remaining;
  const before = tree.log.size;
  const limited = units.filter((unit) => Number.isFinite(whole[unit]));
  return () => {
    if (limited.length === 0) return [];
    const remaining = context.remaining;
    const depth = depthOfAnswers(tree);
    const { calls, dearest } = callsSince(tree.log, before);
    const funds = limited.map((unit): UnitFunds => {
      const left = remaining[unit];
      const step = (whole[unit] - left) / Math.max(1, calls);
      const reserve = tree.bestTerminal === undefined ? 1.5 * step * depth : 0;
      const simulation = step * dearest;
      return { unit, left, whole: whole[unit], step, depth, simulation, reserve };
    });
    const answers = (each: Funds) => answersLeft(each, 0);
    return funds.sort((a, b) => (answers(a) < answers(b) ? -1 : 1));
  };
}

/** The number of calls that simulations have made since, and the largest number that one of them made. */
function callsSince(log: SimulationLog, before: number) {
  let [calls, dearest, place] = [0, 0, 0];
  for (const logged of log) {
    if (place++ < before) continue;
    calls += logged.calls;
    dearest = Math.max(dearest, logged.calls);
  }
  return { calls, dearest };
}

/**
 * Returns a function that tells whether one of `parts` equal parts of what is left now is spent in any unit, ignoring a
 * remainder too small for a simulation.
 */
export function partSpent(purse: Purse, parts: number): () => boolean {
  const begun = purse();
  const ends = new Map(
    begun.map(({ unit, left, reserve }) => [unit, left - (left - reserve) / parts]),
  );
  return () =>
    purse().some(({ unit, left, simulation }) => left <= simulation + (ends.get(unit) ?? 0));
}

/** The mean depth of ends and answers below the cursor; before there is one, that of the deepest node. */
function depthOfAnswers<State, Action>(tree: SearchTree<State, Action>): number {
  let [deepest, sum, count] = [0, 0, 0];
  for (const { depth, terminal, answer } of subtree(tree.cursor)) {
    deepest = Math.max(deepest, depth - tree.cursor.depth);
    if (!terminal && !answer) continue;
    sum += depth - tree.cursor.depth;
    count++;
  }
  return count === 0 ? deepest : sum / count;
}

/** What the continuation of a path needs. */
export interface Walk<State, Action> {
  readonly tree: SearchTree<State, Action>;
  readonly context: SearchContext<State, Action>;
  /** The longest path, in edges from the root. */
  readonly maxDepth: number;
}

/**
 * The first simulation, which learns what a step costs: if little is left then, it continues to an end, one sample per
 * step, and evaluates nothing on the way.
 */
export async function openPath<State, Action>(
  walk: Walk<State, Action>,
  count: number,
  isScarce: () => boolean,
): Promise<void> {
  const { tree, context } = walk;
  await context.simulate(
    async (simulation) => {
      const children = await context.expand(tree.cursor, { count, widening: isLeaf });
      const scarce = isScarce();
      if (!scarce) await context.evaluate(children);
      const first = leastTried(
        children.map((child) => tree.original(child)),
        tree,
      );
      if (first === undefined) return 'continue';
      const node = await goOn(walk, simulation.visit(first), { simulation, toEnd: scarce });
      if (node.status !== 'failed') tree.backup(node);
      return 'continue';
    },
    { name: 'open', limit: 1, exhausts: 'round' },
  );
}

/**
 * Follows the most promising open path to its end, one sample per step, then the next, until no call is affordable or
 * nothing is open.
 */
export async function finishPaths<State, Action>(walk: Walk<State, Action>): Promise<void> {
  const { tree, context } = walk;
  await context.simulate(
    async (simulation) => {
      const start = nextLeaf(tree);
      if (start === undefined) return 'exhausted';
      const node = await goOn(walk, simulation.visit(start), { simulation, toEnd: true });
      if (node.status === 'open') tree.complete(node);
      if (node.status !== 'failed') tree.backup(node);
      return 'continue';
    },
    { name: 'finish', exhausts: 'round' },
  );
}

/** Evaluates a node, or continues from it with one sample per step and evaluates the end. */
async function goOn<State, Action>(
  { tree, context, maxDepth }: Walk<State, Action>,
  start: SearchNode<State, Action>,
  given: { readonly simulation: Simulation<State, Action>; readonly toEnd: boolean },
): Promise<SearchNode<State, Action>> {
  await context.realise([start]);
  // The step may have led to the same state as a sibling.
  let node = given.simulation.visit(tree.original(start));
  while (node.status === 'open' && node.depth < maxDepth && given.toEnd) {
    const [child] = await context.expand(node, { count: 1, widening: isLeaf });
    if (child === undefined) break;
    await context.realise([child]);
    node = given.simulation.visit(tree.original(child));
  }
  await context.evaluate([node]);
  return node;
}

/** The most promising open leaf with no simulation in flight, ties going to the deepest. */
function nextLeaf<State, Action>(
  tree: SearchTree<State, Action>,
): SearchNode<State, Action> | undefined {
  const leaves = [...subtree(tree.cursor)].filter(
    (node) => node.status === 'open' && isLeaf(node) && node.inFlight === 0,
  );
  return mostPromising(leaves, (leaf) => promiseOf(leaf, tree.discount));
}

/** Whether a node has no children. Until it has some, it may be expanded again. */
export function isLeaf({ children }: NodeStatistics): boolean {
  return children.length === 0;
}
