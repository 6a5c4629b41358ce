/** Goes on with a search: at once with a further budget, and later from a saved tree. */
import assert from 'node:assert/strict';
import { type SearchOptions, search, seededRandom, treeFromJson, treeToJson } from 'espalier';
import { type BlocksworldAction, type BlocksworldState, blocksworld } from 'espalier/environments';
import { uniform } from 'espalier/policies';
import { heuristic } from 'espalier/values';

const environment = blocksworld.environment(
  blocksworld.generate(seededRandom('resume'), { blocks: 4 }),
);
const options: SearchOptions<BlocksworldState, BlocksworldAction> = {
  policy: uniform(environment.actions),
  evaluator: heuristic(blocksworld.estimate),
  budget: { simulations: 50 },
};

const first = await search(environment, options);
const second = await first.resume({ budget: { simulations: 50 } });

const saved = JSON.stringify(treeToJson(second.tree, environment));
const tree = treeFromJson<BlocksworldState, BlocksworldAction>(saved, environment);
const third = await search(environment, { ...options, tree, budget: { simulations: 100 } });

const whole = await search(environment, { ...options, budget: { simulations: 200 } });
console.log(`${third.tree.size} nodes in three parts, ${whole.tree.size} in one`);

// All state of a search lives in its tree, so three parts make the same tree as one whole.
assert.deepEqual(treeToJson(third.tree, environment), treeToJson(whole.tree, environment));
