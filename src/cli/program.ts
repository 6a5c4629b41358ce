import { Command, CommanderError } from 'commander';
import { EspalierError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import { withPlace } from '../base/user-module.ts';
import { espalierVersion } from '../base/version.ts';
import type { BenchArguments } from './bench-options.ts';
import type { CheckDatasetRequest } from './check-dataset.ts';
import type { DemoRequest } from './demo.ts';
import type { DoctorRequest } from './doctor.ts';
import type { ExportRequest } from './export.ts';
import type { GenerateArguments } from './generate-options.ts';
import { printError, writeError, writeOut } from './output.ts';
import type { RowsRequest } from './rows.ts';
import type { SearchRequest } from './search-options.ts';
import type { TreeRequest } from './tree.ts';
import { integerOption, seedOption } from './values.ts';

/**
 * Runs the command line.
 *
 * @param args - What follows the name of the program.
 * @returns the exit code: 0 solved or finished, 1 the search failed, 2 bad usage or a file that cannot be used, 130 ended by Ctrl-C.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  try {
    const program = await makeProgram(args, (code) => {
      exitCode = code;
    });
    await expectOptionsTyped(program, args);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has said what it had to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = error instanceof Error ? error.message : String(error);
    printError(withPlace(message, error));
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

/** The commands that are needed for what was typed; all of them where nothing was. */
export async function makeProgram(
  typed: readonly string[],
  exit: (code: number) => void = () => {},
): Promise<Command> {
  const program = new Command('espalier')
    .description('Reasoning by tree search.')
    .version(espalierVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText(
      'after',
      '\nOf an option given twice, the last value counts, unless its help says that it\ncan be repeated.\n\nExit codes: 0 success, 1 failure, 2 wrong usage or an unusable file or folder,\n130 interrupted by Ctrl-C.\n\nExample: espalier demo',
    )
    .configureOutput({
      writeOut,
      writeErr: writeError,
      outputError: (text, write) => write(sentence(text, typed[0])),
    })
    .exitOverride();

  for (const load of loadersFor(typed)) {
    const command = await load({ typed, exit });
    const mayHaveMore = command.name() === 'search';
    program.addCommand(command.copyInheritedSettings(program).allowExcessArguments(mayHaveMore));
  }
  return program;
}

interface Typed {
  /** What was typed. */
  readonly typed: readonly string[];
  /** Takes the exit code. */
  readonly exit: (code: number) => void;
}

/** The commands that are needed: each would load what all of them need otherwise. */
function loadersFor(typed: readonly string[]): readonly ((around: Typed) => Promise<Command>)[] {
  const [first = ''] = typed;
  if (first === '-V' || first === '--version') return [];
  const load = Object.hasOwn(loaders, first) ? loaders[first] : undefined;
  return load === undefined ? Object.values(loaders) : [load];
}

/** How each command is loaded, in the order of the help. */
const loaders: Readonly<Record<string, (around: Typed) => Promise<Command>>> = {
  async demo({ exit }) {
    const { runDemoCommand } = await import('./demo.ts');
    return demoCommand().action(async (request: DemoRequest) =>
      exit(await runDemoCommand(request)),
    );
  },
  async init() {
    const { initCommand } = await import('./init.ts');
    return initCommand();
  },
  async search({ exit }) {
    const { searchCommand } = await import('./search-options.ts');
    const { runSearchCommand } = await import('./search.ts');
    return searchCommand().action(
      async (question: string | undefined, request: SearchRequest, { args }: Command) => {
        expectQuotes(args, request);
        const { task, environment } = request;
        const name = task === undefined && environment === undefined ? 'question' : 'input';
        exit(
          await runSearchCommand({
            ...request,
            ...(question !== undefined && { [name]: question }),
          }),
        );
      },
    );
  },
  async bench({ typed, exit }) {
    const { benchCommand } = await import('./bench-options.ts');
    const { runBenchCommand } = await import('./bench.ts');
    return benchCommand().action(async (suite: string | undefined, request: BenchArguments) =>
      exit(await runBenchCommand(suite, request, typed)),
    );
  },
  async doctor({ exit }) {
    const { doctorCommand, runDoctorCommand } = await import('./doctor.ts');
    return doctorCommand().action(async (request: DoctorRequest) =>
      exit(await runDoctorCommand(request)),
    );
  },
  async methods() {
    const { methodsCommand } = await import('./methods.ts');
    return methodsCommand();
  },
  async completion() {
    const { completionCommand } = await import('./completion.ts');
    return completionCommand(() => makeProgram([]));
  },
  async tree() {
    const { runTreeCommand } = await import('./tree.ts');
    return treeCommand().action((folder: string, request: TreeRequest) =>
      runTreeCommand(folder, request),
    );
  },
  async generate({ exit }) {
    const { generateCommand } = await import('./generate-options.ts');
    const { runGenerateCommand } = await import('./generate.ts');
    return generateCommand().action(async (request: GenerateArguments) =>
      exit(await runGenerateCommand(request)),
    );
  },
  async 'check-dataset'({ exit }) {
    const { checkDatasetCommand, runCheckDatasetCommand } = await import('./check-dataset.ts');
    return checkDatasetCommand().action(async (path: string, request: CheckDatasetRequest) =>
      exit(await runCheckDatasetCommand(path, request)),
    );
  },
  async rows({ exit }) {
    const { rowsCommand, runRowsCommand } = await import('./rows.ts');
    return rowsCommand().action(async (path: string, request: RowsRequest) =>
      exit(await runRowsCommand(path, request)),
    );
  },
  async export({ exit }) {
    const { exportCommand, runExportCommand } = await import('./export.ts');
    return exportCommand().action(async (sources: readonly string[], request: ExportRequest) =>
      exit(await runExportCommand(sources, request)),
    );
  },
};

function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Solve the Game of 24 with a small language model, with and without a tree search.',
    )
    .option('--puzzles <n>', 'how many puzzles', integerOption('puzzles'), 150)
    .option(
      '--tokens <n>',
      'maximum tokens for each puzzle (1,000 without another limit)',
      integerOption('tokens'),
    )
    .option('--calls <n>', 'maximum calls for each puzzle', integerOption('calls'))
    .option('--ms <n>', 'maximum milliseconds for each puzzle', integerOption('ms'))
    .option('--seed <seed>', 'a number or a word', seedOption, 0)
    .option('--json', 'print the table as one JSON document')
    .addHelpText(
      'after',
      '\nIt takes about half a minute.\n\nExample: espalier demo --puzzles 400 --tokens 2000',
    );
}

