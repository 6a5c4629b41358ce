import { mean } from '../../base/stats/mean.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { Completion } from '../../contracts/language-model.ts';
import { type Reading, unreadable } from '../../prompting/read-reply.ts';
import { valueInRange } from '../value-in-range.ts';
import type { JudgeForm } from './form.ts';

/** What all replies say together. Those that cannot be read are counted, and count for nothing. */
export function average(
  form: Pick<JudgeForm, 'expected' | 'range' | 'read' | 'reason'>,
  completions: readonly Completion[],
  aggregate: (scores: readonly number[]) => number = mean,
): Evaluation | Failed {
  const readings = completions.flatMap((completion) => form.read(completion) ?? []);
  const [first] = readings;
  if (first === undefined) return unreadable(form.expected, completions);
  const { range } = form;
  const [least, greatest] = range ?? [0, 1];
  const score = aggregate(readings.map((reading) => reading.score));
  const evaluation = valueInRange('the judgement', (score - least) / (greatest - least));
  if ('failure' in evaluation) return evaluation;
  const unscored = completions.length - readings.length;
  return {
    ...evaluation,
    ...(range !== undefined && { raw: { score, range } }),
    ...(first.parts !== undefined && { parts: meanParts(readings) }),
    ...(form.reason && first.reason !== undefined && { rationale: first.reason }),
    ...(unscored > 0 && { unscored }),
  };
}

function meanParts(readings: readonly Reading[]): Readonly<Record<string, number>> {
  const names = Object.keys(readings[0]?.parts ?? {});
  return Object.fromEntries(
    names.map((name) => [name, mean(readings.map(({ parts }) => parts?.[name] ?? 0))]),
  );
}
