/**
 * `node --import tsx tests/verify/rules.ts [<folder>]`: the rows of every rule from published trees, against loops over
 * the JSON of the files that use none of our code.
 */
import { join } from 'node:path';
import { rowRules, ruleNamed } from '../../src/data/catalogue.ts';
import { readOmegaPrm } from '../../src/data/readers/omega-prm.ts';
import { readToolBench } from '../../src/data/readers/tool-bench.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import { said } from './rules/found.ts';
import type { Loop } from './rules/loops.ts';
import { labelLoops } from './rules/loops-of-labels.ts';
import { pairLoops } from './rules/loops-of-pairs.ts';
import { pathLoops } from './rules/loops-of-paths.ts';
import { omegaTrees } from './rules/raw-omega.ts';
import { toolBenchTrees } from './rules/raw-tool-bench.ts';

const data = process.argv[2] ?? join(import.meta.dirname, '../../../shared/data');

const loops: Readonly<Record<string, Loop>> = { ...pairLoops, ...labelLoops, ...pathLoops };

/** What makes a draw, or a judgement that the files do not hold, plain. */
const options: Readonly<Record<string, object>> = {
  'agent-r': { thoughts: ['T'], maxSplices: 1e9 },
  refiner: { critique: () => 'c', request: 'Again.', oracleGuided: true },
};

const trees = [
  ...omegaTrees(data).map((raw) => ({ raw, record: readOmegaPrm(raw.text)[0] })),
  ...toolBenchTrees(data).map((raw) => ({
    raw,
    record: readToolBench(raw.text, { problem: raw.name }),
  })),
];

let differences = 0;

for (const { name } of rowRules) {
  const loop = loops[name];
  const rule = ruleNamed(name)?.create(options[name]);
  if (loop === undefined || rule === undefined) throw new Error(`Nothing to compare ${name} with.`);
  const counts = { compared: 0, equal: 0, missing: 0, spare: 0 };
  for (const { raw, record } of trees) {
    const rows = [...rule.rows([record as unknown as TreeRecord])].map((row) =>
      JSON.stringify(said(row)),
    );
    const expected = loop(raw).map((row) => JSON.stringify(row));
    const missing = expected.filter((row) => !rows.includes(row));
    const spare = rows.filter((row) => !expected.includes(row));
    counts.compared += expected.length;
    counts.equal += expected.length - missing.length;
    counts.missing += missing.length;
    counts.spare += spare.length + rows.length - new Set(rows).size;
    for (const row of [...missing.slice(0, 1), ...spare.slice(0, 1)]) {
      process.stdout.write(`  ${name}, ${raw.name}: ${row.slice(0, 1_500)}\n`);
    }
  }
  differences += counts.missing + counts.spare;
  process.stdout.write(
    `${name.padEnd(18)} ${String(counts.equal).padStart(5)} of ${String(counts.compared).padStart(5)} rows equal${counts.spare === 0 ? '' : `, ${counts.spare} not expected`}\n`,
  );
}
process.exitCode = differences === 0 ? 0 : 1;