function treeCommand(): Command {
  return new Command('tree')
    .description('Draw the tree of a saved run.')
    .argument('<folder>', 'a run of `espalier search --save` or `espalier generate`')
    .option('--problem <id>', 'only trees of this problem')
    .option(
      '--depth <n>',
      'maximum levels; the best path is always complete',
      integerOption('depth', 0),
      3,
    )
    .option('--breadth <n>', 'maximum children of each node', integerOption('breadth'), 4)
    .option('--json', 'print the complete saved trees as one JSON document')
    .addHelpText('after', '\nExample: espalier tree runs/first --depth 2');
}

/** Refuses what commander would take without a word, or tell in other words than the rest. */
async function expectOptionsTyped(program: Command, args: readonly string[]): Promise<void> {
  expectHelped(program, args);
  const command = program.commands.find((each) => each.name() === args[0]);
  if (command === undefined) return;
  for (const [place, arg] of args.entries()) {
    if (arg === '--') return;
    const [name = '', ...rest] = arg.split('=');
    const option = command.options.find(({ long }) => long === name);
    if (option === undefined) await expectKnown(name, command);
    else if (option.required) expectValue(arg, args[place + 1]);
    else if (rest.length > 0) {
      const message = `Expected no value after \`${name}\`, got \`${rest.join('=')}\`.`;
      throw new EspalierError('usage', message);
    }
  }
}

