/** Runs a published method, and reads step-level preference pairs from the tree that it grew. */
import assert from 'node:assert/strict';
import { search } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { pairsOf } from 'espalier/data';
import { gameOf24 } from 'espalier/environments/puzzles';
import { mctsDpo } from 'espalier/methods';
import { judge } from 'espalier/values';

const model = tiny();
const environment = gameOf24.environment(gameOf24.parse('4 9 10 13'));
const { notation } = environment;

const method = mctsDpo({
  model,
  environment,
  // The toy was taught one way to judge; another model would evaluate its own work, as in the paper.
  evaluator: judge({ model, notation }),
  width: 4,
});
const { tree, stopReason, spend } = await search({ ...method, budget: { calls: 200 } });

assert.ok(method.pairs);
const pairs = pairsOf(tree, method.pairs);
for (const { chosen, rejected, margin } of pairs) {
  console.log(
    `${notation.format(chosen.action)}  rather than  ${notation.format(rejected.action)}`,
  );
  console.log(`  by ${margin.toFixed(3)}`);
}
console.log(`${stopReason} after ${spend.calls} calls`);

assert.ok(pairs.length > 0);
assert.ok(
  pairs.every(
    ({ chosen, rejected, parent }) => chosen.parent === parent && rejected.parent === parent,
  ),
);
