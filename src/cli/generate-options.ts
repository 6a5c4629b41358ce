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
  readonly dryRun?: boolean;
  readonly answers: boolean;
  readonly untilSolved?: boolean;
}

/** The command without its action. */
export function generateCommand(): Command {
  const command = new Command('generate')
    .description('Search many problems under one budget, and make a dataset of the trees.')
    .requiredOption('--problems <file>', 'JSON lines, one problem each; their forms are below')
    .option(
      '--task <name>',
      `the puzzle for lines that name none: ${taskNames.join(', ')}`,
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
        `${algorithmNames.join(', ')}, or a module of your own; mcts unless --method is given`,
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
      'Each line is {"question": "…", "answer": "…"} or',
      '{"task": "game24", "input": "4 9 10 13"}, with an optional "id"; with',
      '--environment it is {"input": "…"} or the bare input. Known answers decide the',
      'rewards, and mark the rows as oracle-guided. To resume, run the same command',
      'again: nothing that is done or paid for is repeated. Ctrl-C ends with what has',
      'been found so far; batches stay at their provider until the next run.',
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
      'where trees and paid calls are saved (default: runs/ and the name of --out)',
    )
    .option(
      '--calls <n>',
      'maximum calls per problem, including refused ones (400 with a model and no other limit)',
      integerOption('calls'),
    )
    .option('--simulations <n>', 'maximum simulations per problem', integerOption('simulations'))
    .option('--nodes <n>', 'maximum nodes per tree', integerOption('nodes'))
    .option(
      '--tokens <n>',
      'maximum tokens per problem, not counting calls lost to kills',
      integerOption('tokens'),
    )
    .option('--ms <n>', 'maximum milliseconds per problem', numberOption('ms'))
    .option(
      '--budget-usd <n>',
      'maximum dollars for all problems together',
      numberOption('budget-usd'),
    )
    .option(
      '--budget-calls <n>',
      'maximum calls for all problems together',
      integerOption('budget-calls'),
    )
    .option(
      '--budget-tokens <n>',
      'maximum tokens for all problems together',
      integerOption('budget-tokens'),
    )
    .option(
      '--concurrency <n>',
      'concurrent searches and calls (default: 4, with --batch 500)',
      integerOption('concurrency'),
    )
    .option('--batch', 'use the batch API of the provider: half the price, hours of waiting')
    .option(
      '--batch-deadline <minutes>',
      'when the rest of a batch is sent at the full price (default: 1440)',
      numberOption('batch-deadline'),
    )
    .option('--attempts <n>', 'trees per problem', integerOption('attempts'), 1)
    .option('--limit <n>', 'only the first problems of the file', integerOption('limit'))
    .option('--seed <seed>', 'a number or a word', seedOption, 0)
    .option(...fillOption)
    .option(
      '--no-answers',
      'let a model judge answers instead of comparing them with the known ones',
    )
    .option('--until-solved', 'end a search at its first correct answer')
    .option('--retry-failed', 'repeat failed searches')
    .option('--dry-run', 'say what it would do and may cost, and spend nothing');
}
