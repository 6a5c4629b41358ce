import { join } from 'node:path';
import { z } from 'zod';
import { contentAddress } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import type { Notation } from '../contracts/environment.ts';
import type { Capabilities } from '../contracts/language-model.ts';
import type { TreeRecord } from '../data/record.ts';
import {
  notationFor,
  type ReasoningEnvironment,
  type ReasoningState,
} from '../environments/index.ts';
import type { Problem, ShownEnvironment } from './problem.ts';
import { type AskedProblem, problemOf } from './problems-file.ts';
import { readRecords, treesByProblem } from './records.ts';
import type { SavedRun } from './run-folder.ts';
import { growerOf, runFile } from './source-files.ts';
import { taskNames } from './tasks.ts';

/** The notation of questions in rows. */
export type NotationName = 'continued' | 'json' | 'restated';

const runSchema = z.looseObject({
  command: z.string(),
  environment: z.looseObject({ module: z.string(), file: z.string() }).optional(),
  task: z.string().optional(),
  input: z.string().optional(),
  maxTokens: z.int().optional(),
  capabilities: z
    .object({ continuation: z.boolean().optional(), schema: z.boolean().optional() })
    .optional(),
});

const question = z.object({
  id: z.string(),
  question: z.string(),
  answer: z.string().optional(),
});
const puzzle = z.object({ id: z.string(), task: z.enum(taskNames), input: z.string() });
const askedSchema: z.ZodType<AskedProblem> = z.union([question, puzzle]);
const ownSchema: z.ZodType<AskedProblem> = z.object({ id: z.string(), input: z.string() });

/** The trees of a run, grouped by problem. */
export interface RunProblems {
  /** The problems with trees, by their names in rows, in the original order. */
  readonly asked: ReadonlyMap<string, AskedProblem>;
  /** Reads the trees of a problem, for rows. */
  readonly read: (name: string) => readonly TreeRecord[];
}

/** The user's own environments, by problem id. */
export type OwnEnvironments = ReadonlyMap<string, ShownEnvironment>;

/**
 * The problems of a run of `espalier generate` or `espalier search`, with their trees.
 *
 * @throws EspalierError `usage` if the folder does not record the problems of its trees.
 */
export function problemsOfRun(
  path: string,
  saved: SavedRun,
  {
    notation,
    environments = new Map(),
  }: {
    readonly notation?: NotationName | undefined;
    readonly environments?: OwnEnvironments | undefined;
  } = {},
): RunProblems {
  if (saved.run?.['command'] === 'bench') throw noTree(path, saved);
  const run = runSchema.safeParse(saved.run).data;
  if (run === undefined) {
    if (saved.run?.['command'] === undefined && saved.trees.length > 0) throw madeElsewhere(path);
    throw new EspalierError(
      'usage',
      `\`${join(path, 'run.json')}\` does not say what was searched. Restore it from a copy, or run the same command again.`,
    );
  }
  expectTrees(path, saved);
  if (run.command === 'search' && saved.trees.length === 0) throw noTree(path, saved);
  const { capabilities = {} } = run;
  const asked = new Map(problemsOf(path, saved, run).map((problem) => [problem.id, problem]));
  expectNotation(notation, [...asked.values()]);
  const unknown = saved.trees.find(({ problem }) => !asked.has(problem));
  if (unknown !== undefined) {
    throw new EspalierError(
      'usage',
      `\`${join(path, 'asked.jsonl')}\` does not say what the problem ${JSON.stringify(unknown.problem)} is, of which there is a tree. Restore the file from a copy.`,
    );
  }
  const describe = (problem: AskedProblem) =>
    described(problem, { path, notation, capabilities, environments });
  const trees = treesByProblem(saved.trees);
  const grown = [...asked.values()].filter(({ id }) => trees.has(id));
  const named = new Map(grown.map((problem) => [shortName(problem), problem]));
  let known: TreeRecord['file'];
  return {
    asked: named,
    read(short) {
      const problem = named.get(short);
      if (problem === undefined) return [];
      const { run, hasJournal, journal } = saved;
      const own = { run, hasJournal, journal, trees: trees.get(problem.id) ?? [] };
      const file = known ?? runFile(saved, growerOf(own, { problem: problem.id, attempt: 0 }));
      known = file;
      const [records = []] = readRecords(own, { describe: () => ({ ...describe(problem), file }) });
      return records.map((record) => ({
        ...record,
        problem: short,
        id: short + (record.id ?? problem.id).slice(problem.id.length),
      }));
    },
  };
}

