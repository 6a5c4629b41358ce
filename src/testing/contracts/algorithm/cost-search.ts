import assert from 'node:assert/strict';
import { seededRandom } from '../../../base/random.ts';
import type { SearchNode } from '../../../contracts/node.ts';
import type { SearchAlgorithm } from '../../../search/contracts.ts';
import type { Problem } from '../../problem.ts';
import { type MdpTable, tableMdp } from '../../table-mdp.ts';
import type { AlgorithmClaims, AlgorithmSubject } from './claims.ts';
import { concurrencies, grow } from './growing.ts';

/** The costs of edges, by state and by the state they lead to. */
type Graph = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The guarantees of a search for cheapest paths. */
export function describeCostSearch({ claims, runner }: AlgorithmSubject): void {
  const { costSearch } = claims;
  if (costSearch === undefined) return;

  runner.test('finds the cheapest path with an admissible heuristic', async () => {
    for (let seed = 0; seed < 30; seed++) {
      const graph = randomGraph(seed);
      const exact = remainingCosts(graph);
      const random = seededRandom(seed);
      const share = new Map(Object.keys(exact).map((state) => [state, random.next()]));
      // Any fraction of the true cost is admissible; drawn separately for each state, it is not consistent.
      const heuristic = (state: string) => (share.get(state) ?? 0) * (exact[state] ?? Infinity);
      for (const concurrency of concurrencies(claims.create())) {
        const rules = { heuristic, admissible: true, cost: costIn(graph) };
        const found = await run(graph, costSearch(rules), { concurrency });
        const expected = { cost: exact['s0'], optimal: true, isGoal: true };
        assert.deepEqual(found, expected, `seed ${seed}, concurrency ${concurrency}`);
      }
    }
  });

  runner.test('opens a state again when a cheaper path comes later', async () => {
    const graph = {
      start: { high: 1, low: 1 },
      high: { shared: 1 },
      low: { shared: 3 },
      shared: { goal: 5 },
    };
    // Admissible, and inconsistent at `high`: `shared` is first expanded on the more expensive path.
    const heuristic = (state: string) => (state === 'high' ? 5 : 0);
    const rules = { heuristic, admissible: true, cost: costIn(graph) };
    const { cost, optimal } = await run(graph, costSearch(rules));
    assert.equal(cost, 7);
    assert.equal(optimal, true);
  });

  describeClaims({ claims, runner }, costSearch);
}

function describeClaims(
  { runner }: AlgorithmSubject,
  costSearch: NonNullable<AlgorithmClaims['costSearch']>,
): void {
  const graph = { start: { a: 1, goal: 9 }, a: { b: 1, c: 1 }, b: { goal: 1 }, c: { goal: 2 } };
  const rules = { heuristic: () => 0, admissible: true, cost: costIn(graph) };

  runner.test('claims to be optimal where it is', async () => {
    const { cost, optimal } = await run(graph, costSearch(rules));
    assert.deepEqual({ cost, optimal }, { cost: 3, optimal: true });
  });
  runner.test('claims nothing of a heuristic that is not said to be admissible', async () => {
    const { cost, optimal } = await run(graph, costSearch({ ...rules, admissible: false }));
    assert.deepEqual({ cost, optimal }, { cost: 3, optimal: false });
  });
  runner.test('claims nothing with a weight above 1', async () => {
    const { optimal } = await run(graph, costSearch({ ...rules, weight: 1.5 }));
    assert.equal(optimal, false);
  });
  runner.test('claims nothing where a failure may have hidden a cheaper path', async () => {
    const { cost, optimal } = await run(graph, costSearch(rules), { broken: 'b' });
    assert.deepEqual({ cost, optimal }, { cost: 4, optimal: false });
  });
  runner.test('claims nothing before it is done', async () => {
    const budget = { simulations: 1 };
    const result = await grow(problemOf(graph), costSearch(rules), { budget });
    assert.equal(result.optimal, false);
  });
  runner.test('leaves alone what its heuristic calls a dead end', async () => {
    const heuristic = (state: string) => (state === 'b' ? Number.POSITIVE_INFINITY : 0);
    const { cost } = await run(graph, costSearch({ ...rules, heuristic }));
    assert.equal(cost, 4);
  });
}

async function run(
  graph: Graph,
  algorithm: SearchAlgorithm,
  { concurrency = 1, broken }: { readonly concurrency?: number; readonly broken?: string } = {},
) {
  const settings = { budget: { simulations: 5000 }, concurrency };
  const { best, optimal } = await grow(problemOf(graph, broken), algorithm, settings);
  let cost = 0;
  for (let node: SearchNode = best; node.kind !== 'root'; node = node.parent) {
    cost += costIn(graph)(node);
  }
  return { cost, optimal, isGoal: best.terminal };
}

/** An action is the state it leads to. The step to `broken` throws. */
function problemOf(graph: Graph, broken?: string): Problem<string, string> {
  const rows = Object.entries(graph).map(([state, edges]) => [
    state,
    Object.fromEntries(Object.keys(edges).map((to) => [to, { to }])),
  ]);
  const problem = tableMdp(Object.fromEntries(rows) as MdpTable, { name: 'graph' });
  const { environment } = problem;
  return {
    ...problem,
    environment: {
      ...environment,
      step(state, action, context) {
        if (action === broken) throw new Error('the bridge is closed');
        return environment.step(state, action, context);
      },
    },
  };
}

function costIn(graph: Graph): (node: SearchNode) => number {
  return ({ parent, action }) => graph[String(parent?.state)]?.[String(action)] ?? 0;
}

/** Twelve states, each with edges to about a third of the later ones, and loops back. */
function randomGraph(seed: number): Graph {
  const random = seededRandom('graph').split(seed);
  const size = 12;
  return Object.fromEntries(
    Array.from({ length: size }, (_, from) => {
      const edges: [string, number][] = [];
      for (let to = 0; to < size; to++) {
        if (to === from + 1 || (to !== from && random.next() < 0.3)) {
          edges.push([`s${to}`, 1 + random.integer(from + 1 === to ? 20 : 12)]);
        }
      }
      if (from >= size - 3) edges.push(['goal', 1 + random.integer(20)]);
      return [`s${from}`, Object.fromEntries(edges)];
    }),
  );
}

/** The cost from each state to the goal, by relaxing all edges until nothing changes. */
function remainingCosts(graph: Graph): Readonly<Record<string, number>> {
  const costs: Record<string, number> = { goal: 0 };
  for (let changed = true; changed; ) {
    changed = false;
    for (const [state, edges] of Object.entries(graph)) {
      for (const [to, cost] of Object.entries(edges)) {
        const through = cost + (costs[to] ?? Number.POSITIVE_INFINITY);
        if (through < (costs[state] ?? Number.POSITIVE_INFINITY)) {
          costs[state] = through;
          changed = true;
        }
      }
    }
  }
  return costs;
}