/** Of a command that there is not, commander would print the help of all. */
function expectHelped({ commands }: Command, [first, name = '-h']: readonly string[]): void {
  const names = ['help', ...commands.map((command) => command.name())];
  if (first !== 'help' || name.startsWith('-') || names.includes(name)) return;
  const meant = nearestName(name, names);
  const hint = meant === undefined ? '' : ` (Did you mean ${meant}?)`;
  throw new EspalierError('usage', `Unknown command '${name}'.${hint}`);
}

/** A misspelt option would be told as one that is missing. */
async function expectKnown(name: string, command: Command): Promise<void> {
  if (!/^--[a-z]/.test(name)) return;
  const known = ['--help', ...command.options.map(({ long }) => long ?? '')];
  const { commands } = await makeProgram([]);
  const owners = commands.filter(({ options }) => options.some(({ long }) => long === name));
  if (known.includes(name)) return;
  // An option of other commands is misspelt only if it is nearly one of this command.
  const whole = known.find((each) => each.endsWith(name.slice(1)));
  const meant = whole ?? nearestName(name, known, owners.length > 0 ? 1 : undefined);
  if (meant === undefined && owners.length > 0) {
    const names = owners.map((owner) => `\`espalier ${owner.name()}\``).join(', ');
    const message = `\`espalier ${command.name()}\` has no option \`${name}\`: it belongs to ${names}.`;
    throw new EspalierError('usage', message);
  }
  if (meant === undefined) return;
  throw new EspalierError('usage', `Unknown option '${name}'. (Did you mean ${meant}?)`);
}

/** An option whose value was forgotten would take the next option for it. */
function expectValue(arg: string, next = ''): void {
  if (arg.includes('=') || !/^--[a-z]/.test(next)) return;
  const message = `Expected a value after \`${arg}\`, got \`${next}\`. If that is the value, write \`${arg}=${next}\`.`;
  throw new EspalierError('usage', message);
}

/** The shell parts an input at its spaces where it stands without quotes. */
function expectQuotes(args: readonly string[], { input }: SearchRequest): void {
  const rest = input === undefined ? args.slice(1) : args;
  if (rest.length === 0) return;
  // An input with spaces was in quotes: what else there is, is no part of it.
  if (input !== undefined && [input, ...rest].some((text) => /\s/.test(text))) {
    throw new EspalierError('usage', 'Give a question or `--input`, not both.');
  }
  const got = rest.length === 1 ? `also \`${rest[0]}\`` : `${rest.length} more`;
  const what = input === undefined ? 'one question' : 'one value after `--input`';
  throw new EspalierError('usage', `Expected ${what}, got ${got}; put it in quotes.`);
}

/** An error of commander in the form of the others: a sentence. */
function sentence(text: string, command = ''): string {
  const examples = `got none. \`espalier ${command} --help\` has examples.`;
  const [first = '', ...rest] = text
    .replace(/^error: /, '')
    .replace(/^option '(.+)' argument missing/, 'Expected a value after `$1`, got none')
    .replace(/^required option '(.+)' not specified/, `Expected \`$1\`, ${examples}`)
    .replace(/^missing required argument '(.+)'/, `Expected a $1, ${examples}`)
    .replace(
      /^unknown option '--budget'/,
      '$&: name its unit, such as `--calls` or `--simulations`',
    )
    .replace(
      /^too many arguments for '(.+)'\. Expected 0 arguments but got (\d+)/,
      '`espalier $1` takes no arguments but options, got $2',
    )
    .replace(/^unknown command '(.+ .+)'/, "$&. To ask a question: espalier search '$1'")
    .trim()
    .split('\n');
  const capital = first.charAt(0).toUpperCase() + first.slice(1);
  const ended = /[.?!)]$/.test(capital) ? capital : `${capital}.`;
  return `${[ended, ...rest].join(' ')}\n`;
}