/** The name of a problem in rows: if its id is just its whole text, the content address of that text. */
function shortName({ id, question, input }: AskedProblem): string {
  if (id !== question && (id !== input || id.length <= longestId)) return id;
  return `${question === undefined ? 'puzzle' : 'question'}-${contentAddress(id).slice(0, 12)}`;
}

/** Up to this length, inputs of puzzles are used as names, such as `4 9 10 13`. */
const longestId = 40;

interface Look {
  /** The folder of the run. */
  readonly path: string;
  readonly notation: NotationName | undefined;
  readonly capabilities: NonNullable<z.infer<typeof runSchema>['capabilities']>;
  readonly environments: OwnEnvironments;
}

function described(asked: AskedProblem, look: Look) {
  const problem = problemOf(asked, look.environments.get(asked.id));
  const { codec } = problem.environment;
  return {
    notation: guarded(notationIn(problem, look), { path: look.path, problem: asked.id }),
    ...(asked.answer !== undefined && { answer: asked.answer }),
    ...(codec !== undefined && { codec }),
  };
}

/** Rows may have another notation than the search, because a notation is only a view of states. */
function notationIn(
  { kind, environment }: Problem,
  { notation, capabilities: { continuation = false, schema = false } }: Look,
): Notation<unknown, unknown> {
  if (kind !== 'question') return environment.notation;
  const reasoning = environment as unknown as ReasoningEnvironment;
  const chosen: Notation<ReasoningState, string> =
    notation === undefined
      ? notationFor(reasoning, { continuation, schema })
      : reasoning.notations[notation];
  return chosen;
}

/** Refuses, in one sentence, a tree whose actions or states do not belong to its puzzle. */
function guarded(
  notation: Notation<unknown, unknown>,
  of: Parameters<typeof showing>[0],
): Notation<unknown, unknown> {
  return {
    ...notation,
    prompt: (state) => showing(of, () => notation.prompt(state)),
    format: (action) => showing(of, () => notation.format(action)),
  };
}

/**
 * Shows a part of a tree that was read from a run folder.
 *
 * @throws EspalierError `invalid-tree` if it does not belong to the requested puzzle.
 */
export function showing<Value>(
  { path, problem }: Readonly<Record<'path' | 'problem', string>>,
  show: () => Value,
): Value {
  try {
    return show();
  } catch (cause) {
    throw new EspalierError(
      'invalid-tree',
      `The tree of the problem ${JSON.stringify(problem)} in \`${join(path, 'trees.jsonl')}\` has an action or a state that is not one of its puzzle. Restore the file from a copy.`,
      { cause },
    );
  }
}

/** The error for a run that ended before it had a tree, or has lost it; or that keeps none. */
export function noTree(path: string, { run }: SavedRun): EspalierError {
  const message =
    run?.['command'] === 'bench'
      ? `Expected the run of a search, got the benchmark in \`${path}\`, which keeps no trees.`
      : `The run in \`${path}\` has no tree yet.`;
  return new EspalierError('usage', message);
}

/** Trees are written before outcomes, so a missing tree of an outcome was lost. */
function expectTrees(path: string, { trees, outcomes }: SavedRun): void {
  const grown = new Set(trees.map(keyOf));
  const lost = outcomes.find((outcome) => outcome.status === 'done' && !grown.has(keyOf(outcome)));
  if (lost === undefined) return;
  throw new EspalierError(
    'usage',
    `\`${join(path, 'trees.jsonl')}\` has no tree of the problem ${JSON.stringify(lost.problem)}, which \`problems.jsonl\` calls done. Restore the file from a copy, or delete \`problems.jsonl\`: the same command then makes the trees again of what was paid for.`,
  );
}

function keyOf({ problem, attempt }: { problem: string; attempt: number }): string {
  return JSON.stringify([problem, attempt]);
}

/**
 * The problems of a run and the capabilities of its model, for repeating its searches.
 *
 * @throws EspalierError `usage` if the folder does not record them.
 */
