// Writes a dataset that never ends, to be killed: its shards are full after one row.
import { trl } from '../../src/data/formats/trl.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import type { PreferenceRow, RowRule } from '../../src/data/rows.ts';
import { writeDataset } from '../../src/data/writers/write-dataset.ts';
import { SearchTree } from '../../src/tree/tree.ts';
import { asks, preference } from './formats-rows.ts';

const [, , out = ''] = process.argv;
const format = trl({ provenance: false });

async function* problems(): AsyncGenerator<readonly TreeRecord[]> {
  for (let id = 0; ; id++) {
    const tree = new SearchTree<unknown, unknown>(id, { environment: 'letters', seed: 0 });
    yield [{ problem: String(id), tree, notation: { format: String, prompt: () => [asks('Q')] } }];
    if (id === 20) process.stdout.write('written\n');
    await new Promise((resolve) => setTimeout(resolve, id < 20 ? 0 : 50));
  }
}

const rule: RowRule<PreferenceRow> = {
  name: 'two-each',
  kind: 'preference',
  rows: () => [preference()],
};
await writeDataset({
  out,
  file: 'jsonl',
  rowsPerFile: 1,
  problems: problems(),
  configs: [{ name: 'dpo', rule, format }],
});
