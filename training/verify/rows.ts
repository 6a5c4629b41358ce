// Writes what the trainers are shown: rows of the trees of `worlds.ts` in every form and both kinds of files, what
// each row should say, and `manifest.json`, which lists them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { datasetFormats } from '../../src/data/catalogue.ts';
import type { FormatOptions, RowFormat } from '../../src/data/formats/format.ts';
import { chatmlPrompt } from '../../src/data/formats/render.ts';
import * as stepLabels from '../../src/data/labels/step-labels.ts';
import { preferences } from '../../src/data/pairs/preferences.ts';
import { trajectory } from '../../src/data/pairs/whole-answers.ts';
import * as rlRules from '../../src/data/rl/rl-rules.ts';
import type { RowRule, TrainingRow } from '../../src/data/rows.ts';
import { bestTrajectories } from '../../src/data/sft/best-trajectories.ts';
import * as unpairedRules from '../../src/data/unpaired-rules.ts';
import { jsonLinesWriter } from '../../src/data/writers/json-lines-writer.ts';
import { parquetWriter } from '../../src/data/writers/parquet-writer.ts';
import { writeDataset } from '../../src/data/writers/write-dataset.ts';
import { expectedOf } from './expected.ts';
import { type World, worlds } from './worlds.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = values.out ?? 'build';

/** Every rule stands for those that make rows of its shape. */
const rules: readonly RowRule[] = [
  preferences({
    name: 'steps',
    nodes: 'all',
    siblings: 'all-ordered',
    score: ({ visits, value }) => (visits > 0 ? value : undefined),
    maxPairsPerProblem: 12,
  }),
  trajectory({ paths: 'best-vs-all', maxPairsPerProblem: 4 }),
  stepLabels.mathShepherd(),
  bestTrajectories(),
  bestTrajectories({ unit: 'step' }),
  unpairedRules.siblings(),
  unpairedRules.ends(),
  rlRules.prompts(),
  rlRules.treeAdvantages(),
];

/** Each step a trainer takes is as good as many. */
const mostRows = 12;

/** Text as it stands where the model has no template of its own, and as a model with one sees it. */
const ways: Readonly<Record<string, FormatOptions>> = {
  plain: {},
  chatml: { render: chatmlPrompt, endToken: '<|im_end|>' },
};

/** The forms that hold a conversation as text. */
const asText: ReadonlySet<string> = new Set(['llama-factory', 'step-apo', 'trl', 'trl-reward']);

const writers = { jsonl: jsonLinesWriter, parquet: parquetWriter } as const;

interface Entry {
  readonly folder: string;
  readonly family: string;
  readonly kind: string;
  readonly rule: string;
  readonly way: string;
  readonly world: string;
  readonly wholeTurns: boolean;
  readonly columns: object;
  readonly rows: number;
  readonly refused: number;
  readonly expected: string;
}

const manifest: Entry[] = [];
const all = await worlds();
for (const world of all) {
  for (const [place, rule] of rules.entries()) writeRule(world, rule, place);
}
await writeWhole();
writeFileSync(join(out, 'manifest.json'), `${JSON.stringify(manifest, undefined, 1)}\n`);

function writeRule(world: World, rule: RowRule, place: number): void {
  const rows = world.records.flatMap((record) => [...rule.rows([record])].slice(0, mostRows));
  if (rows.length === 0) throw new Error(`The rule ${rule.name} makes no rows of ${world.name}.`);
  // Two rules may have one name: their place tells them apart.
  const folder = `${world.name}/${place}-${rule.name}`;
  mkdirSync(join(out, folder), { recursive: true });
  const expected = `${folder}/expected.jsonl`;
  const lines = rows.map((row) => JSON.stringify(expectedOf(world, row)));
  writeFileSync(join(out, expected), `${lines.join('\n')}\n`);
  for (const { name: family, create } of datasetFormats) {
    for (const [way, options] of Object.entries(ways)) {
      const format: RowFormat | undefined = create(options).forms[rule.kind];
      if (format === undefined || (way !== 'plain' && !asText.has(family))) continue;
      const kept = rows.filter((row) => typeof format.write(row) !== 'string');
      // Some worlds have no place in some forms: the checks know which, and fail where others are empty.
      if (kept.length === 0) continue;
      const at = `${folder}/${way}/${family}`;
      writeFiles(join(out, at), format, kept);
      manifest.push(
        entryOf(world, rule, { family, way, folder: at, expected, rows, kept, format }),
      );
    }
  }
}

interface Written {
  readonly family: string;
  readonly way: string;
  readonly folder: string;
  readonly expected: string;
  readonly rows: readonly TrainingRow[];
  readonly kept: readonly TrainingRow[];
  readonly format: RowFormat;
}

function entryOf(world: World, { name, kind }: RowRule, written: Written): Entry {
  const { family, way, folder, expected, rows, kept, format } = written;
  return {
    folder,
    family,
    kind,
    rule: name,
    way,
    world: world.name,
    wholeTurns: world.wholeTurns,
    columns: format.columns,
    rows: kept.length,
    refused: rows.length - kept.length,
    expected,
  };
}

function writeFiles(folder: string, format: RowFormat, rows: readonly TrainingRow[]): void {
  for (const [type, open] of Object.entries(writers)) {
    const file = `train-00000-of-00001.${type}`;
    mkdirSync(join(folder, type), { recursive: true });
    const writer = open(join(folder, type, file), format.columns);
    for (const row of rows) {
      const written = format.write(row);
      if (typeof written !== 'string') writer.write(written);
    }
    writer.close();
    for (const [name, text] of Object.entries(format.extraFiles?.([file]) ?? {})) {
      writeFileSync(join(folder, type, name), text);
    }
  }
}

/** A dataset as a whole, with its card, of all worlds: some shards have no call of a tool and no mark of a tree. */
async function writeWhole(): Promise<void> {
  const [pairs, , steps] = rules;
  const configsFor = (file: 'jsonl' | 'parquet') =>
    datasetFormats.flatMap(({ create }) => {
      const format = create();
      return [pairs, steps].flatMap((rule) => {
        const form: RowFormat | undefined = rule && format.forms[rule.kind];
        // A trainer that reads one type only is given no other.
        if (rule === undefined || form === undefined || form.files?.includes(file) === false)
          return [];
        return [{ name: form.name, rule, format }];
      });
    });
  for (const file of ['jsonl', 'parquet'] as const) {
    const folder = join(out, `whole-${file}`);
    const problems = all.flatMap(({ records }) => records.map((record) => [record]));
    const splits = { train: 0.7, test: 0.3 };
    const report = await writeDataset({
      out: folder,
      problems,
      configs: configsFor(file),
      file,
      splits,
      rowsPerFile: 16,
    });
    writeFileSync(join(out, `whole-${file}.json`), JSON.stringify(report));
  }
}
