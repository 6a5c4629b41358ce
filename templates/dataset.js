// Makes preference pairs of the saved tree: better steps beside worse ones, for a trainer such as TRL.
import { existsSync, readFileSync } from 'node:fs';
import { treeFromJson } from 'espalier';
import { formats, pairRules, writeDataset } from 'espalier/data';
import { environment } from './world.js';

if (!existsSync('tree.json')) {
  console.error('There is no `tree.json` yet: run `npm start` first.');
  process.exit(1);
}
const tree = treeFromJson(JSON.parse(readFileSync('tree.json', 'utf8')), environment);
const { notation } = environment;

const { rows, out } = await writeDataset({
  out: 'data',
  problems: [[{ problem: 'monday', tree, notation }]],
  configs: [{ rule: pairRules.agentQ({ minMargin: 0.05 }), format: formats.trl() }],
});
console.log(`${rows} rows in ${out}. Look at them: npx espalier rows ${out}`);
