import { Command, Option } from 'commander';
import { algorithmNames } from '../runs/algorithms.ts';
import { methodNames } from '../runs/methods.ts';
import { taskNames } from '../runs/tasks.ts';
import { addDatasetOptions, type DatasetRequest } from './dataset-options.ts';
import { addModelOptions } from './model.ts';
import { addOwnOptions, algorithmOption } from './own-parts.ts';
import { addPriceOptions } from './prices.ts';
import { fillOption, type SearchRequest } from './search-options.ts';
import { integerOption, numberOption, seedOption, wordOption } from './values.ts';

/** What `espalier generate` was asked for. */
export interface GenerateArguments
  extends DatasetRequest,
    Omit<SearchRequest, 'concurrency' | 'input' | 'order' | 'question' | 'save'> {
  readonly problems: string;
  readonly run?: string;
  readonly budgetCalls?: number;
  readonly budgetTokens?: number;
  readonly attempts: number;
  readonly concurrency?: number;
  readonly batch?: boolean;
  readonly batchDeadline?: number;
  readonly limit?: number;
  readonly answers: boolean;
  readonly untilSolved?: boolean;
}

/** The command without its action. */
export function generateCommand(): Command {
  const command = new Command('generate')
    .description('Search many problems under one budget, and make a dataset of the trees.')
    .requiredOption('--problems <file>', 'one problem a line, as JSON; the forms are below')
    .option(
      '--task <name>',
      `the puzzle of lines that name none: ${taskNames.join(', ')}`,
      wordOption('task', taskNames),
    )
    .option(
      '--method <name>',
      'a published method; `espalier methods` lists them',
      wordOption('method', methodNames),
    )
    .addOption(
      new Option(
        '--algorithm <name>',
        `${algorithmNames.join(', ')}, or a module of your own; mcts where no method is named`,
      )
        .argParser(algorithmOption)
        .conflicts('method'),
    )
    .option('--json', 'print the result as one JSON document');
  return addDatasetOptions(
    addPriceOptions(addRunOptions(addModelOptions(addOwnOptions(command)))),
  ).addHelpText(
    'after',
    [
      '',
      'A line is {"question": "…", "answer": "…"} or {"task": "game24", "input": "4 9 10 13"}, with an "id" if',
      'wanted; with --environment it is {"input": "…"}, or the bare input.',
      'Known answers reward ends, and mark the rows as oracle-guided. The same command again goes on',
      'where it was broken off: what is done, or paid for, is not done again. Ctrl-C ends with what there is;',
      'batches stay at their provider, and the same command goes on with them.',
      '',
      'Example: espalier generate --problems problems.jsonl --method agent-q --model openai:gpt-6-luna \\',
      '           --calls 60 --budget-usd 5 --concurrency 16 --out data/agent-q',
    ].join('\n'),
  );
}

/** What may be spent, and how it is gone about. */
function addRunOptions(command: Command): Command {
  return command
    .option(
      '--run <folder>',
      'where trees and paid calls are kept (default: runs/ and the name of --out)',
    )
    .option(
      '--calls <n>',
      'calls for each problem, refused ones counted (400 with a model and no limit)',
      integerOption('calls'),
    )
    .option('--simulations <n>', 'simulations for each problem', integerOption('simulations'))
    .option('--nodes <n>', 'nodes of each tree', integerOption('nodes'))
    .option(
      '--tokens <n>',
      'tokens for each problem, but for what kills lost',
      integerOption('tokens'),
    )
    .option('--ms <n>', 'milliseconds for each problem', numberOption('ms'))
    .option('--budget-usd <n>', 'dollars for all problems together', numberOption('budget-usd'))
    .option('--budget-calls <n>', 'calls for all problems together', integerOption('budget-calls'))
    .option(
      '--budget-tokens <n>',
      'tokens for all problems together',
      integerOption('budget-tokens'),
    )
    .option(
      '--concurrency <n>',
      'searches, and calls, under way at once (default: 4, with --batch 500)',
      integerOption('concurrency'),
    )
    .option('--batch', 'send calls in batches of their provider: half the price, hours of waiting')
    .option(
      '--batch-deadline <minutes>',
      'after how long the rest of a batch is asked at the full price (default: 1440)',
      numberOption('batch-deadline'),
    )
    .option('--attempts <n>', 'trees for each problem', integerOption('attempts'), 1)
    .option('--limit <n>', 'only the first problems of the file', integerOption('limit'))
    .option('--seed <seed>', 'a number or a word', seedOption, 0)
    .option(...fillOption)
    .option('--no-answers', 'do not reward ends by the known answers: a model judges them')
    .option('--until-solved', 'end a search at the first right end, and not at its budget')
    .option('--retry-failed', 'search again what has failed');
}
