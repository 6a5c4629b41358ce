/** Reasons about a question step by step. A script stands in for the model, so that no key is needed. */
import assert from 'node:assert/strict';
import { mcts, renderTree, search, solved } from 'espalier';
import { answerOracle, notationFor, type ReasoningState, reasoning } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { scriptedModel } from 'espalier/testing';
import { heuristic } from 'espalier/values';

const environment = reasoning({
  question: 'A number is doubled, and 6 is added. The result is 20. What is the number?',
  // What can be checked without knowing the answer: whether it does what the question says.
  verifier: {
    verify: ({ answer }: ReasoningState) => ({ correct: 2 * Number(answer) + 6 === 20 }),
  },
});

// What the model says next, by the last step in its prompt: two ways to go on, of which one is wrong.
const script = new Map([
  ['', ['Half of 20 is 10.', 'Take 6 away from 20: 14 is left.']],
  ['Half of 20 is 10.', ['The answer is 10.', '10 and 6 are 16. The answer is 16.']],
  ['Take 6 away from 20: 14 is left.', ['The answer is 14.', 'Half of 14 is 7. The answer is 7.']],
]);
const model = scriptedModel({
  capabilities: { n: true, continuation: true },
  answer({ messages }, index) {
    const begun = messages.at(-1)?.content ?? '';
    const [, last = ''] = /.*^Step \d+: ([^\n]+)/ms.exec(begun) ?? [];
    return script.get(last)?.[index % 2] ?? 'I do not know.';
  },
});

// A model that continues its own answer sees the steps as one that it has begun.
const notation = notationFor(environment, model.capabilities);
const { actions, best, tree, spend } = await search(
  { ...environment, notation },
  {
    policy: fromModel({ model, samples: 2 }),
    evaluator: heuristic(() => 0.5),
    algorithm: mcts({ evaluate: 'all' }),
    budget: { calls: 20 },
    stopWhen: solved(),
  },
);

console.log(renderTree(tree, { format: (step) => step }));
console.log(`${actions.join('\n')}\n(${spend.calls} calls)`);

assert.ok(best.kind !== 'proposed');
assert.equal(best.state.answer, '7');

// The known answer only labels what was found: no search takes an oracle.
assert.ok(answerOracle('7').label(best.state).correct);
