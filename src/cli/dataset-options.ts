import type { Command } from 'commander';
import { expectation } from '../base/expect.ts';
import { datasetFormats } from '../data/catalogue.ts';
import { type RequestedRule, ruleNames, rulesOption } from './rule-option.ts';
import { integerOption, numberOption, seedOption, wordOption } from './values.ts';

/** What a dataset is to be like. */
export interface DatasetRequest {
  readonly out: string;
  readonly rule?: readonly RequestedRule[];
  readonly unit?: 'step' | 'trajectory';
  readonly format: string;
  readonly file?: 'jsonl' | 'jsonl.gz' | 'parquet';
  readonly split?: Readonly<Record<string, number>>;
  readonly splitSeed?: number | string;
  readonly exactSplit?: boolean;
  readonly nearDuplicates?: 'drop' | 'keep';
  readonly minMargin?: number;
  readonly minVisits?: number;
  readonly maxPairs?: number;
  readonly chatTemplate?: string;
  readonly endToken?: string;
  readonly provenance?: boolean;
  readonly notation?: 'continued' | 'json' | 'restated';
}

const formatNames: readonly string[] = datasetFormats.map(({ name }) => name);

/** The options of all commands that write a dataset. */
export function addDatasetOptions(command: Command): Command {
  const chosen = command
    .requiredOption('--out <folder>', 'where the dataset is written')
    .option(
      '--rule <names>',
      `kinds of rows, separated by commas; can be repeated: ${ruleNames.join(', ')} (default: the rule of the method, else agent-q); with options: math-shepherd:from=evaluation,paths=leaves`,
      rulesOption,
    )
    .option(
      '--unit <unit>',
      'for best-trajectories: step, for policies that are asked step by step, or trajectory (default)',
      wordOption('unit', ['step', 'trajectory']),
    )
    .option(
      '--format <name>',
      `the trainer and form: ${formatNames.join(', ')}`,
      wordOption('format', formatNames),
      'trl',
    )
    .option(
      '--file <type>',
      'jsonl, jsonl.gz or parquet (default: jsonl; parquet for verl)',
      wordOption('file', ['jsonl', 'jsonl.gz', 'parquet']),
    )
    .option(
      '--split <shares>',
      'shares by problem, such as train=0.9,test=0.1 (default: all train)',
      splitOption,
    )
    .option('--split-seed <seed>', 'seed of the split (default: 0)', seedOption)
    .option(
      '--exact-split',
      'make the shares exact; problems may change splits when others are added',
    )
    .option(
      '--near-duplicates <what>',
      'rows nearly identical to an earlier one: drop or keep (default: keep)',
      wordOption('near-duplicates', ['drop', 'keep']),
    )
    .option(
      '--min-margin <n>',
      'for pairs: minimum difference in score',
      numberOption('min-margin'),
    )
    .option(
      '--min-visits <n>',
      'for pairs: minimum visits of both sides',
      integerOption('min-visits', 0),
    )
    .option('--max-pairs <n>', 'for pairs: maximum per problem', integerOption('max-pairs'));
  return addTextOptions(chosen);
}

/** How rows are written as text. */
function addTextOptions(command: Command): Command {
  return command
    .option(
      '--chat-template <file>',
      'a Jinja chat template, or a tokenizer_config.json (#NAME selects one of several), for text formats',
    )
    .option(
      '--end-token <text>',
      'the end token of the model, appended to finished texts, for text formats',
    )
    .option(
      '--provenance',
      'add columns that say where each row comes from (default, except for openai)',
    )
    .option('--no-provenance', 'leave these columns out')
    .option(
      '--notation <name>',
      'how prompts are written: continued, restated, json (default: as in the search)',
      wordOption('notation', ['continued', 'restated', 'json']),
    );
}

function splitOption(text: string): Readonly<Record<string, number>> {
  const parts = text.split(',').map((part) => /^\s*(\w+)\s*=\s*([0-9.]+)\s*$/.exec(part));
  const shares = parts.map((part) => [part?.[1] ?? '', Number(part?.[2])] as const);
  const names = shares.map(([name]) => name);
  const twice = names.find((name, place) => name !== '' && names.indexOf(name) < place);
  if (twice !== undefined) throw expectation('--split', 'different names', twice);
  const sum = shares.reduce((total, [, share]) => total + share, 0);
  const isFull =
    Math.abs(sum - 1) < 1e-9 && shares.every(([name, share]) => name !== '' && share > 0);
  if (!isFull) {
    throw expectation('--split', 'shares above 0 that sum to 1, such as train=0.9,test=0.1', text);
  }
  return Object.fromEntries(shares);
}
