/** A search as a provider of promptfoo: a class with `id` and `callApi`. Here a script stands in for the model. */
import assert from 'node:assert/strict';
import { type LanguageModel, search } from 'espalier';
import { languageModel } from 'espalier/backends';
import { notationFor, reasoning } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';

// biome-ignore lint/style/noDefaultExport: promptfoo takes the default export.
export default class Searched {
  readonly #model: LanguageModel | string;
  constructor({ config }: { readonly config: { readonly model: LanguageModel | string } }) {
    this.#model = config.model;
  }
  id = (): string => 'espalier:mcts';
  async callApi(
    question: string,
  ): Promise<{ output: string; tokenUsage: { total: number }; cost: number }> {
    const model = typeof this.#model === 'string' ? await languageModel(this.#model) : this.#model;
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

const { scriptedModel } = await import('espalier/testing');
const model = scriptedModel({
  answer: ({ messages }) =>
    messages.at(-1)?.content.includes('impossible') === true ? 'sure' : 'The answer is 42.',
});
const provider = new Searched({ config: { model } });
const { output, tokenUsage } = await provider.callApi('What is 6 times 7?');
console.log(`${output}, for ${tokenUsage.total} tokens`);
assert.equal(output, '42');
