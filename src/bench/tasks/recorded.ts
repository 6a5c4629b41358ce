import { replay } from '../../backends/replay/replay.ts';
import { defined } from '../../backends/transport/json.ts';
import { contentAddress } from '../../base/canonical-json.ts';
import { EspalierError } from '../../base/errors.ts';
import { messageOf } from '../../base/failure.ts';
import type { ModelPrice } from '../../contracts/language-model.ts';
import { answerOracle } from '../../environments/index.ts';
import { type AskedProblem, problemOf } from '../../runs/problems-file.ts';
import { readRun } from '../../runs/run-folder.ts';
import { recordedIn } from '../../runs/run-records.ts';
import type { BenchInstance, BenchTask } from '../task.ts';
import { readRequest } from './request.ts';

/** The name of every {@link recordedTask}. */
export const recordedName = 'recorded';

/**
 * The problems of a run of `espalier generate` or `espalier search`, with what was bought for them: other methods search
 * them with the same thoughts, for nothing. What the run has never asked cannot be answered, and fails.
 *
 * @throws EspalierError `usage` where the folder does not say what was asked; `storage`, `invalid-journal`.
 */
export function recordedTask(path: string): BenchTask {
  return {
    name: recordedName,
    title: `What was recorded in ${path}`,
    source: path,
    instances(request) {
      const { limit } = readRequest(this, request);
      const saved = readRun(path);
      const { asked: problems, capabilities, maxTokens } = recordedIn(path, saved);
      const isOne = saved.outcomes.length === 0;
      // A replay costs nothing; what its tokens cost when they were bought is what methods are compared by.
      const price = saved.report?.['price'] as ModelPrice | undefined;
      const isFree = price === undefined && Object(saved.report?.['spend']).usd === 0;
      const instances = problems.flatMap((asked): readonly BenchInstance[] => {
        const of = { problem: asked.id, attempt: 0 };
        if (!isOne && !saved.hasJournal(of)) return [];
        const journal = isOne ? saved.journal() : saved.journal(of);
        const revision = contentAddress(JSON.stringify([asked, [...journal.lines]])).slice(0, 12);
        const free = replayed(path, { journal, capabilities });
        const { price: _, ...unpriced } = free;
        const model = isFree ? free : { ...unpriced, ...defined({ price }) };
        return [{ ...instanceOf(asked), ...defined({ maxTokens }), revision, model }];
      });
      if (instances.length > 0) return instances.slice(0, limit);
      throw new EspalierError('usage', `There are no recorded problems in \`${path}\`.`);
    },
  };
}

/** @throws EspalierError `usage`, naming the run. */
function replayed(path: string, options: Parameters<typeof replay>[0]): ReturnType<typeof replay> {
  try {
    return replay(options);
  } catch (cause) {
    const reason = `The run in \`${path}\` cannot be replayed: ${messageOf(cause)}`;
    throw new EspalierError('usage', reason, { cause });
  }
}

function instanceOf(asked: AskedProblem): BenchInstance {
  const { environment, notationFor, maxTokens } = problemOf(asked);
  const { question, answer } = asked;
  return {
    id: asked.id,
    environment,
    maxTokens,
    ...(notationFor !== undefined && { notationFor }),
    ...(question !== undefined && { oracle: oracleOf(answer) }),
  };
}

function oracleOf(answer: string | undefined): NonNullable<BenchInstance['oracle']> {
  if (answer !== undefined) return answerOracle(answer);
  return {
    label: () => {
      throw new EspalierError('usage', 'The right answer is not known.');
    },
  };
}
