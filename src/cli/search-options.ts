import { Command, Option } from 'commander';
import { EspalierError } from '../base/errors.ts';
import type { Order } from '../calls/sequencer.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { Budget } from '../contracts/spend.ts';
import type { PuzzleName } from '../environments/index.ts';
import { algorithmNames } from '../runs/algorithms.ts';
import { methodNames } from '../runs/methods.ts';
import { taskNames } from '../runs/tasks.ts';
import { addModelOptions, type ModelRequest } from './model.ts';
import { addOwnOptions, algorithmOption, type OwnRequest } from './own-parts.ts';
import { addPriceOptions, type PriceRequest } from './prices.ts';
import { integerOption, numberOption, seedOption, wordOption } from './values.ts';

/** What `espalier search` was asked for. */
export interface SearchRequest extends ModelRequest, OwnRequest, PriceRequest {
  readonly question?: string;
  readonly task?: PuzzleName;
  readonly input?: string;
  readonly method?: string;
  readonly simulations?: number;
  readonly calls?: number;
  readonly nodes?: number;
  readonly ms?: number;
  readonly tokens?: number;
  readonly concurrency: number;
  readonly order: Order;
  readonly seed: number | string;
  readonly json?: boolean;
  readonly save?: string;
  readonly retryFailed?: boolean;
  readonly fill?: boolean;
}

/** What a search may spend where no limit is given: without a model, and with one. */
const defaultSimulations = 10_000;
const defaultCalls = 400;

/** The budget of a request: its limits, or the default where it has none. */
export function budgetOf(
  request: Pick<SearchRequest, 'budgetUsd' | 'calls' | 'ms' | 'nodes' | 'simulations' | 'tokens'>,
  model: LanguageModel | undefined,
): Budget {
  const { simulations, calls, nodes, tokens, ms, budgetUsd: usd } = request;
  const limits = Object.entries({ simulations, calls, nodes, tokens, ms, usd }).filter(
    ([, limit]) => limit !== undefined,
  );
  if (limits.length > 0) return Object.fromEntries(limits);
  return model === undefined ? { simulations: defaultSimulations } : { calls: defaultCalls };
}

const help = [
  '',
  'A model proposes steps and judges states; each sample is a call. With',
  '--model none, the policy lists the legal moves with equal priors, mcts and',
  'best-of-n score states with a hand-written estimate, and astar uses an',
  'admissible heuristic. mcts selects by PUCT.',
  'A search ends at its first solution; astar without a model once none can be',
  'cheaper, and an algorithm of your own when it says so or the budget is spent.',
  '',
  'Exit codes: 0 if the search ended, solved or not; 1 if it failed, 2 wrong usage.',
  '',
  'Example: espalier search --task game24 --input "4 9 10 13" --simulations 200',
  'Example: espalier search --environment ./world.ts --input "order 17" --model ollama:qwen3',
  'Example: espalier search "How many primes are below 50?" --model ollama:qwen3 --calls 60',
].join('\n');

/** Shared by the commands that search. */
export const fillOption = [
  '--fill',
  'when nothing is left to search, draw more samples until the budget is spent',
] as const;

/** The command without its action. */
export function searchCommand(): Command {
  const command = new Command('search')
    .description('Search for the answer to a question or puzzle, and print the best one found.')
    .argument(
      '[question]',
      'the question in quotes, which needs a model; with --task or --environment, the input',
    )
    .option(
      '--task <name>',
      `a puzzle instead of a question: ${taskNames.join(', ')}`,
      wordOption('task', taskNames),
    )
    .option('--input <value>', 'the puzzle, or a file that contains it', once)
    .addOption(
      new Option('--algorithm <name>', `${algorithmNames.join(', ')}, or a module of your own`)
        .argParser(algorithmOption)
        .default('mcts')
        .conflicts('method'),
    )
    .option(
      '--method <name>',
      'a published method; `espalier methods` lists them',
      wordOption('method', methodNames),
    )
    .option(
      '--simulations <n>',
      `maximum simulations (${defaultSimulations} with no model and no other limit)`,
      integerOption('simulations'),
    )
    .option(
      '--calls <n>',
      `maximum calls (${defaultCalls} with a model and no other limit)`,
      integerOption('calls'),
    )
    .option('--nodes <n>', 'maximum nodes in the tree', integerOption('nodes'))
    .option('--tokens <n>', 'maximum tokens', integerOption('tokens'))
    .option('--budget-usd <n>', 'maximum dollars', numberOption('budget-usd'))
    .option('--ms <n>', 'maximum milliseconds', numberOption('ms'));
  return addPriceOptions(addModelOptions(addOwnOptions(command)))
    .option('--concurrency <n>', 'concurrent simulations', integerOption('concurrency'), 1)
    .option(
      '--order <name>',
      'in which results take effect: arrival, issued',
      wordOption('order', ['arrival', 'issued']),
      'arrival',
    )
    .option(...fillOption)
    .option('--seed <seed>', 'a number or a word', seedOption, 0)
    .option('--json', 'print the result as one JSON document')
    .option('--save <folder>', 'save the run there, and resume it from there')
    .option('--retry-failed', 'with --save: also repeat calls that failed permanently')
    .addHelpText('after', help);
}

/** Of two inputs one would be lost without a word. */
function once(text: string, previous: string | undefined): string {
  if (previous === undefined) return text;
  throw new EspalierError(
    'usage',
    `Expected one \`--input\`, got \`${previous}\` and \`${text}\`.`,
  );
}
