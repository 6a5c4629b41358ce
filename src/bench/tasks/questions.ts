import { basename } from 'node:path';
import { z } from 'zod';
import { contentAddress } from '../../base/canonical-json.ts';
import { expectation } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { lastBoxed } from '../../environments/text/extract-answer.ts';
import { expectDifferent, finalAnswer, jsonLine, lineName } from '../../runs/problems-file.ts';
import type { BenchTask } from '../task.ts';
import type { BenchTaskEntry, BenchTaskOptions } from './entry.ts';
import { type KnownQuestion, longestAnswer, questionInstance } from './question-instances.ts';
import { readRequest } from './request.ts';
import { lineFault, readTaskLines, type TaskLine, titleOf } from './task-file.ts';

const text = z.string().refine((value) => value.trim() !== '');
const given = z.union([text, z.number().transform(String)]);
const line = z.preprocess(
  (value) => {
    const { id, cluster, ...found } = Object(value) as Readonly<Record<string, unknown>>;
    const { question = found['problem'] ?? found['input'] } = found;
    const { answer = found['target'] ?? found['solution'] } = found;
    return { id, cluster, question, answer };
  },
  z.object({
    ...{ question: text, answer: given },
    ...{ id: lineName, cluster: lineName },
  }),
);

/** Questions with answers of any origin, one a line. */
export const questionsEntry: BenchTaskEntry = {
  name: 'questions',
  title: 'questions of a file',
  argument: { option: 'file', example: 'mine.jsonl', required: true },
  create: (options = {}) => questionsTask({ name: 'questions', title: 'questions' }, options, read),
};

/** Grade-school math in words. */
export const gsm8kEntry: BenchTaskEntry = {
  name: 'gsm8k',
  title: 'GSM8K, grade-school math',
  paper: 'Cobbe et al., Training Verifiers to Solve Math Word Problems, 2021, arXiv:2110.14168',
  argument: { option: 'file', example: 'test.jsonl', required: true },
  create: (options = {}) =>
    questionsTask({ name: 'gsm8k', title: 'GSM8K', licence: 'MIT' }, options, (asked) => {
      const { question, answer } = jsonLine(asked.text, gsm8k, {
        ...asked,
        expected: 'expected `question` and `answer`, with the final answer behind `####`',
      });
      return { question, answer: expectAnswer(answer, asked) };
    }),
};

const gsm8k = z.object({ question: text, answer: z.string().regex(/####\s*\S/) });

/**
 * A file of questions as a task. The first of the file are taken.
 *
 * @param readLine - What stands in a line, and `undefined` where it is not of the split.
 */
export function questionsTask(
  about: Pick<BenchTask, 'licence' | 'name' | 'splits' | 'title'>,
  options: BenchTaskOptions,
  readLine: (line: TaskLine, split: string | undefined) => AskedQuestion | undefined,
): BenchTask {
  expectOptions(about.name, options, 'file');
  const { file } = options;
  if (file === undefined) throw expectation('file', 'the path of a file with problems', file);
  return {
    ...about,
    title: titleOf(about.title, file),
    source: basename(file),
    instances(request) {
      const { split, limit } = readRequest(this, request);
      const lines = readTaskLines(file).flatMap((each) => {
        const question = readLine(each, split);
        return question === undefined ? [] : [{ ...question, number: each.number }];
      });
      const asked = named(lines);
      expectDifferent(file, asked);
      return asked.slice(0, limit).map(questionInstance);
    },
  };
}

/** A question of a file; not every file names its own. */
export type AskedQuestion = Omit<KnownQuestion, 'id'> & { readonly id?: string | undefined };

/** Names what has no name by the text of the question, so that what was bought for it is found in a changed file too. */
function named<Asked extends AskedQuestion>(
  asked: readonly Asked[],
): readonly (Omit<Asked, 'id'> & { readonly id: string })[] {
  const times = new Map<string, number>();
  return asked.map(({ id, ...rest }) => {
    if (id !== undefined) return { id, ...rest };
    const name = contentAddress(rest.question).slice(0, 10);
    const count = (times.get(name) ?? 0) + 1;
    times.set(name, count);
    return { id: count === 1 ? name : `${name}-${count}`, ...rest };
  });
}

function read(asked: TaskLine): AskedQuestion {
  const expected = 'expected `question` and `answer` (or `problem`, `input`; `target`, `solution`)';
  const found = jsonLine(asked.text, line, { ...asked, expected });
  return { ...found, answer: expectAnswer(found.answer, asked) };
}

/**
 * The final answer of a solution: what stands behind `####`, in the last `\boxed{…}`, or all of it.
 *
 * @throws EspalierError `usage`, naming the line, where it is empty or too long to be compared.
 */
function expectAnswer(solution: string, asked: TaskLine): string {
  const isMarked = solution.includes('####');
  const answer = (isMarked ? undefined : lastBoxed(solution)) ?? finalAnswer(solution) ?? '';
  if (answer === '') throw lineFault(asked, 'expected an answer behind `####`');
  if (answer.length <= longestAnswer) return answer;
  throw lineFault(
    asked,
    `expected a final answer of at most ${longestAnswer} characters, got ${answer.length}`,
  );
}
