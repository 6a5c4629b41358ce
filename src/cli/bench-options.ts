import { Command } from 'commander';
import type { BenchBudget } from '../bench/report.ts';
import { type Check, parseBudgets, parseCheck } from '../bench/suite.ts';
import { benchTasks } from '../bench/tasks/tasks.ts';
import { algorithmNames } from '../runs/algorithms.ts';
import { methodNames } from '../runs/methods.ts';
import { addModelOptions, type ModelRequest } from './model.ts';
import { addGuideOptions, type OwnRequest } from './own-parts.ts';
import { addPriceOptions, type PriceRequest } from './prices.ts';
import { integerOption, numberOption, seedOption, withWords } from './values.ts';

/** What `espalier bench` was asked for on the command line. */
export interface BenchArguments
  extends ModelRequest,
    PriceRequest,
    Pick<OwnRequest, 'policy' | 'value'> {
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
  'All methods are compared at the same budgets. Each is charged for all that it',
  'uses; requests that several share are paid once. The folder has the reports:',
  'report.json, report.md and report.html. Run the same command to continue.',
  '',
  'Example: espalier bench --task game24 --methods mcts,beam --budgets tokens=500,1k --limit 150',
  'Example: espalier bench --task gsm8k:test.jsonl --model ollama:qwen3 --methods mcts,lats --seeds 3',
].join('\n');

/** What a shell offers where a method is named. */
const methodWords = [...algorithmNames, ...methodNames];

/** The command without its action. */
export function benchCommand(): Command {
  const command = new Command('bench')
    .description('Measure whether search helps, which method, from which budget, and at what cost.')
    .argument('[suite]', 'a YAML file with the options (schemas/bench-suite.json)')
    .option(
      '--task <task>',
      'a task such as game24, a file of problems, or a module (./my-task.ts)',
      withWords(
        (text: string) => text,
        benchTasks.map(({ name }) => name),
      ),
    )
    .option(
      '--replay <run>',
      'search the problems of a run of `generate` or `search` with its recorded answers (no model calls)',
    )
    .option('--split <name>', 'the split of the task')
    .option(
      '--methods <names>',
      'algorithms, methods and modules of your own (./my-beam.ts), separated by commas (default: mcts)',
      withWords(listOption, methodWords),
    )
    .option(
      '--budgets <limits>',
      'what each search may spend, such as tokens=2k,8k,32k; can be repeated (default: tokens=1k,2k,4k)',
      (text: string, before: readonly BenchBudget[] = []) => [...before, ...parseBudgets(text)],
    )
    .option(
      '--seeds <n>',
      'independent searches of each problem (default: 1)',
      integerOption('seeds'),
    )
    .option('--limit <n>', 'the maximum number of problems', integerOption('limit'))
    .option(
      '--temperature <n>',
      'for all algorithms but greedy, best-of-n included (default: that of the policy)',
      numberOption('temperature'),
    )
    .option(
      '--baseline <name>',
      'the method the others are compared with (default: best-of-n)',
      withWords((text: string) => text, methodWords),
    );
  return addRunOptions(addPriceOptions(addModelOptions(addGuideOptions(command)))).addHelpText(
    'after',
    help,
  );
}

function addRunOptions(command: Command): Command {
  return command
    .option(
      '--budget-usd <n>',
      'maximum dollars charged to all searches; equal requests are bought once, so less is spent',
      numberOption('budget-usd'),
    )
    .option(
      '--concurrency <n>',
      'searches, and calls, at the same time (default: 4)',
      integerOption('concurrency'),
    )
    .option('--seed <seed>', 'a number or a word (default: 0)', seedOption)
    .option(
      '--out <folder>',
      'where everything is kept (default: bench/ and a name made of the task, the model and its settings)',
    )
    .option(
      '--cache <folder>',
      'where what was bought is kept, to share it with other benchmarks (default: in --out)',
    )
    .option(
      '--no-times',
      'reuse recorded answers without waiting as long as they took; leaves times out',
    )
    .option('--dry-run', 'say what it may cost and spend nothing')
    .option(
      '--fail-if-worse <check>',
      'exit with 1 if a method is worse, as in mcts:best-of-n@8k or mcts:best-of-n@calls=8; can be repeated',
      (text: string, before: readonly Check[] = []) => [...before, parseCheck(text)],
    )
    .option('--inspect <folder>', 'write logs of Inspect AI, one for each method and budget')
    .option('--json', 'print the report as one JSON document');
}

function listOption(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}
