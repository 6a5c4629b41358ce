/** An algorithm of your own: a walk that hears a fickle judge three times before each step. */
import assert from 'node:assert/strict';
import { type Environment, type SearchAlgorithm, search } from 'espalier';

const environment: Environment<number, number> = {
  name: 'climb',
  reset: () => ({ state: 0 }),
  step: (height, up) => ({ state: height + up, terminal: height + up >= 6 }),
};

const careful: SearchAlgorithm = {
  name: 'careful-walk',
  concurrency: 'any',
  laws: [],
  async run(tree, context) {
    let node = tree.cursor;
    while (node.status === 'open') {
      // One simulation a node of the list: here there is one. Other algorithms hand over a level, or a frontier.
      const end = await context.round('step', [node], async (place) => {
        const children = await context.expand(place);
        for (let time = 0; time < 3; time++) await context.evaluate(children, { again: true });
        tree.complete(place);
      });
      if (end === 'stopped') return;
      const [best] = node.children.toSorted((a, b) => (b.rawValue ?? 0) - (a.rawValue ?? 0));
      if (best === undefined) return;
      tree.prefer(best);
      node = best;
    }
    context.conclude({ node, optimal: false });
  },
};

const { tree, actions, stopReason } = await search(environment, {
  policy: () => [1, 2, 3].map((action) => ({ action })),
  // Higher is better, but the judge is not sure of it. Random numbers of the context depend on the seed alone.
  evaluator: ({ state }, { context }) => Math.min(1, (state + 2 * context.random.next()) / 10),
  algorithm: careful,
});

console.log(`up by ${actions.join(', ')}: ${stopReason} after ${tree.simulations} rounds`);

assert.equal(stopReason, 'solved');
assert.ok(tree.root.children.every(({ evaluations }) => evaluations.length === 3));
