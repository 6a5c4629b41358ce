import { Command } from 'commander';
import type { BenchBudget } from '../bench/report.ts';
import { type Check, parseBudgets, parseCheck } from '../bench/suite.ts';
import { addModelOptions, type ModelRequest } from './model.ts';
import { addPriceOptions, type PriceRequest } from './prices.ts';
import { integerOption, numberOption, seedOption } from './values.ts';

/** What `espalier bench` was asked for on the command line. */
export interface BenchArguments extends ModelRequest, PriceRequest {
  readonly task?: string;
  readonly replay?: string;
  readonly split?: string;
  readonly methods?: readonly string[];
  readonly budgets?: readonly BenchBudget[];
  readonly seeds?: number;
  readonly seed?: number | string;
  readonly limit?: number;
  readonly baseline?: string;
  readonly temperature?: number;
  readonly concurrency?: number;
  readonly out?: string;
  readonly cache?: string;
  readonly times: boolean;
  readonly dryRun?: boolean;
  readonly failIfWorse?: readonly Check[];
  readonly inspect?: string;
  readonly json?: boolean;
}

const help = [
  '',
  'Every method pays for what it uses, at the same budgets; what several ask alike is bought once. The report',
  'is in the folder: report.json, report.md and report.html. The same command again goes on where it was.',
  '',
  'Example: espalier bench --task game24 --methods mcts,beam --budgets tokens=500,1k --limit 150',
  'Example: espalier bench --task gsm8k:test.jsonl --model ollama:qwen3 --methods mcts,lats --seeds 3',
].join('\n');

/** The command without its action. */
export function benchCommand(): Command {
  const command = new Command('bench')
    .description('Measure whether search helps, which one, from what budget on, at what price.')
    .argument('[suite]', 'a file in YAML that holds what the options say')
    .option(
      '--task <task>',
      'a task such as game24, a file of problems, or a module (./my-task.ts)',
    )
    .option(
      '--replay <run>',
      'search the problems of a saved run with its recorded thoughts, for nothing',
    )
    .option('--split <name>', 'the split of the task')
    .option(
      '--methods <names>',
      'algorithms and methods, parted by commas (default: mcts)',
      listOption,
    )
    .option(
      '--budgets <limits>',
      'what a search may spend, such as tokens=2k,8k,32k; may be repeated (default: tokens=1k,2k,4k)',
      (text: string, before: readonly BenchBudget[] = []) => [...before, ...parseBudgets(text)],
    )
    .option(
      '--seeds <n>',
      'independent searches of each problem (default: 1)',
      integerOption('seeds'),
    )
    .option('--limit <n>', 'the most problems', integerOption('limit'))
    .option(
      '--temperature <n>',
      'at which algorithms sample, best-of-n too (default: of the policy)',
      numberOption('temperature'),
    )
    .option('--baseline <name>', 'what the others are compared with (default: best-of-n)');
  return addPriceOptions(addModelOptions(command))
    .option('--budget-usd <n>', 'dollars for the whole benchmark', numberOption('budget-usd'))
    .option(
      '--concurrency <n>',
      'searches, and calls, under way at once',
      integerOption('concurrency'),
    )
    .option('--seed <seed>', 'a number or a word (default: 0)', seedOption)
    .option(
      '--out <folder>',
      'where all is kept, and goes on (default: bench/ and the name of the task)',
    )
    .option('--cache <folder>', 'what was bought, shared with other benchmarks (default: in --out)')
    .option('--no-times', 'do not wait for what was bought before as long as it took: no times')
    .option('--dry-run', 'say what it may cost, and spend nothing')
    .option(
      '--fail-if-worse <check>',
      'exit with 1 where a method is worse, as in mcts:best-of-n@8k; may be repeated',
      (text: string, before: readonly Check[] = []) => [...before, parseCheck(text)],
    )
    .option('--inspect <folder>', 'write logs of Inspect AI there, one for each method and budget')
    .option('--json', 'print the report as one JSON document')
    .addHelpText('after', help);
}

function listOption(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}
