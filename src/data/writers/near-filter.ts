import type { Message } from '../../contracts/language-model.ts';
import { hashOf } from '../hash-table.ts';
import { type ComparedRow, NearDuplicates } from '../near-duplicates.ts';
import type { TrainingRow } from '../rows.ts';

/** Tells of rows whether they are nearly the same as one before them. */
interface NearFilter {
  /** Answers once, in the order of the rows: now, or at the latest when it finishes. */
  look(row: TrainingRow, answer: (isNear: boolean) => void): void;
  finish(): void;
}

/** Finds no row where near-duplicates are kept. */
export function nearFilter(nearDuplicates: 'drop' | 'keep'): NearFilter {
  if (nearDuplicates === 'keep') return { look: (_row, answer) => answer(false), finish() {} };
  const near = new NearDuplicates();
  return {
    look(row, answer) {
      const compared = comparedRow(row);
      if (compared === undefined) answer(false);
      else {
        const problem = hashOf(row.provenance.problem);
        near.look(compared, { problem, isExact: false, settled: answer });
      }
    },
    finish: () => near.finish(),
  };
}

/** What of a row is compared; `undefined` for one of a group, which must stay whole. */
function comparedRow(row: TrainingRow): ComparedRow | undefined {
  const prompt = textOf(row.prompt);
  switch (row.kind) {
    case 'preference':
      return { kind: row.kind, prompt, chosen: textOf(row.chosen), rejected: textOf(row.rejected) };
    case 'sft':
    case 'unpaired':
      return { kind: row.kind, prompt, chosen: textOf(row.completion) };
    case 'stepwise':
      return { kind: row.kind, prompt, steps: row.steps.map(({ text }) => text) };
    case 'prompt':
      return { kind: row.kind, prompt };
    case 'rollout':
      return undefined;
  }
}

function textOf(turns: readonly Message[]): string {
  return turns
    .flatMap(({ content, toolCalls = [] }) => [
      content,
      ...toolCalls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`),
    ])
    .join('\n');
}
