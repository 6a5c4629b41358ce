import { z } from 'zod';
import { EspalierError } from '../../base/errors.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { blocksworld } from '../../environments/index.ts';
import { jsonLine, lineName } from '../../runs/problems-file.ts';
import type { BenchTaskEntry } from './entry.ts';
import { type NamedPuzzle, parsed, puzzleTask } from './puzzle-task.ts';
import { readTaskFile, readTaskLines } from './task-file.ts';

/** Blocksworld with three to five blocks, or problems in PDDL of the domain with four operators. */
export const blocksworldEntry: BenchTaskEntry = {
  name: 'blocksworld',
  title: 'Blocksworld',
  paper: 'Valmeekam et al., PlanBench, 2022, arXiv:2206.10498',
  argument: { option: 'file', example: 'problem.pddl', required: false },
  create(options = {}) {
    expectOptions('blocksworld', options, 'file');
    return puzzleTask({
      puzzle: blocksworld,
      draw: (random) => blocksworld.generate(random, { blocks: 3 + random.integer(3) }),
      file: options.file,
      read: readPddl,
    });
  },
};

type Problem = ReturnType<typeof blocksworld.parse>;

/** A problem in PDDL, or JSON lines each with one as `pddl`. */
function readPddl(path: string): readonly NamedPuzzle<Problem>[] {
  const text = readTaskFile(path);
  if (text.trimStart().startsWith('{')) return readProblems(path);
  try {
    return [{ instance: blocksworld.parse(text) }];
  } catch (cause) {
    if (!EspalierError.isInstance(cause)) throw cause;
    throw new EspalierError('usage', `In \`${path}\`: ${cause.message}`, { cause });
  }
}

const problem = z.object({ pddl: z.string(), id: lineName });

function readProblems(path: string): readonly NamedPuzzle<Problem>[] {
  return readTaskLines(path).map((line) => {
    const { pddl, id } = jsonLine(line.text, problem, { ...line, expected: 'expected `pddl`' });
    return { instance: parsed(blocksworld, line, pddl), id };
  });
}
