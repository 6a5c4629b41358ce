import { Command, CommanderError } from 'commander';
import { EspalierError } from '../base/errors.ts';
import { espalierVersion } from '../base/version.ts';
import { runBenchCommand } from './bench.ts';
import { type BenchArguments, benchCommand } from './bench-options.ts';
import {
  type CheckDatasetRequest,
  checkDatasetCommand,
  runCheckDatasetCommand,
} from './check-dataset.ts';
import { type DemoRequest, runDemoCommand } from './demo.ts';
import { type DoctorRequest, doctorCommand, runDoctorCommand } from './doctor.ts';
import { type ExportRequest, exportCommand, runExportCommand } from './export.ts';
import { runGenerateCommand } from './generate.ts';
import { type GenerateArguments, generateCommand } from './generate-options.ts';
import { methodsCommand } from './methods.ts';
import { printError, writeError, writeOut } from './output.ts';
import { type RowsRequest, rowsCommand, runRowsCommand } from './rows.ts';
import { runSearchCommand } from './search.ts';
import { type SearchRequest, searchCommand } from './search-options.ts';
import { runTreeCommand, type TreeRequest } from './tree.ts';
import { integerOption, seedOption } from './values.ts';

/**
 * Runs the command line.
 *
 * @param args - What follows the name of the program.
 * @returns the exit code: 0 solved or finished, 1 the search failed, 2 bad usage or a file that cannot be used, 130 ended by Ctrl-C.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = makeProgram(args, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has said what it had to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    printError(error instanceof Error ? error.message : String(error));
    return isUsage(error) ? 2 : 1;
  }
}

/** What was asked for cannot be done: a wrong option, a file or a folder that cannot be used. */
function isUsage(error: unknown): boolean {
  const codes: readonly string[] = [
    'usage',
    'invalid-tree',
    'invalid-journal',
    'locked',
    'storage',
  ];
  return EspalierError.isInstance(error) && codes.includes(error.code);
}

function makeProgram(typed: readonly string[], exit: (code: number) => void): Command {
  const program = new Command('espalier')
    .description('Reasoning by tree search.')
    .version(espalierVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText(
      'after',
      '\nExit code: 0 done, 1 failed, 2 bad usage or a file or folder that cannot be used, 130 ended by Ctrl-C.\n\nExample: espalier demo',
    )
    .configureOutput({
      writeOut,
      writeErr: writeError,
      outputError: (text, write) => write(sentence(text)),
    })
    .exitOverride();

  const commands = [
    demoCommand().action(async (request: DemoRequest) => exit(await runDemoCommand(request))),
    searchCommand().action(
      async (question: string | undefined, request: SearchRequest, { args }: Command) => {
        expectQuotes(args, request);
        exit(await runSearchCommand({ ...request, ...(question !== undefined && { question }) }));
      },
    ),
    benchCommand().action(async (suite: string | undefined, request: BenchArguments) =>
      exit(await runBenchCommand(suite, request, typed)),
    ),
    doctorCommand().action(async (request: DoctorRequest) => exit(await runDoctorCommand(request))),
    methodsCommand(),
    treeCommand(),
    generateCommand().action(async (request: GenerateArguments) =>
      exit(await runGenerateCommand(request)),
    ),
    checkDatasetCommand().action(async (path: string, request: CheckDatasetRequest) =>
      exit(await runCheckDatasetCommand(path, request)),
    ),
    rowsCommand().action(async (path: string, request: RowsRequest) =>
      exit(await runRowsCommand(path, request)),
    ),
    exportCommand().action(async (sources: readonly string[], request: ExportRequest) =>
      exit(await runExportCommand(sources, request)),
    ),
  ];
  for (const command of commands) {
    const mayHaveMore = command.name() === 'search';
    program.addCommand(command.copyInheritedSettings(program).allowExcessArguments(mayHaveMore));
  }
  return program;
}

function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Solve the Game of 24 with a small language model, with and without a tree search.',
    )
    .option('--puzzles <n>', 'how many puzzles', integerOption('puzzles'), 150)
    .option(
      '--tokens <n>',
      'at most so many tokens a puzzle (1,000 without another limit)',
      integerOption('tokens'),
    )
    .option('--calls <n>', 'at most so many calls of the model', integerOption('calls'))
    .option('--ms <n>', 'at most so many milliseconds', integerOption('ms'))
    .option('--seed <seed>', 'a number or a word', seedOption, 0)
    .option('--json', 'print the table as one JSON document')
    .addHelpText('after', '\nExample: espalier demo --puzzles 400 --tokens 2000');
}

function treeCommand(): Command {
  return new Command('tree')
    .description('Draw the tree of a saved run.')
    .argument('<folder>', 'what `espalier search --save` has written')
    .option(
      '--depth <n>',
      'how many levels; the best path is always whole',
      integerOption('depth', 0),
      3,
    )
    .option('--breadth <n>', 'how many children of each node', integerOption('breadth'), 4)
    .addHelpText('after', '\nExample: espalier tree runs/first --depth 2')
    .action((folder: string, request: TreeRequest) => runTreeCommand(folder, request));
}

/** The shell parts an input at its spaces where it stands without quotes. */
function expectQuotes(args: readonly string[], { input }: SearchRequest): void {
  const rest = input === undefined ? args.slice(1) : args;
  if (rest.length === 0) return;
  const got = rest.length === 1 ? `also \`${rest[0]}\`` : `${rest.length} more`;
  const what = input === undefined ? 'one question' : 'one value after `--input`';
  throw new EspalierError('usage', `Expected ${what}, got ${got}; put it in quotes.`);
}

/** An error of commander in the form of the others: a sentence. */
function sentence(text: string): string {
  const [first = '', ...rest] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n');
  const capital = first.charAt(0).toUpperCase() + first.slice(1);
  const ended = /[.?!)]$/.test(capital) ? capital : `${capital}.`;
  return `${[ended, ...rest].join(' ')}\n`;
}
