/** Solves a Game of 24 with Monte-Carlo tree search: a small language model proposes steps and judges states. */
import assert from 'node:assert/strict';
import { descend, mcts, puct, renderTree, search, solved, valueWidening } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { gameOf24 } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';

const model = tiny(); // comes with the package; runs in this process
const puzzle = gameOf24.parse('2 4 6 7');
const environment = gameOf24.environment(puzzle);
const { notation } = environment;

const { actions, tree, stopReason, spend } = await search(environment, {
  policy: fromModel({ model, maxTokens: 24 }), // a call reserves what it may write
  evaluator: judge({ model }),
  algorithm: mcts({
    selection: descend(puct({ cInit: 0.1 })),
    width: 2,
    evaluate: 'all',
    widening: valueWidening(),
  }),
  budget: { tokens: 4_000 },
  stopWhen: solved(),
});

for (const action of actions) console.log(notation.format(action));
console.log(`${stopReason} after ${spend.calls} calls, ${spend.tokens} tokens\n`);
console.log(renderTree(tree, { format: notation.format, depth: 1 }));

assert.equal(stopReason, 'solved');
assert.ok(gameOf24.check(puzzle, actions).correct);
