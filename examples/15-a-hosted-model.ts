/** Searches with a hosted model on a budget in dollars: the answer, who spent what on it, and what caches saved. */
import assert from 'node:assert/strict';
import { env } from 'node:process';
import { beam, search } from 'espalier';
import { languageModel } from 'espalier/backends';
import { notationFor, reasoning } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';

// ESPALIER_MODEL names the model. Without it, that of the first provider whose key is in the environment is taken.
const usual = {
  ANTHROPIC_API_KEY: 'anthropic:claude-haiku-5-5',
  OPENAI_API_KEY: 'openai:gpt-6-luna',
  GEMINI_API_KEY: 'gemini:gemini-3.8-flash',
  OPENROUTER_API_KEY: 'openrouter:openai/gpt-6-luna',
};
const [, first] = Object.entries(usual).find(([key]) => env[key]) ?? [];
const spec = env['ESPALIER_MODEL'] ?? first;
assert.ok(spec, `Set one of ${Object.keys(usual).join(', ')}, or ESPALIER_MODEL.`);
await using model = await languageModel(spec, { effort: 'low' }); // the search does the thinking

const articles = Array.from({ length: 100 }, (_, place) => place + 1).map(
  (n) => `Article ${n}: $${10 + ((37 * n) % 90)}, ${1 + ((7 * n) % 9)} kg`,
);
const environment = reasoning({
  question: [
    ...articles,
    'Of goods for more than $500 a quarter of their price is taken off. Sending them costs $2 for each kg.',
    'What do 3 pieces of article 17, 2 of article 58 and 1 of article 91 cost together, sent to me?',
  ].join('\n'),
});

const { best, spend, usage } = await search(
  { ...environment, notation: notationFor(environment, model.capabilities) },
  {
    policy: fromModel({ model, samples: 2 }),
    evaluator: judge({ model }),
    algorithm: beam({ width: 2 }),
    budget: { usd: 0.05, calls: 100 },
  },
);
assert.ok(best.kind !== 'proposed');
console.log(`${model.provider}:${model.modelId} answers ${environment.answer(best.state)}`);

for (const { role, calls, inputTokens, outputTokens, usd = Number.NaN } of usage) {
  console.log(
    `${role}: ${calls} calls, ${inputTokens} + ${outputTokens} tokens, $${usd.toFixed(6)}`,
  );
}
const uncached = usage.reduce((sum, { uncachedUsd = Number.NaN }) => sum + uncachedUsd, 0);
console.log(
  `$${spend.usd.toFixed(6)}; caches saved ${Math.round(100 * (1 - spend.usd / uncached))} %`,
);

assert.equal(environment.answer(best.state), '429');
assert.ok(spend.usd <= 0.05);
