import { counted } from '../../base/counted.ts';
import { espalierVersion } from '../../base/version.ts';
import type { Spend } from '../../contracts/spend.ts';
import { cardMark } from '../dataset-folder.ts';
import type { Columns, ColumnType } from '../formats/columns.ts';
import type { RowKind } from '../rows.ts';
import { numbersOf, short } from './card-numbers.ts';
import { codeSpan, prose, yamlString } from './markdown.ts';
import type { CardOptions, DatasetFile } from './options.ts';
import type { ConfigReport, DatasetReport } from './report.ts';

/** The card of a dataset: `README.md` with front matter that the Hub reads. */
export function datasetCard(
  report: DatasetReport,
  options: CardOptions & { readonly file: DatasetFile },
): string {
  const { title = 'Training data from tree search', source, spend } = options;
  const { problems, trees, rows, configs } = report;
  const lines = [
    ...frontMatter(report, options),
    '',
    `# ${prose(title)}`,
    '',
    `${counted(rows, 'row')} ${cardMark} from ${counted(trees, 'search tree')} over ${counted(problems, 'problem')}. Splits are by problem: no problem is in two of them.`,
    ...(source === undefined ? [] : ['', `Source: ${prose(source)}`]),
    ...sourceFiles(options),
    ...(spend === undefined ? [] : ['', spent(spend)]),
    ...configs.flatMap((config) => ['', ...section(config, options)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The data by which readers can check whether they have the same trees. */
function sourceFiles({ files = [] }: CardOptions): readonly string[] {
  if (files.length === 0) return [];
  return [
    '',
    '| trees | SHA-256 | made by |',
    '|---|---|---|',
    ...files.map(
      ({ name, sha256, madeBy }) => `| ${prose(name)} | ${codeSpan(sha256)} | ${prose(madeBy)} |`,
    ),
    '',
    `Rows written by espalier ${espalierVersion()}.`,
    ...(files.some(({ isByLine = false }) => isByLine)
      ? [
          'Lines of a run are in no fixed order, so its hash is the SHA-256 of its sorted line hashes, one per line.',
        ]
      : []),
  ];
}

/** What trainers of the rows of each kind are called. */
export const tagsOf: Readonly<Record<RowKind, readonly string[]>> = {
  preference: ['dpo', 'preference'],
  prompt: ['grpo'],
  rollout: ['grpo'],
  sft: ['sft'],
  stepwise: ['prm'],
  unpaired: ['kto'],
};

function frontMatter(
  { configs, rows }: DatasetReport,
  { file, license = 'other', tags = [] }: CardOptions & { readonly file: DatasetFile },
): readonly string[] {
  const filled = configs.filter((config) => config.rows > 0);
  const all = new Set([...configs.flatMap(({ kind }) => tagsOf[kind]), ...tags, 'tree-search']);
  return [
    '---',
    ...(filled.length === 0 ? [] : ['configs:']),
    ...filled.flatMap(({ name, splits }, place) => [
      `- config_name: ${yamlString(name)}`,
      ...(place === 0 ? ['  default: true'] : []),
      '  data_files:',
      ...splits.flatMap((split) => [
        `  - split: ${yamlString(split.name)}`,
        `    path: ${yamlString(`${name}/${split.name}-*.${file}`)}`,
      ]),
    ]),
    ...(filled.length === 0 || file === 'parquet' ? [] : ['dataset_info:']),
    // Parquet contains its types.
    ...(file === 'parquet' ? [] : filled).flatMap(({ name, columns }) => [
      `- config_name: ${yamlString(name)}`,
      '  features:',
      ...cardFeatures(columns).map((line) => `  ${line}`),
    ]),
    'tags:',
    ...[...all].map((tag) => `- ${yamlString(tag)}`),
    'task_categories:',
    '- text-generation',
    'size_categories:',
    `- ${sizeCategory(rows)}`,
    `license: ${yamlString(license)}`,
    '---',
  ];
}

const types = { boolean: 'bool', float: 'float64', int: 'int64', json: 'json', string: 'string' };

/**
 * The types of columns as the card declares them, as lines of YAML. From JSON lines alone `datasets` takes a column
 * for one without type where its first values are empty lists or `null`, and fails on the first that is not.
 */
function cardFeatures(columns: Columns): readonly string[] {
  return Object.entries(columns).flatMap(([name, type]) => [
    `- name: ${yamlString(name)}`,
    ...indented(typeLines(type)),
  ]);
}

function typeLines(type: ColumnType): readonly string[] {
  if (typeof type === 'string') return [`dtype: ${types[type]}`];
  if ('optional' in type) return typeLines(type.optional);
  if ('struct' in type) return ['struct:', ...cardFeatures(type.struct)];
  const { list } = type;
  if (typeof list === 'string' && list !== 'json') return [`list: ${types[list]}`];
  const inner = typeLines(list);
  // A list of structs has their fields in the place of a type.
  return inner[0] === 'struct:' ? ['list:', ...inner.slice(1)] : ['list:', ...indented(inner)];
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

/** The sizes that the Hub knows. */
function sizeCategory(rows: number): string {
  const steps = ['1K', '10K', '100K', '1M', '10M', '100M', '1B'];
  const place = steps.findIndex((_, power) => rows < 1000 * 10 ** power);
  if (place === 0) return 'n<1K';
  return place < 0 ? 'n>1B' : `${steps[place - 1] ?? ''}<n<${steps[place] ?? ''}`;
}

function section(
  config: ConfigReport,
  { repo, file }: CardOptions & { readonly file: DatasetFile },
): readonly string[] {
  const { name, rule, format, usage, rows, splits, refused } = config;
  return [
    `## ${prose(name)}`,
    '',
    `Rule ${codeSpan(rule)}${about(config)}, form ${codeSpan(format)}.`,
    '',
    '| split | problems | rows |',
    '|---|---:|---:|',
    ...splits.map((split) => `| ${split.name} | ${split.problems} | ${split.rows} |`),
    ...numbersOf(config),
    ...refusals(refused),
    ...sources(config),
    ...(usage === '' || rows === 0
      ? []
      : ['', '### Use', '', filled(usage, name, repo).replaceAll('<file>', file)]),
  ];
}

/** What the rule makes, its paper, and the options with which it was made. */
function about({ title = '', paper = '', options = {} }: ConfigReport): string {
  const told = JSON.stringify(options);
  const parts = [prose(title), prose(paper), told === '{}' ? '' : codeSpan(told)];
  const known = parts.filter((part) => part !== '');
  return known.length === 0 ? '' : ` (${known.join('; ')})`;
}

function refusals(refused: ConfigReport['refused']): readonly string[] {
  if (refused.length === 0) return [];
  return [
    '',
    'Left out:',
    '',
    ...refused.map(({ reason, rows }) => `- ${counted(rows, 'row')}: ${prose(reason)}`),
  ];
}

function sources({ sources: { methods, models, guidance, stamps } }: ConfigReport): string[] {
  const guided = Object.entries(guidance).filter(([, rows]) => rows > 0);
  const line = (label: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`- ${label}: ${names.map(codeSpan).join(', ')}`];
  const lines = [
    ...line('methods', methods),
    ...line('models', models),
    ...(guided.length === 0
      ? []
      : [
          `- guidance: ${guided.map(([name, rows]) => `${name} (${counted(rows, 'row')})`).join(', ')}`,
        ]),
    ...line('stamps', stamps),
  ];
  return lines.length === 0 ? [] : ['', 'Sources:', '', ...lines];
}

/** Repositories are `owner/name`: anything else is not put into a command. */
function filled(usage: string, name: string, repo: string | undefined): string {
  const named = usage.replaceAll('<configuration>', name);
  const isName = repo !== undefined && /^[\w.-]+(\/[\w.-]+)?$/.test(repo);
  return isName ? named.replaceAll('<this dataset>', repo) : named;
}

function spent({ calls, tokens, usd }: Spend): string {
  // Where no price is known nothing was added up, which is not the same as free.
  const dollars = usd > 0 ? `, $${short(usd)}` : '';
  return `Spent: ${counted(calls, 'call')}, ${counted(tokens, 'token')}${dollars}.`;
}