export function recordedIn(
  path: string,
  saved: SavedRun,
): {
  readonly asked: readonly AskedProblem[];
  readonly capabilities: Capabilities;
  readonly maxTokens: number | undefined;
} {
  const run = runSchema.safeParse(saved.run).data;
  if (run === undefined || (run.command !== 'generate' && run.command !== 'search')) {
    throw new EspalierError(
      'usage',
      `Expected \`${path}\` to be a run of \`espalier generate\` or \`espalier search\`.`,
    );
  }
  // If the run does not record capabilities, they are inferred from its requests.
  const { continuation, schema } = run.capabilities ?? {};
  return {
    asked: problemsOf(path, saved, run),
    maxTokens: run.maxTokens,
    capabilities: {
      ...(continuation !== undefined && { continuation }),
      ...(schema !== undefined && { schema }),
    },
  };
}

/** If no command wrote what was searched, the trees were grown by a program. */
function madeElsewhere(path: string): EspalierError {
  return new EspalierError(
    'usage',
    `The run in \`${path}\` was made by a program, whose environment is not known here: \`${join(path, 'run.json')}\` names neither a task nor an environment. Name the module of its environment with \`--environment ./world.ts\`, or export it there: \`writeDataset({ out, problems: readRecords(readRun(${JSON.stringify(path)}), { describe }), configs })\`.`,
  );
}

/** A single search is a run over one problem. */
function problemsOf(
  path: string,
  saved: SavedRun,
  { command, environment, task, input }: z.infer<typeof runSchema>,
): readonly AskedProblem[] {
  if (saved.asked.length > 0) return askedOf(path, saved);
  const [tree] = saved.trees;
  if (tree === undefined) return [];
  const id = tree.problem;
  if (environment !== undefined) return [{ id, ...(input !== undefined && { input }) }];
  if (task === 'question' && input !== undefined) return [{ id, question: input }];
  if (task === undefined && command === 'search') throw madeElsewhere(path);
  const known = puzzle.safeParse({ id, task, input });
  if (!known.success) {
    throw new EspalierError(
      'usage',
      `\`${join(path, command === 'generate' ? 'asked.jsonl' : 'run.json')}\` does not say what was searched. Restore it from a copy, or run the same command again.`,
    );
  }
  expectPuzzle(known.data, `In \`${join(path, 'run.json')}\``);
  return [known.data];
}

/**
 * Puzzles have only one notation.
 *
 * @throws EspalierError `usage` if a notation is given and no problem is a question.
 */
export function expectNotation(
  notation: NotationName | undefined,
  asked: readonly AskedProblem[],
): void {
  const isOfUse = asked.length === 0 || asked.some(({ question: text }) => text !== undefined);
  if (notation === undefined || isOfUse) return;
  throw new EspalierError(
    'usage',
    `\`--notation\` works only with questions, got \`--notation ${notation}\` for puzzles.`,
  );
}

/** A text that names a puzzle may still be invalid. */
function expectPuzzle(asked: AskedProblem, subject: string): void {
  try {
    problemOf(asked);
  } catch (cause) {
    if (!EspalierError.isInstance(cause)) throw cause;
    throw new EspalierError('usage', `${subject}: ${cause.message} Restore the file from a copy.`, {
      cause,
    });
  }
}

/**
 * The requested problems of a run.
 *
 * @throws EspalierError `usage`, naming an invalid line.
 */
export function askedOf(path: string, { asked, run }: SavedRun): readonly AskedProblem[] {
  const isOwn = run?.['environment'] !== undefined;
  return asked.map((line, index) => {
    const parsed = (isOwn ? ownSchema : askedSchema).safeParse(line);
    if (parsed.success && isOwn) return parsed.data;
    if (parsed.success) {
      expectPuzzle(parsed.data, `Line ${index + 1} of \`${join(path, 'asked.jsonl')}\``);
      return parsed.data;
    }
    throw new EspalierError(
      'usage',
      `Line ${index + 1} of \`${join(path, 'asked.jsonl')}\` is no problem: expected \`id\` and \`question\`, or \`id\`, \`task\` (${taskNames.join(', ')}) and \`input\`. Restore the file from a copy, or delete it and run the same command again.`,
    );
  });
}
