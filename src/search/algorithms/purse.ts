import type { SearchNode } from '../../contracts/node.ts';
import { mostPromising } from '../../tree/final-choice.ts';
import { answersLeft, type Funds } from '../../tree/funds.ts';
import { subtree } from '../../tree/selection.ts';
import type { SimulationLog } from '../../tree/simulation-log.ts';
import { promiseOf } from '../../tree/summary.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchContext } from '../contracts.ts';

const units = ['calls', 'tokens', 'usd'] as const;

/** What is left of a unit. */
interface UnitFunds extends Funds {
  readonly unit: (typeof units)[number];
}

/** What is left of calls, tokens and dollars at the moment, as far as they are limited, the scarcest first. */
export type Purse = () => readonly UnitFunds[];

/**
 * Tells at any time what is left of calls, tokens and dollars, as far as they are limited, the scarcest first. A step costs
 * what a call of this search has cost so far. Until there is an answer, twice the price of one is kept: a call reserves
 * more than it uses.
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
      const reserve = tree.bestTerminal === undefined ? 2 * step * depth : 0;
      const simulation = step * dearest;
      return { unit, left, whole: whole[unit], step, depth, simulation, reserve };
    });
    const answers = (each: Funds) => answersLeft(each, 0);
    return funds.sort((a, b) => (answers(a) < answers(b) ? -1 : 1));
  };
}

/** How many calls the simulations have made since, and how many the one that made most. */
function callsSince(log: SimulationLog, before: number) {
  let [calls, dearest, place] = [0, 0, 0];
  for (const logged of log) {
    if (place++ < before) continue;
    calls += logged.calls;
    dearest = Math.max(dearest, logged.calls);
  }
  return { calls, dearest };
}

/** Tells whether one of so many equal parts of what is left now is spent, of any unit, but for what no simulation fits in. */
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

/**
 * Goes on with the most promising open path, one sample a step, to its end, and so with the next, until no call is
 * affordable any more or nothing is open.
 */
export async function finishPaths<State, Action>(
  tree: SearchTree<State, Action>,
  context: SearchContext<State, Action>,
  maxDepth: number,
): Promise<void> {
  await context.simulate(
    async (simulation) => {
      const start = nextLeaf(tree);
      if (start === undefined) return 'exhausted';
      let node = simulation.visit(start);
      await context.realise([node]);
      while (node.status === 'open' && node.depth < maxDepth) {
        const [child] = await context.expand(node, { count: 1 });
        if (child === undefined) return 'continue';
        await context.realise([child]);
        node = simulation.visit(tree.original(child));
      }
      await context.evaluate([node]);
      if (node.status === 'open') tree.complete(node);
      if (node.status !== 'failed') tree.backup(node);
      return 'continue';
    },
    { name: 'finish', exhausts: 'round' },
  );
}

/** The open leaf that promises most, of equal ones the deepest, and on which no simulation is under way. */
function nextLeaf<State, Action>(
  tree: SearchTree<State, Action>,
): SearchNode<State, Action> | undefined {
  const leaves = [...subtree(tree.cursor)].filter(
    ({ status, children, inFlight }) =>
      status === 'open' && children.length === 0 && inFlight === 0,
  );
  return mostPromising(leaves, (leaf) => promiseOf(leaf, tree.discount));
}
