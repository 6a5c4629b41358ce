/** Rows of ours as plain values, to be compared with what loops find. */
import type { Message } from '../../../src/contracts/language-model.ts';
import type { TrainingRow } from '../../../src/data/rows.ts';

/** Numbers that differ in their last digits are equal. */
export function near(value: number): number {
  return Number(value.toFixed(9)) + 0;
}

export function turns(messages: readonly Message[]): readonly unknown[] {
  return messages.map(({ role, content, toolCalls = [] }) => [
    role,
    content,
    toolCalls.map(({ name, input }) => [name, input]),
  ]);
}

/** What a row says, without where it comes from. */
export function said(row: TrainingRow): readonly unknown[] {
  const prompt = turns(row.prompt);
  switch (row.kind) {
    case 'preference':
      return [
        prompt,
        turns(row.chosen),
        turns(row.rejected),
        near(row.chosenScore),
        near(row.margin),
      ];
    case 'prompt':
      return [prompt, row.answer, near(row.value), near(row.solveRate)];
    case 'rollout': {
      const ofSteps = Object.entries(row.stepAdvantages).map(
        ([name, all]) => [name, all.map(near)] as const,
      );
      const ofPath = Object.entries(row.advantages).map(
        ([name, one]) => [name, near(one)] as const,
      );
      return [
        prompt,
        turns(row.completion),
        near(row.reward),
        row.steps,
        ...named(ofPath, ofSteps),
      ];
    }
    case 'sft':
      return [prompt, turns(row.completion), near(row.score), row.ends];
    case 'stepwise':
      return [
        prompt,
        row.steps.map(({ text, value, label, rating }) => [text, near(value), label, rating]),
        row.alternatives.map((all) => all.map(({ text }) => text)),
        row.right ?? null,
      ];
    case 'unpaired':
      return [prompt, turns(row.completion), near(row.score), row.label];
  }
}

export function named(
  ...groups: readonly (readonly (readonly [string, unknown])[])[]
): readonly unknown[] {
  return groups.flat().toSorted(([a], [b]) => (a < b ? -1 : 1));
}
