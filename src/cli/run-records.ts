import { z } from 'zod';
import type { TreeRecord } from '../data/record.ts';
import {
  notationFor,
  type ReasoningEnvironment,
  type ReasoningState,
} from '../environments/text/index.ts';
import { type RecordDescription, readRecords, type SavedRun } from '../runs/index.ts';
import type { Notation } from '../spec/environment.ts';
import { EspalierError } from '../spec/errors.ts';
import type { Problem } from './problem.ts';
import { type AskedProblem, problemOf } from './problems-file.ts';
import { taskNames } from './tasks.ts';

/** How rows show questions. */
export type NotationName = 'continued' | 'json' | 'restated';

const runSchema = z.looseObject({
  command: z.string(),
  task: z.string().optional(),
  input: z.string().optional(),
  method: z.string().optional(),
  algorithm: z.string().nullish(),
  model: z.string().nullish(),
  capabilities: z
    .object({ continuation: z.boolean().optional(), schema: z.boolean().optional() })
    .optional(),
});

const askedSchema = z.object({
  id: z.string(),
  question: z.string().optional(),
  answer: z.string().optional(),
  task: z.enum(taskNames as readonly [string, ...string[]]).optional(),
  input: z.string().optional(),
});

/**
 * The trees of a run of `espalier generate` or `espalier search`, for rows, in the order in which the problems
 * were asked.
 *
 * @throws EspalierError `usage` where the folder does not say what its trees are about.
 */
export function recordsOf(
  saved: SavedRun,
  notation?: NotationName,
): Generator<readonly TreeRecord[], void, undefined> {
  const parsed = runSchema.safeParse(saved.run);
  if (!parsed.success) {
    throw new EspalierError(
      'usage',
      'The run does not say what it searched: its run.json is not ours.',
    );
  }
  const { method, algorithm, model, capabilities = {} } = parsed.data;
  const asked = new Map(askedIn(saved, parsed.data).map((problem) => [problem.id, problem]));
  const name = method ?? algorithm ?? undefined;
  return readRecords<unknown, unknown>(saved, {
    problems: [...asked.keys()],
    describe: (id) => {
      const problem = asked.get(id);
      if (problem === undefined) return undefined;
      return {
        ...described(problem, { notation, capabilities }),
        ...(name !== undefined && { method: name }),
        ...(typeof model === 'string' && { models: [model] }),
      };
    },
  });
}

interface Look {
  readonly notation: NotationName | undefined;
  readonly capabilities: {
    readonly continuation?: boolean | undefined;
    readonly schema?: boolean | undefined;
  };
}

function described(asked: AskedProblem, look: Look): RecordDescription<unknown, unknown> {
  const problem = problemOf(asked);
  const { codec } = problem.environment;
  return {
    notation: notationIn(problem, look),
    ...(asked.answer !== undefined && { answer: asked.answer }),
    ...(codec !== undefined && { codec }),
  };
}

/** A notation is a view of states: rows may have another one than the search. */
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

/** One search is a run over one problem. */
function askedIn(
  { asked, trees }: SavedRun,
  { task, input }: z.infer<typeof runSchema>,
): readonly AskedProblem[] {
  if (asked.length > 0) return asked.map((problem) => askedSchema.parse(problem) as AskedProblem);
  const [tree] = trees;
  if (tree === undefined || input === undefined) return [];
  const id = tree.problem;
  return task === 'question'
    ? [{ id, question: input }]
    : [{ id, task: task as NonNullable<AskedProblem['task']>, input }];
}
