import { existsSync } from 'node:fs';
import { defined } from '../../backends/transport/json.ts';
import { EspalierError } from '../../base/errors.ts';
import { describeValue, expectText } from '../../base/expect.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { isModule } from '../../base/user-module.ts';
import type { BenchTask } from '../task.ts';
import { bfclEntry } from './bfcl.ts';
import { blocksworldEntry } from './blocksworld.ts';
import { codeEntry } from './code.ts';
import { countdownEntry } from './countdown.ts';
import { csvCells } from './csv.ts';
import type { BenchTaskEntry } from './entry.ts';
import { game24Entry } from './game24.ts';
import { humanEvalEntry } from './human-eval.ts';
import { logicChainsEntry } from './logic-chains.ts';
import { mathEntry } from './math.ts';
import { moduleTask } from './module-task.ts';
import { gsm8kEntry, questionsEntry } from './questions.ts';
import { reasoningGymEntry } from './reasoning-gym.ts';
import { readTaskLines } from './task-file.ts';
import { tilesEntry } from './tiles.ts';
import { databaseEntry, shopEntry } from './tool-worlds.ts';
import { wordProblemsEntry } from './word-problems.ts';
import { worktreesEntry } from './worktrees.ts';

/** All tasks that come with the package, by name. */
export const benchTasks: readonly BenchTaskEntry[] = [
  bfclEntry,
  blocksworldEntry,
  codeEntry,
  countdownEntry,
  databaseEntry,
  game24Entry,
  gsm8kEntry,
  humanEvalEntry,
  logicChainsEntry,
  mathEntry,
  questionsEntry,
  reasoningGymEntry,
  shopEntry,
  tilesEntry,
  wordProblemsEntry,
  worktreesEntry,
];

/**
 * The task that people name: one that comes with the package (`game24`), with a file of problems where it takes one
 * (`gsm8k:test.jsonl`), a file whose content tells what it is (`test.jsonl`, `game24.csv`, `problem.pddl`), or a
 * module that exports a task (`./my-task.ts`).
 *
 * @throws EspalierError `usage` in one sentence.
 */
export async function taskNamed(spec: string): Promise<BenchTask> {
  expectText('spec', spec);
  const task = await find(spec);
  const { name, title, source, licence, splits, revision } = task;
  return {
    ...{ name, title, spec },
    ...defined({ source, licence, splits, revision }),
    instances: (request) => task.instances(request),
    close: () => task.close?.(),
  };
}

async function find(spec: string): Promise<BenchTask> {
  const [, name = spec, argument] = /^([^:]*):(.*)$/s.exec(spec) ?? [];
  const entry = benchTasks.find((each) => each.name === name);
  if (entry !== undefined) return created(entry, argument);
  if (isModule(spec)) return moduleTask(spec);
  if (existsSync(spec) || (argument === undefined && /[\\/]|\.\w+$/.test(spec))) {
    return created(entryFor(spec), spec);
  }
  throw unknownTask(name);
}

function created({ name, argument, create }: BenchTaskEntry, given: string | undefined): BenchTask {
  if (argument === undefined) {
    if (given === undefined) return create();
    throw new EspalierError(
      'usage',
      `The task \`${name}\` takes nothing behind its name, got ${describeValue(given)}.`,
    );
  }
  const { option, example, required } = argument;
  if (given === '' || (given === undefined && required)) {
    throw new EspalierError(
      'usage',
      `The task \`${name}\` needs a ${option}: name it as in \`${name}:${example}\`.`,
    );
  }
  return create(given === undefined ? {} : { [option]: given });
}

function unknownTask(name: string): EspalierError {
  const names = benchTasks.map((each) => each.name);
  const meant = nearestName(name, names);
  const hint =
    meant === undefined
      ? `There are ${names.join(', ')}; a file or a module is named by its path.`
      : `Did you mean \`${meant}\`?`;
  return new EspalierError('usage', `There is no task ${describeValue(name)}. ${hint}`);
}

/** Lines of JSON that one task reads, and the members by which they are known. */
const kinds: readonly {
  readonly entry: BenchTaskEntry;
  fits(members: Readonly<Record<string, unknown>>): boolean;
}[] = [
  {
    entry: humanEvalEntry,
    fits: ({ prompt, test }) => holds(prompt, '') && holds(test, ''),
  },
  { entry: blocksworldEntry, fits: ({ pddl }) => typeof pddl === 'string' },
  {
    entry: gsm8kEntry,
    fits: ({ question, answer }) => holds(question, '') && holds(answer, '####'),
  },
  {
    entry: mathEntry,
    fits: ({ problem, solution }) => holds(problem, '') && holds(solution, '\\boxed'),
  },
];

const holds = (value: unknown, part: string) => typeof value === 'string' && value.includes(part);

/**
 * The task that a file is for, from its name and what stands in its first line.
 *
 * @throws EspalierError `usage` for a file of questions in another form than lines of JSON.
 */
function entryFor(path: string): BenchTaskEntry {
  const [first] = readTaskLines(path);
  const text = first?.text ?? '';
  if (/\.pddl$/i.test(path) || text.startsWith('(')) return blocksworldEntry;
  if (text.startsWith('[')) throw unreadable(path, 'is a JSON array');
  if (!text.startsWith('{') && !/\.(?:jsonl|ndjson)$/i.test(path)) {
    const heads = csvCells(text).map((head) => head.toLowerCase());
    if (!heads.some((head) => questionHeads.includes(head))) return game24Entry;
    throw unreadable(path, 'is a CSV file of questions');
  }
  const members = membersOf(text);
  return kinds.find(({ fits }) => fits(members))?.entry ?? questionsEntry;
}

/** Columns that no table of puzzles has. */
const questionHeads = ['question', 'problem', 'answer'];

function unreadable(path: string, is: string): EspalierError {
  return new EspalierError(
    'usage',
    `\`${path}\` ${is}, which is unsupported. Convert it to one JSON object per line, such as {"question": "…", "answer": "…"}, in a \`.jsonl\` file.`,
  );
}

/** What a line holds; nothing if it is no JSON: whoever reads the file says so. */
function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
