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
  return command
    .requiredOption('--out <folder>', 'where the dataset is written')
    .option(
      '--rule <names>',
      `which rows, with commas: ${ruleNames.join(', ')} (default: the rule of the method, else agent-q); with options: math-shepherd:from=evaluation,paths=leaves`,
      rulesOption,
    )
    .option(
      '--unit <unit>',
      'best-trajectories: step, for a policy that is asked step by step, or trajectory (default)',
      wordOption('unit', ['step', 'trajectory']),
    )
    .option(
      '--format <name>',
      `for which trainer: ${formatNames.join(', ')}`,
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
      'by problem, such as train=0.9,test=0.1 (default: all train)',
      splitOption,
    )
    .option('--split-seed <seed>', 'another seed, another split (default: 0)', seedOption)
    .option('--exact-split', 'exact shares of these problems, which may move when others come')
    .option(
      '--near-duplicates <what>',
      'rows that are nearly the same as one before: drop or keep (default: keep)',
      wordOption('near-duplicates', ['drop', 'keep']),
    )
    .option('--min-margin <n>', 'pairs: least difference in score', numberOption('min-margin'))
    .option('--min-visits <n>', 'pairs: least visits of both sides', integerOption('min-visits', 0))
    .option('--max-pairs <n>', 'pairs: maximum of one problem', integerOption('max-pairs'))
    .option(
      '--chat-template <file>',
      'a Jinja chat template, or a tokenizer_config.json (#NAME takes one of several), for forms that are text',
    )
    .option(
      '--end-token <text>',
      'the end token of the model, behind what ends, for forms that are text',
    )
    .option(
      '--provenance',
      'with the columns that tell where a row comes from (default: but for openai)',
    )
    .option('--no-provenance', 'without them')
    .option(
      '--notation <name>',
      'how rows show questions: continued, restated, json (default: as in the search)',
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
