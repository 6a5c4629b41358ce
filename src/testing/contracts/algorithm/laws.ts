import assert from 'node:assert/strict';
import type { NodeId } from '../../../contracts/node.ts';
import type { ConservationLaw } from '../../../search/contracts.ts';
import type { SearchTree } from '../../../tree/tree.ts';
import { banditTree } from '../../bandit-tree.ts';
import type { Problem } from '../../problem.ts';
import { syntheticTree } from '../../synthetic-tree.ts';
import { ticTacToe } from '../../tic-tac-toe.ts';
import type { AlgorithmClaims, AlgorithmSubject } from './claims.ts';
import { asked, concurrencies, grow, unevenModel } from './growing.ts';

/** The conservation laws that the algorithm declares. */
export function describeLaws(subject: AlgorithmSubject): void {
  const { laws } = subject.claims.create();
  const describeLaw: Readonly<Record<ConservationLaw, (subject: AlgorithmSubject) => void>> = {
    visits: describeVisits,
    values: describeValues,
    simulations: describeSimulations,
  };
  for (const law of laws) describeLaw[law](subject);
}

const problems: readonly Problem<unknown, unknown>[] = [
  banditTree(),
  ticTacToe(),
  syntheticTree({ branching: 3, depth: 6 }),
];

function describeVisits({ claims, runner }: AlgorithmSubject): void {
  runner.test('counts a visit at every node of one path a simulation', async () => {
    for (const problem of problems) await assertOnePathEach(problem, claims.create);
  });

  runner.test('keeps the sums of visits with simulations in flight together', async () => {
    for await (const tree of grownTogether(claims)) assertVisitsAddUp(tree);
  });
}

/** Trees of all problems, with the maximum concurrency of the algorithm. */
async function* grownTogether({ create }: AlgorithmClaims): AsyncGenerator<SearchTree> {
  const budget = { simulations: 100 };
  for (const problem of problems) {
    for (const concurrency of concurrencies(create())) {
      yield (await grow(asked(problem), create(), { budget, concurrency })).tree;
    }
  }
}

/** Grows a tree one simulation at a time, and checks what each of them changed. */
async function assertOnePathEach(
  problem: Problem<unknown, unknown>,
  create: AlgorithmClaims['create'],
): Promise<void> {
  const budget = { simulations: 1 };
  let result = await grow(problem, create(), { budget });
  for (let simulation = 1; simulation < 40; simulation++) {
    const before = visitsOf(result.tree);
    result = await result.resume({ budget });
    const changed = [...result.tree.nodes()].filter(
      ({ id, visits }) => visits !== (before.get(id) ?? 0),
    );
    for (const { id, visits } of changed) {
      const added = visits - (before.get(id) ?? 0);
      const message = `Expected a simulation to add one visit to each node of its path, got ${added} at node ${id}: call \`backup\` once in each.`;
      assert.equal(added, 1, message);
    }
    const deepest = changed.at(-1);
    const length = deepest === undefined ? 0 : deepest.depth + 1;
    const message = `Expected a simulation to add visits on one path of ${length} nodes, got ${changed.length} nodes with new visits: call \`backup\` once in each.`;
    assert.equal(changed.length, length, message);
    for (const { id, parent } of changed) {
      const lone = `Expected a simulation to add a visit to each ancestor of node ${id}, got none at node ${parent?.id}: call \`backup\` on the last node of the path, and not on each.`;
      assert.ok(parent === undefined || changed.includes(parent), lone);
    }
  }
}

function visitsOf(tree: SearchTree): Map<NodeId, number> {
  return new Map([...tree.nodes()].map(({ id, visits }) => [id, visits]));
}

function assertVisitsAddUp(tree: SearchTree): void {
  for (const { id, visits, inFlight, children } of tree.nodes()) {
    const below = children.reduce((sum, child) => sum + child.visits, 0);
    const sum = `Expected node ${id} to have at least the ${below} visits of its children together, got ${visits}: call \`backup\` once for each simulation, also for one whose node was reached by another in the meantime.`;
    assert.ok(visits >= below, sum);
    const left = `Expected no simulation in flight at node ${id} after the search, got ${inFlight}: await every \`simulate\` before \`run\` returns.`;
    assert.equal(inFlight, 0, left);
  }
}

function describeValues({ claims, runner }: AlgorithmSubject): void {
  runner.test('keeps every value in [0, 1]', async () => {
    for await (const tree of grownTogether(claims)) {
      for (const { id, value } of tree.nodes()) {
        const message = `Expected node ${id} to have a value from 0 to 1, as rewards and evaluations of this problem have, got ${value}: a backup rule must return a mean or a maximum of returns, and not their sum.`;
        assert.ok(value >= 0 && value <= 1 + 1e-9, message);
      }
    }
  });
}

function describeSimulations({ claims, runner }: AlgorithmSubject): void {
  runner.test('adds one visit to the root for each simulation', async () => {
    // Too large to be searched completely, because the simulation that finds nothing left adds no visit.
    const problem = syntheticTree({ branching: 4, depth: 9 });
    for (const concurrency of concurrencies(claims.create())) {
      const { tree, spend } = await grow(asked(problem, unevenModel(3)), claims.create(), {
        budget: { simulations: 80 },
        concurrency,
      });
      const counted = `${tree.root.visits} visits of the root after ${spend.simulations} simulations`;
      assert.equal(
        tree.root.visits,
        spend.simulations,
        `Expected each simulation to end with one \`backup\` of its path, which adds a visit to the root, got ${counted}, with a concurrency of ${concurrency}.`,
      );
    }
  });
}
