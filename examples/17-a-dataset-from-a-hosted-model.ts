/** Searches several problems under one budget in dollars, and writes preference pairs of their trees. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { mcts } from 'espalier';
import { languageModel } from 'espalier/backends';
import { formats, pairRules, writeDataset } from 'espalier/data';
import { notationFor, reasoning } from 'espalier/environments';
import { fromModel } from 'espalier/policies';
import { generate, openRun, readRecords, readRun } from 'espalier/runs';
import { judge } from 'espalier/values';

const hasKey = env['ANTHROPIC_API_KEY'] !== undefined;
const spec = hasKey ? 'anthropic:claude-haiku-5-5' : 'openai:gpt-6-luna';
await using model = await languageModel(spec, { effort: 'low' });

const questions = new Map([
  ['marbles', 'A bag holds 4 red and 6 blue marbles. Two are drawn. How likely are both red?'],
  ['clock', 'How many degrees are between the hands of a clock at 3:40?'],
]);
const environmentOf = (id: string) => {
  const question = questions.get(id) ?? '';
  const environment = reasoning({ question, maxSteps: 4 });
  return { ...environment, notation: notationFor(environment, model.capabilities) };
};

const folder = mkdtempSync(join(tmpdir(), 'espalier-pairs-'));
const path = join(folder, 'run'); // after a kill the same call goes on here, and pays for nothing twice
{
  using run = openRun(path);
  const report = await generate({
    run,
    problems: [...questions.keys()].map((id) => ({ id })),
    plan: ({ id }) => ({
      environment: environmentOf(id),
      policy: fromModel({ model, samples: 2 }),
      evaluator: judge({ model, samples: 1 }),
      algorithm: mcts({ evaluate: 'all' }),
      budget: { calls: 30 },
    }),
    budget: { usd: 0.05 },
  });
  console.log(`${report.done} trees for $${report.spend.usd.toFixed(6)} (${report.stopReason})`);
  assert.equal(report.done, 2);
}

const { rows } = await writeDataset({
  out: join(folder, 'data'),
  problems: readRecords(readRun(path), {
    describe: (id) => ({ notation: environmentOf(id).notation }),
  }),
  configs: [{ name: 'dpo', rule: pairRules.agentQ({ minMargin: 0.1 }), format: formats.trl() }],
  file: 'jsonl',
});
console.log(`${rows} pairs in ${folder}`);

const file = join(folder, 'data', 'dpo', 'train-00000-of-00001.jsonl');
const [line = ''] = readFileSync(file, 'utf8').split('\n');
const row = JSON.parse(line) as Record<string, unknown>;
assert.ok(rows > 0);
assert.notEqual(row['chosen'], row['rejected']);
