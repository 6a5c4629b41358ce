/** Watches a search as it goes, and leaves it when enough has been seen. */
import assert from 'node:assert/strict';
import { mcts, progressiveWidening, streamSearch } from 'espalier';
import { slidingTiles } from 'espalier/environments';
import { uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';

const environment = slidingTiles.environment(slidingTiles.parse('1 2 3 5 0 6 4 7 8'));
const events = streamSearch(environment, {
  policy: uniform(environment.actions),
  evaluator: heuristic(slidingTiles.estimate),
  algorithm: mcts({ widening: progressiveWidening({ k: 2 }) }),
  budget: { simulations: 10_000 },
});

let simulations = 0;
for await (const event of events) {
  if (event.type === 'node-evaluated' && event.node.depth <= 1) {
    console.log(`node ${event.node.id}: v = ${event.evaluation.value.toFixed(2)}`);
  }
  if (event.type === 'node-failed') {
    console.log(`node ${event.node.id} failed: ${event.failure.message}`);
  }
  if (event.type === 'simulation-end') simulations++;
  // Leaving the loop ends the search and aborts whatever is in flight.
  if (simulations === 200) break;
}

console.log(`left after ${simulations} simulations`);

assert.equal(simulations, 200);
