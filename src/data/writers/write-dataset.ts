import { EspalierError } from '../../base/errors.ts';
import {
  describeValue,
  expectArray,
  expectation,
  expectInteger,
  expectMethods,
  expectObject,
  expectOneOf,
  expectText,
  gotten,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { makerOfFormat, makerOfRule } from '../catalogue.ts';
import { type DatasetFolder, datasetFolder } from '../dataset-folder.ts';
import type { RowFormat } from '../formats/format.ts';
import { expectTrees } from '../row-rule.ts';
import { datasetCard } from './card.ts';
import { type ConfigOutput, configOutput, type FormedConfig } from './config-output.ts';
import type {
  CardOptions,
  DatasetConfig,
  DatasetFile,
  SourceFile,
  WriteDatasetOptions,
} from './options.ts';
import type { DatasetReport } from './report.ts';
import { splitter } from './split.ts';

/**
 * Writes a dataset as the Hugging Face Hub expects it: a folder of shards for each configuration, such as
 * `dpo/train-00000-of-00002.parquet`, and a card. Rows come in the order of the trees, so that equal trees give equal
 * bytes. A row equal to one of another problem is left out, whatever its split. Memory grows by about 30 bytes per row,
 * to detect duplicates. The old dataset stays intact until the new one is complete; then its shards are removed, and
 * unrelated files in its folders are kept. A split without rows has no file, and a dataset without rows only a card.
 *
 * @throws EspalierError `usage` for an invalid option, a row that does not match its columns, or grouped trees of
 * different problems, or if `out` has an unrelated file in the place of one of its own, or a dataset of other
 * configurations, rules or formats: only the same export may be repeated; `locked` if another export writes to `out`;
 * `storage` for disk errors. The old dataset is then unchanged.
 */
export async function writeDataset(options: WriteDatasetOptions): Promise<DatasetReport> {
  expectOptions(
    'writeDataset',
    options,
    'out problems configs file splits allProblems nearDuplicates rowsPerFile seed card',
  );
  const { out, problems, configs, splits = { train: 1 }, seed = 0, card = {} } = options;
  expectOptions('card', card, 'title source files spend repo license tags');
  expectText('out', out);
  expectIterable(problems);
  if (Array.isArray(splits)) {
    throw expectation('splits', 'shares by name, such as `{ train: 0.8, test: 0.2 }`', splits);
  }
  expectObject('splits', splits);
  expectNames(options.allProblems);
  const splitOf = splitter(splits, seed, options.allProblems);
  const formedConfigs = formed(configs);
  const { rowsPerFile = 500_000, nearDuplicates = 'keep' } = options;
  expectOneOf('nearDuplicates', nearDuplicates, ['drop', 'keep']);
  const file = fileFor(formedConfigs, options.file);
  expectInteger('rowsPerFile', rowsPerFile, { min: 1 });

  const folder = datasetFolder(out, formedConfigs);
  const outputs = formedConfigs.map((config) =>
    configOutput({
      config,
      folder: () => folder.configFolder(config.name),
      file,
      splits: Object.keys(splits),
      rowsPerFile,
      nearDuplicates,
    }),
  );
  try {
    const { files, ...counts } = await fill(outputs, problems, splitOf);
    const reports = outputs.map((output) => output.finish());
    const rows = reports.reduce((sum, report) => sum + report.rows, 0);
    const report = { out, ...counts, rows, configs: reports };
    folder.commit(datasetCard(report, { file, files, ...card }));
    return report;
  } catch (error) {
    abandon(outputs, folder);
    throw error;
  }
}

/**
 * Checks that a dataset can be written, before anything is spent on it.
 *
 * @throws EspalierError as {@link writeDataset}.
 */
export function expectWritable({
  out,
  configs,
  file,
}: Pick<WriteDatasetOptions, 'configs' | 'file' | 'out'>): void {
  const formedConfigs = formed(configs);
  fileFor(formedConfigs, file);
  datasetFolder(out, formedConfigs).abandon();
}

async function fill(
  outputs: readonly ConfigOutput[],
  problems: WriteDatasetOptions['problems'],
  splitOf: (problem: string) => string,
): Promise<Pick<DatasetReport, 'problems' | 'trees'> & Required<Pick<CardOptions, 'files'>>> {
  const counts = { problems: 0, trees: 0 };
  const files = new Map<string, SourceFile>();
  for await (const trees of problems) {
    if (!Array.isArray(trees)) {
      throw new EspalierError(
        'usage',
        `Expected each entry of \`problems\` to be the list of the trees of one problem, such as \`[{ problem, tree, notation }]\`, got ${describeValue(trees)}.`,
      );
    }
    expectTrees('trees', trees);
    const [first] = trees;
    if (first === undefined) continue;
    const other = trees.find(({ problem }) => problem !== first.problem);
    if (other !== undefined) {
      throw expectation('problems', `trees of \`${first.problem}\` together`, other.problem);
    }
    counts.problems += 1;
    counts.trees += trees.length;
    for (const { file } of trees) if (file !== undefined) files.set(JSON.stringify(file), file);
    const split = splitOf(first.problem);
    for (const output of outputs) output.add(trees, split);
  }
  return { ...counts, files: [...files.values()] };
}

/** The first failure is reported: a further failure to delete files is of no interest. */
function abandon(outputs: readonly ConfigOutput[], folder: DatasetFolder): void {
  try {
    for (const output of outputs) output.abandon();
    folder.abandon();
  } catch {
    // The next export deletes them.
  }
}

const allFiles = ['jsonl', 'jsonl.gz', 'parquet'] as const;

/** The type of the files: the one requested, otherwise the first that the trainers of all forms read. */
function fileFor(configs: readonly FormedConfig[], asked: DatasetFile | undefined): DatasetFile {
  if (asked !== undefined) expectOneOf('file', asked, allFiles);
  const read = ({ form }: FormedConfig): readonly DatasetFile[] => form.files ?? allFiles;
  const file =
    asked ?? allFiles.find((each) => configs.every((config) => read(config).includes(each)));
  const other = configs.find((config) => file === undefined || !read(config).includes(file));
  if (file !== undefined && other === undefined) return file;
  const forms = configs.filter((config) => read(config).length < allFiles.length);
  const wanted = forms.map((config) => `${read(config).join(' or ')} for ${config.form.name}`);
  throw expectation('file', `${wanted.join(', ')}, which is what its trainer reads`, asked);
}

/** For callers without types. A text is iterable too. */
function expectIterable(problems: unknown): void {
  const isOne =
    typeof problems === 'object' &&
    problems !== null &&
    (Symbol.iterator in problems || Symbol.asyncIterator in problems);
  if (!isOne) throw expectation('problems', 'the trees, as an iterable of arrays', problems);
}

function expectNames(all: unknown): void {
  if (all === undefined) return;
  const wrong = Array.isArray(all) ? all.find((name) => typeof name !== 'string') : all;
  if (wrong !== undefined) throw expectation('allProblems', 'the ids of all problems', wrong);
}

/** A rule and a format that were made: what makes them is a function, and has a name on the command line. */
function expectMade({ rule, format }: DatasetConfig, path: string): void {
  expectNoName(`${path}.rule`, rule, makerOfRule);
  expectMethods(`${path}.rule`, rule, ['rows']);
  expectNoName(`${path}.format`, format, makerOfFormat);
  expectObject(`${path}.format`, format);
  expectObject(`${path}.format.forms`, format.forms);
}

function expectNoName(
  path: string,
  given: unknown,
  makerOf: (name: string) => string | undefined,
): void {
  if (typeof given !== 'string') return;
  const maker = makerOf(given);
  const hint = maker === undefined ? '' : ` Did you mean \`${maker}\`?`;
  const message = `Expected \`${path}\` to be an object that a function makes, ${gotten(given)}${hint}`;
  throw new EspalierError('usage', message);
}

/** Each configuration with the form of its rows, all of different names. */
function formed(configs: readonly DatasetConfig[]): readonly FormedConfig[] {
  expectArray('configs', configs);
  if (configs.length === 0) throw expectation('configs', 'one or more', configs);
  const names = new Set<string>();
  return configs.map((config, place) => {
    expectOptions(`configs[${place}]`, config, 'name rule format');
    expectMade(config, `configs[${place}]`);
    const { rule, format, name = rule.name } = config;
    if (!/^\w[\w.-]*$/.test(name)) {
      throw expectation('configs.name', 'letters, digits, `_`, `-` and `.`', name);
    }
    if (names.has(name)) {
      throw expectation(
        'configs.name',
        'different names (without one it is that of the rule)',
        name,
      );
    }
    names.add(name);
    const form: RowFormat | undefined = format.forms[rule.kind];
    if (form === undefined) {
      const kinds = Object.keys(format.forms).join(', ');
      throw expectation(`configs.${name}.format`, `a format for rows of kind ${rule.kind}`, kinds);
    }
    return { name, rule, form };
  });
}
