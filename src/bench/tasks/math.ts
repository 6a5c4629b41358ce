import { z } from 'zod';
import { lastBoxed } from '../../environments/text/extract-answer.ts';
import { jsonLine } from '../../runs/problems-file.ts';
import type { BenchTaskEntry } from './entry.ts';
import { questionsTask } from './questions.ts';
import { lineFault, type TaskLine } from './task-file.ts';

const types = [
  'Algebra',
  'Counting & Probability',
  'Geometry',
  'Intermediate Algebra',
  'Number Theory',
  'Prealgebra',
  'Precalculus',
] as const;
const levels = ['Level 1', 'Level 2', 'Level 3', 'Level 4', 'Level 5'] as const;

/** The name of a split: `Counting & Probability` is `counting-probability`. */
const splitFor = (name: string) => name.toLowerCase().replace(/\W+/g, '-');

/** Competition math. Its splits are its levels and its types. */
export const mathEntry: BenchTaskEntry = {
  name: 'math',
  title: 'MATH, competition problems',
  paper:
    'Hendrycks et al., Measuring Mathematical Problem Solving With the MATH Dataset, 2021, arXiv:2103.03874',
  argument: { option: 'file', example: 'test.jsonl', required: true },
  create: (options = {}) =>
    questionsTask(
      {
        name: 'math',
        title: 'MATH',
        licence: 'MIT',
        splits: ['all', ...[...levels, ...types].map(splitFor)],
      },
      options,
      readProblem,
    ),
};

const problem = z.object({
  problem: z.string().refine((value) => value.trim() !== ''),
  solution: z.string(),
  level: z.coerce.string().default(''),
  type: z.string().optional(),
  subject: z.string().optional(),
  unique_id: z.string().optional(),
});

function readProblem(line: TaskLine, split: string | undefined) {
  const found = jsonLine(line.text, problem, {
    ...line,
    expected: 'expected `problem` and `solution`, and `level` and `type` where they are known',
  });
  const level = /^\d$/.test(found.level) ? `Level ${found.level}` : found.level;
  const of = [level, found.type ?? found.subject ?? ''].map(splitFor);
  if (split !== undefined && split !== 'all' && !of.includes(split)) return undefined;
  const answer = lastBoxed(found.solution)?.trim() ?? bareBoxed(found.solution);
  if (answer === undefined) throw lineFault(line, 'expected a `\\boxed{…}` answer in `solution`');
  return { id: found.unique_id, question: found.problem, answer };
}

/** `\boxed 5`, as TeX also takes it. */
function bareBoxed(solution: string): string | undefined {
  const start = solution.lastIndexOf('\\boxed');
  return start < 0 ? undefined : /^\\boxed\s*([^\s{}$.,]{1,40})/.exec(solution.slice(start))?.[1];
}
