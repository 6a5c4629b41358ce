import { basename } from 'node:path';
import { z } from 'zod';
import { EspalierError } from '../../base/errors.ts';
import { expectation } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { expectDifferent, jsonLine } from '../../runs/problems-file.ts';
import type { BenchTaskEntry } from './entry.ts';
import { readTaskLines } from './task-file.ts';

const problem = z.object({
  task_id: z.string(),
  prompt: z.string(),
  entry_point: z.string(),
  test: z.string(),
});

/**
 * HumanEval is read, and refused before anything is spent: to score it is to run Python that a model wrote. Python in
 * WebAssembly is no sandbox either: what runs in Pyodide reaches the JavaScript around it.
 */
export const humanEvalEntry: BenchTaskEntry = {
  name: 'humaneval',
  title: 'HumanEval, functions in Python; read, but not scored yet',
  paper: 'Chen et al., Evaluating Large Language Models Trained on Code, 2021, arXiv:2107.03374',
  argument: { option: 'file', example: 'HumanEval.jsonl', required: true },
  create(options = {}) {
    expectOptions('humaneval', options, 'file');
    const { file } = options;
    if (file === undefined) throw expectation('file', 'the path of a file with problems', file);
    return {
      name: 'humaneval',
      title: 'HumanEval',
      licence: 'MIT',
      source: basename(file),
      instances() {
        const expected = 'expected `task_id`, `prompt`, `entry_point` and `test`';
        const asked = readTaskLines(file).map((line) => ({
          id: jsonLine(line.text, problem, { ...line, expected }).task_id,
        }));
        expectDifferent(file, asked);
        throw new EspalierError(
          'usage',
          `The ${asked.length} problems of \`${file}\` cannot be scored: their tests run Python that a model wrote, and there is no sandbox for it. Take \`code\`, whose functions run in one.`,
        );
      },
    };
  },
};
