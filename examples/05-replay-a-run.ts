/** Records a search, repeats it without the model, and asks what A* would have found with the same calls. */
import assert from 'node:assert/strict';
import { astar, mcts, search, seededRandom, treeToJson } from 'espalier';
import { memoryJournal, replayed } from 'espalier/calls';
import { countdown } from 'espalier/environments';
import { journaled, uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';

const environment = countdown.environment(countdown.generate(seededRandom(24), { numbers: 4 }));
const journal = memoryJournal(); // openRun('runs/first').journal, from espalier/runs, keeps it on disk

const options = {
  // As an effect, each proposal is counted, written down, and never asked for twice.
  policy: journaled(uniform(environment.actions), { name: 'uniform', key: environment.key }),
  evaluator: heuristic(countdown.estimate),
  budget: { calls: 40 },
};

const recorded = await search(environment, { ...options, algorithm: mcts(), journal });
const repeated = await search(environment, {
  ...options,
  algorithm: mcts(),
  journal: replayed(journal),
});
const other = await search(environment, {
  ...options,
  algorithm: astar(),
  journal: replayed(journal),
});

const { coverage } = other;
console.log(`mcts: ${recorded.spend.calls} calls, ${repeated.coverage.recorded} of them replayed`);
console.log(`astar: ${coverage.recorded} calls were recorded, ${coverage.unrecorded} were not`);

assert.deepEqual(treeToJson(repeated.tree), treeToJson(recorded.tree));
assert.equal(repeated.coverage.unrecorded, 0);
assert.ok(coverage.recorded > 0);
