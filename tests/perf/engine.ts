/** `npm run bench:engine`: the speed and the memory of `search()` beside a bare UCT loop, in one run. */
import {
  descend,
  type Environment,
  type Evaluator,
  mcts,
  type Policy,
  type SearchTree,
  search,
  uct,
} from 'espalier';
import { Bench } from 'tinybench';
import { bareUct, branching, maxDepth, nextState, valueOfState } from './bare-uct.ts';

const environment: Environment<number, number> = {
  name: 'synthetic',
  reset: () => ({ state: 1 }),
  step: (state, action) => ({ state: nextState(state, action) }),
};
const proposals = Array.from({ length: branching }, (_, action) => ({
  action,
  prior: 1 / branching,
}));
const policy: Policy<number, number> = { propose: () => proposals };
const evaluator: Evaluator<number, number> = {
  needs: 'realised',
  evaluate: (nodes) => nodes.map(({ state }) => ({ value: valueOfState(state ?? 0) })),
};
// The bare loop knows no solved subtrees: `revisit` makes both do the same work.
const algorithm = mcts({ maxDepth, selection: descend(uct(), { revisit: true }) });

async function grow(simulations: number): Promise<SearchTree<number, number>> {
  const { tree } = await search(environment, {
    policy,
    evaluator,
    algorithm,
    budget: { simulations },
  });
  return tree;
}

async function speeds(nodes: number): Promise<{ bare: number; espalier: number }> {
  const simulations = Math.round(nodes / branching);
  const bench = new Bench({ time: 1_000, iterations: 5, warmupTime: 500, warmupIterations: 2 });
  bench.add('bare', () => {
    bareUct(simulations);
  });
  bench.add('espalier', async () => {
    await grow(simulations);
  });
  await bench.run();
  const [bare = 0, espalier = 0] = bench.tasks.map(({ result }) =>
    'latency' in result ? simulations / (result.latency.p50 / 1_000) : 0,
  );
  return { bare, espalier };
}

async function bytesPerNode(nodes: number): Promise<number> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('Run with --expose-gc.');
  collect();
  const before = process.memoryUsage().heapUsed;
  const tree = await grow(Math.round(nodes / branching));
  collect();
  return (process.memoryUsage().heapUsed - before) / tree.size;
}

const lines = ['    nodes        bare sims/s    espalier sims/s    ratio    bytes/node'];
const ratios: number[] = [];
for (const nodes of [1_000, 10_000, 100_000, 1_000_000]) {
  const bytes = await bytesPerNode(nodes);
  const { bare, espalier } = await speeds(nodes);
  const ratio = bare / espalier;
  ratios.push(ratio);
  const cells = [
    nodes.toLocaleString('en').padStart(9),
    Math.round(bare).toLocaleString('en').padStart(18),
    Math.round(espalier).toLocaleString('en').padStart(18),
    `${ratio.toFixed(2)}×`.padStart(8),
    // Below some ten thousand nodes the heap's own noise is larger than the tree.
    (nodes < 100_000 ? '–' : String(Math.round(bytes))).padStart(13),
  ];
  lines.push(cells.join(''));
}
const growth = (ratios.at(-1) ?? 0) / (ratios[0] ?? 1);
process.stdout.write(`${lines.join('\n')}\n\n`);
process.stdout.write(
  `ratio to the bare loop: goal 3×, least 10×; its growth from 10³ to 10⁶ nodes: ${growth.toFixed(2)}× (at most 1.5×)\n`,
);
