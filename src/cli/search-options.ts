import { Command, Option } from 'commander';
import type { PuzzleName } from '../environments/puzzles/index.ts';
import type { Order } from '../runtime/sequencer.ts';
import { EspalierError } from '../spec/errors.ts';
import type { Budget } from '../spec/spend.ts';
import { type AlgorithmName, algorithmNames } from './algorithms.ts';
import { taskNames } from './tasks.ts';
import { integerOption, numberOption, seedOption, wordOption } from './values.ts';

/** What `espalier search` was asked for. */
export interface SearchRequest {
  readonly task: PuzzleName;
  readonly input: string;
  readonly algorithm: AlgorithmName;
  readonly simulations?: number;
  readonly calls?: number;
  readonly nodes?: number;
  readonly ms?: number;
  readonly concurrency: number;
  readonly order: Order;
  readonly seed: number | string;
  readonly json?: boolean;
  readonly save?: string;
}

/** What a search may spend where no limit is given. */
export const defaultSimulations = 10_000;

/** The budget of a request: its limits, or the default where it has none. */
export function budgetOf({ simulations, calls, nodes, ms }: SearchRequest): Budget {
  const limits = Object.entries({ simulations, calls, nodes, ms }).filter(
    ([, limit]) => limit !== undefined,
  );
  return limits.length === 0 ? { simulations: defaultSimulations } : Object.fromEntries(limits);
}

/** The command without its action. */
export function searchCommand(): Command {
  return new Command('search')
    .description('Search a puzzle and print the plan that was found.')
    .addOption(
      new Option('--task <name>', taskNames.join(', '))
        .argParser(wordOption('task', taskNames))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--input <value>', 'the puzzle, or a file that holds it')
        .argParser(once)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--algorithm <name>', algorithmNames.join(', '))
        .argParser(wordOption('algorithm', algorithmNames))
        .default('mcts'),
    )
    .option(
      '--simulations <n>',
      `at most so many (${defaultSimulations} where no limit is given)`,
      integerOption('simulations'),
    )
    .option('--calls <n>', 'at most so many calls of the policy', integerOption('calls'))
    .option('--nodes <n>', 'at most so many nodes in the tree', integerOption('nodes'))
    .option('--ms <n>', 'at most so many milliseconds', numberOption('ms'))
    .option('--concurrency <n>', 'simulations under way at once', integerOption('concurrency'), 1)
    .addOption(
      new Option('--order <name>', 'in which results take effect: arrival, issued')
        .argParser(wordOption('order', ['arrival', 'issued']))
        .default('arrival'),
    )
    .option('--seed <seed>', 'a number or a word', seedOption, 0)
    .option('--json', 'print the result as one JSON document')
    .option('--save <folder>', 'keep the run there, and resume it from there')
    .addHelpText(
      'after',
      [
        '',
        'The policy proposes the legal moves, all alike. mcts and best-of-n score states by an inexact',
        'hand-written estimate, mcts selects by puct; astar uses an admissible heuristic.',
        '',
        'Example: espalier search --task game24 --input "4 9 10 13" --simulations 200',
      ].join('\n'),
    );
}

/** Of two inputs one would be lost without a word. */
function once(text: string, previous: string | undefined): string {
  if (previous === undefined) return text;
  throw new EspalierError(
    'usage',
    `Expected one \`--input\`, got \`${previous}\` and \`${text}\`.`,
  );
}
