/** The same search without a language model: legal moves, and a hand-written guess of their worth. */
import assert from 'node:assert/strict';
import { mcts, renderTree, search, solved } from 'espalier';
import { gameOf24 } from 'espalier/environments';
import { uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';

const puzzle = gameOf24.parse('4 9 10 13');
const environment = gameOf24.environment(puzzle);

const { actions, tree, stopReason, spend } = await search(environment, {
  policy: uniform(environment.actions),
  evaluator: heuristic(gameOf24.estimate),
  algorithm: mcts({ evaluate: 'all' }),
  budget: { simulations: 200 },
  stopWhen: solved(),
});

for (const action of actions) console.log(environment.notation.format(action));
console.log(`${stopReason} after ${spend.simulations} simulations\n`);
console.log(renderTree(tree, { format: environment.notation.format, depth: 1 }));

assert.equal(stopReason, 'solved');
assert.ok(gameOf24.check(puzzle, actions).correct);
