/**
 * Random graphs with parallel edges, and what A* claims of them, against a Dijkstra that uses none of our code.
 */
import {
  astar,
  type Environment,
  type Policy,
  type SearchNode,
  search,
  treeToJson,
} from '../../src/index.ts';

/** One way from a state to another. */
export interface Edge {
  readonly name: string;
  readonly to: number;
  readonly cost: number;
  readonly reward: number | undefined;
  /** Whether taking it throws. */
  readonly broken: boolean;
}

/** The edges of each state. A goal is a state without edges that brings a reward. */
export interface Multigraph {
  readonly edges: readonly (readonly Edge[])[];
  readonly goals: ReadonlySet<number>;
  /** States in which nothing can follow, and which are no goals. */
  readonly ends: ReadonlySet<number>;
}

/** Mulberry32: numbers in [0, 1), fixed by the seed. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A graph of 4 to 13 states with up to three edges between any two, rewards on the way, and dead ends. */
export function multigraph(seed: number): Multigraph {
  const next = numbers(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  const size = 4 + below(10);
  const goals = new Set([size - 1]);
  const ends = new Set<number>();
  const withoutActions = new Set<number>();
  for (let state = 1; state < size - 1; state++) {
    const kind = next();
    if (kind < 0.1) ends.add(state);
    else if (kind < 0.2) withoutActions.add(state);
    else if (kind < 0.25) goals.add(state);
  }
  const brokenShare = seed % 4 === 0 ? 0.1 : 0;
  const rewardOf = (to: number) => {
    if (goals.has(to)) return 0.5 + next() / 2;
    if (ends.has(to)) return 0;
    return next() < 0.3 ? Math.round(next() * 4) / 8 : undefined;
  };
  const edgesBetween = (from: number, to: number): Edge[] =>
    Array.from({ length: to === from || next() > 0.35 ? 0 : 1 + below(3) }, (_, place) => ({
      name: `${from}-${to}-${place}`,
      to,
      cost: below(10),
      reward: rewardOf(to),
      broken: next() < brokenShare,
    }));
  const edges = Array.from({ length: size }, (_, from) =>
    goals.has(from) || ends.has(from) || withoutActions.has(from)
      ? []
      : Array.from({ length: size }, (__, to) => edgesBetween(from, to)).flat(),
  );
  return { edges, goals, ends };
}

/** The least cost from each state to a goal, by Dijkstra from the goals backwards. */
export function leastCosts({ edges, goals }: Multigraph, mayBreak: boolean): readonly number[] {
  const least = edges.map((_, state) => (goals.has(state) ? 0 : Number.POSITIVE_INFINITY));
  const ways = edges.flatMap((own, from) => own.map((edge) => ({ from, ...edge })));
  const open = new Set(edges.keys());
  while (open.size > 0) {
    const nearest = [...open].reduce((a, b) => ((least[b] ?? 0) < (least[a] ?? 0) ? b : a));
    open.delete(nearest);
    for (const { from, to, cost, broken } of ways) {
      if (to !== nearest || (broken && !mayBreak)) continue;
      least[from] = Math.min(least[from] ?? 0, cost + (least[nearest] ?? 0));
    }
  }
  return least;
}

/** More simulations than any of these searches needs. */
const enough = 20_000;

/** What A* said of one graph, beside what is true. */
export interface Claim {
  readonly seed: number;
  readonly concurrency: number;
  /** The cost of the path that was found; `undefined` where there was none. */
  readonly found: number | undefined;
  /** The least cost there is, and the least there would be if nothing were broken. */
  readonly least: number;
  readonly leastIfMended: number;
  readonly optimal: boolean;
  /** Whether an edge of the graph is broken. */
  readonly isBroken: boolean;
  /** The tree as JSON, for comparison. */
  readonly tree: string;
}

/** One A* search over one graph, with latencies drawn at random where several are under way. */
export async function claimOf(
  seed: number,
  concurrency: number,
  pauses: readonly number[] = [],
): Promise<Claim> {
  const graph = multigraph(seed);
  const { edges, goals, ends } = graph;
  const mended = leastCosts(graph, true);
  const draw = numbers(seed + 1_000_003);
  // Any share of the true cost is admissible; drawn anew for each state it is not consistent.
  const shares = edges.map(() => (draw() < 0.3 ? 1 : draw()));
  const heuristic = (state: unknown) =>
    Number.isFinite(mended[Number(state)])
      ? Math.floor((shares[Number(state)] ?? 0) * (mended[Number(state)] ?? 0))
      : 0;
  const wait = async () => {
    for (let left = concurrency === 1 ? 0 : Math.floor(draw() * 12); left > 0; left--) {
      await (draw() < 0.1 ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve());
    }
  };
  const environment: Environment<number, string> = {
    name: 'multigraph',
    reset: () => ({ state: 0 }),
    key: String,
    async step(state, action) {
      await wait();
      const edge = edges[state]?.find(({ name }) => name === action);
      if (edge === undefined) throw new Error(`No edge ${action}.`);
      if (edge.broken) throw new Error('The bridge is closed.');
      return {
        state: edge.to,
        ...(edge.reward !== undefined && { reward: edge.reward }),
        ...((goals.has(edge.to) || ends.has(edge.to)) && { terminal: true }),
      };
    },
  };
  const policy: Policy<number, string> = {
    async propose({ state }) {
      await wait();
      return (edges[Number(state)] ?? []).map(({ name }) => ({ action: name, prior: 1 }));
    },
  };
  const costs = new Map(edges.flat().map(({ name, cost }) => [name, cost]));
  const cost = ({ action }: SearchNode) => costs.get(String(action)) ?? Number.NaN;
  const algorithm = astar({ heuristic, admissible: true, cost });
  const [first = enough, ...more] = pauses;
  const budget = { simulations: first };
  let result = await search(environment, { policy, algorithm, concurrency, budget });
  for (const simulations of [...more, enough]) {
    if (result.stopReason !== 'budget') break;
    result = await result.resume({ budget: { simulations } });
  }
  const { tree, best, optimal, actions } = result;
  return {
    seed,
    concurrency,
    found: goals.has(Number(best.state))
      ? actions.reduce((sum, action) => sum + (costs.get(action) ?? Number.NaN), 0)
      : undefined,
    least: leastCosts(graph, false)[0] ?? 0,
    leastIfMended: mended[0] ?? 0,
    optimal,
    isBroken: edges.flat().some(({ broken }) => broken),
    tree: JSON.stringify(treeToJson(tree)),
  };
}

/** What is wrong with a claim, in a word; `undefined` where nothing is. */
export function faultOf(claim: Claim): 'missed' | 'silent' | 'wrong' | undefined {
  const { found, least, leastIfMended, optimal, isBroken } = claim;
  if (optimal && found !== leastIfMended) return 'wrong';
  if (found !== (least === Number.POSITIVE_INFINITY ? undefined : least)) return 'missed';
  // Where an edge is broken, nobody knows what lies behind it.
  return !optimal && found !== undefined && !isBroken ? 'silent' : undefined;
}
