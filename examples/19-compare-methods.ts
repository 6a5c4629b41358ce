/**
 * Does search pay? Methods side by side on problems that the model has never seen, at an equal budget, a method of one's
 * own among them.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mcts } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { type BenchMethod, compare, taskNamed } from 'espalier/bench';
import { fromModel } from 'espalier/policies';
import { judge } from 'espalier/values';

const model = tiny();
const out = mkdtempSync(join(tmpdir(), 'espalier-example-'));

const narrow: BenchMethod = {
  name: 'narrow-mcts',
  plan: ({ maxTokens = 64 }, { model }) => {
    if (model === undefined) throw new Error('This method needs a model.');
    return {
      policy: fromModel({ model, maxTokens, temperature: 0.7 }),
      evaluator: judge({ model }),
      algorithm: mcts({ width: 2 }),
    };
  },
};

const { report } = await compare({
  task: await taskNamed('game24'),
  model,
  methods: ['mcts', narrow],
  budgets: [{ unit: 'tokens', limit: 500 }],
  temperature: 0.7,
  limit: 10,
  out,
});

for (const { method, accuracy, low, high, tokens } of report.points) {
  const share = [accuracy ?? 0, low, high].map((value) => `${(100 * value).toFixed(0)} %`);
  console.log(`${method}: ${share[0]} [${share[1]}, ${share[2]}], ${tokens.toFixed(0)} tokens`);
}
console.log(report.verdict.text);

assert.equal(report.points.length, 4);
assert.ok(report.points.every(({ tokens }) => tokens <= 500));
assert.ok(report.spend.bought.tokens < report.spend.charged.tokens);

await model.close();
rmSync(out, { recursive: true });
