/** A search as a provider of promptfoo: a class with `id` and `callApi`. Here a script stands in for the model. */
import assert from 'node:assert/strict';
import { search } from 'espalier';
import { notationFor, reasoning } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { scriptedModel } from 'espalier/testing';
import { judge } from 'espalier/values';

const model = scriptedModel({
  answer: ({ messages }) =>
    messages.at(-1)?.content.includes('impossible') === true ? 'sure' : 'The answer is 42.',
});

class Searched {
  id = (): string => 'espalier:mcts';
  async callApi(question: string) {
    const environment = reasoning({ question });
    const notation = notationFor(environment, model.capabilities);
    const options = { policy: fromModel({ model }), evaluator: judge({ model }) };
    const budget = { calls: 20 };
    const found = await search({ ...environment, notation }, { ...options, budget });
    const { best, spend } = found;
    const tokenUsage = { total: spend.tokens };
    return { output: best.state?.answer ?? '', tokenUsage, cost: spend.usd };
  }
}

const { output, tokenUsage } = await new Searched().callApi('What is 6 times 7?');
console.log(`${output}, for ${tokenUsage.total} tokens`);
assert.equal(output, '42');
