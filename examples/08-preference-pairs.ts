/** Runs a published method, and writes step-level preference pairs of the tree that it grew, for TRL. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { search } from 'espalier';
import { tiny } from 'espalier/backends/tiny';
import { formats, pairRules, writeDataset } from 'espalier/data';
import { gameOf24 } from 'espalier/environments';
import { mctsDpo } from 'espalier/methods';
import { judge } from 'espalier/values';

const model = tiny();
const problem = '4 9 10 13';
const environment = gameOf24.environment(gameOf24.parse(problem));
const { notation } = environment;

const { tree, stopReason, spend } = await search(environment, {
  method: mctsDpo({ model, width: 4 }),
  // The toy was taught one way to judge; another model would evaluate its own work, as in the paper.
  evaluator: judge({ model }),
  budget: { calls: 200 },
});
console.log(`${stopReason} after ${spend.calls} calls`);

const record = { problem, tree, notation };
const rule = pairRules.mctsDpo({ minMargin: 0.01 });
for (const { chosen, rejected, margin } of rule.rows([record])) {
  console.log(
    `${chosen[0]?.content}  rather than  ${rejected[0]?.content}, by ${margin.toFixed(3)}`,
  );
}

const out = mkdtempSync(join(tmpdir(), 'espalier-pairs-'));
const format = formats.trl();
const report = await writeDataset({
  out,
  problems: [[record]],
  configs: [{ name: 'dpo', rule, format }],
  file: 'jsonl',
});
console.log(`${report.rows} rows in ${out}`);

const [line = ''] = readFileSync(join(out, 'dpo', 'train-00000-of-00001.jsonl'), 'utf8').split(
  '\n',
);
const row = JSON.parse(line) as Record<string, unknown>;
assert.ok(report.rows > 0);
assert.notEqual(row['chosen'], row['rejected']);
assert.match(String(row['prompt']), /Numbers: 4 9 10 13/);
