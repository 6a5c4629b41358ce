import type {
  PreferenceRow,
  PromptRow,
  RolloutRow,
  RowKind,
  SftRow,
  StepwiseRow,
  UnpairedRow,
} from '../rows.ts';
import type { FormatFamily, FormatOptions, RowFormat } from './format.ts';
import { rowFormat } from './row-format.ts';
import { type CompletionText, rowTexts } from './text.ts';
import { grpoUsage, stepwiseUsage, trainerUsage } from './trl-usage.ts';

/** TRL, with text: the prompt is rendered, and a step goes on from the steps before it. */
export const trl: FormatFamily<RowKind> = {
  name: 'trl',
  title: 'TRL, as text: DPO, KTO, PRM, SFT, GRPO',
  formats: {
    preference: trlPreference,
    prompt: trlPrompt,
    rollout: trlRollout,
    sft: trlSft,
    stepwise: trlStepwise,
    unpaired: trlUnpaired,
  },
};

/** TRL's `RewardTrainer`, which reads the margin. */
export const trlReward: FormatFamily<'preference'> = {
  name: 'trl-reward',
  title: 'TRL, for reward models: preferences with their margin',
  formats: { preference: trlRewardPreference },
};

function trlPreference(options: FormatOptions = {}): RowFormat<PreferenceRow> {
  return rowFormat(
    {
      name: 'trl-preference',
      kind: 'preference',
      columns: { prompt: 'string', chosen: 'string', rejected: 'string' },
      usage: trainerUsage('DPO'),
      write: pairWriter(options),
    },
    options,
  );
}

function trlRewardPreference(options: FormatOptions = {}): RowFormat<PreferenceRow> {
  const pair = pairWriter(options);
  return rowFormat(
    {
      name: 'trl-reward-preference',
      kind: 'preference',
      columns: { prompt: 'string', chosen: 'string', rejected: 'string', margin: 'float' },
      usage: trainerUsage('Reward'),
      write(row) {
        const written = pair(row);
        return typeof written === 'string' ? written : { ...written, margin: row.margin };
      },
    },
    options,
  );
}

/** Both sides as text behind one prompt, or why not. */
export type PairText =
  | { readonly prompt: string; readonly chosen: string; readonly rejected: string }
  | string;

/** Makes text of preference rows. */
export function pairWriter(options: FormatOptions): (row: PreferenceRow) => PairText {
  const texts = rowTexts(options);
  return (row) => {
    const chosen = texts.completion(row, row.chosen, row.chosenEnds);
    const rejected = texts.completion(row, row.rejected, row.rejectedEnds);
    if ('refused' in chosen) return chosen.refused;
    if ('refused' in rejected) return rejected.refused;
    if (chosen.text === rejected.text) return 'Both sides are the same text.';
    return { prompt: texts.prompt(row).text, chosen: chosen.text, rejected: rejected.text };
  };
}

function trlUnpaired(options: FormatOptions = {}): RowFormat<UnpairedRow> {
  const texts = rowTexts(options);
  return rowFormat(
    {
      name: 'trl-unpaired',
      kind: 'unpaired',
      columns: { prompt: 'string', completion: 'string', label: 'boolean' },
      usage: trainerUsage('KTO'),
      write: (row) =>
        whole(texts.completion(row, row.completion, row.ends), (completion) => ({
          prompt: texts.prompt(row).text,
          completion,
          label: row.label,
        })),
    },
    options,
  );
}

function trlSft(options: FormatOptions = {}): RowFormat<SftRow> {
  const texts = rowTexts(options);
  return rowFormat(
    {
      name: 'trl-sft',
      kind: 'sft',
      columns: { prompt: 'string', completion: 'string' },
      usage: trainerUsage('SFT'),
      write: (row) =>
        whole(texts.completion(row, row.completion, row.ends), (completion) => ({
          prompt: texts.prompt(row).text,
          completion,
        })),
    },
    options,
  );
}

function trlPrompt(options: FormatOptions = {}): RowFormat<PromptRow> {
  const texts = rowTexts(options);
  return rowFormat(
    {
      name: 'trl-prompt',
      kind: 'prompt',
      columns: { prompt: 'string', answer: 'string' },
      usage: grpoUsage,
      write: (row) => ({ prompt: texts.prompt(row).text, answer: row.answer }),
    },
    options,
  );
}

function trlRollout(options: FormatOptions = {}): RowFormat<RolloutRow> {
  const texts = rowTexts(options);
  return rowFormat(
    {
      name: 'trl-rollout',
      kind: 'rollout',
      columns: { prompt: 'string', completion: 'string', ...rolloutColumns },
      usage: grpoUsage,
      write: (row) =>
        whole(texts.completion(row, row.completion, true), (completion) => ({
          prompt: texts.prompt(row).text,
          completion,
          ...writeRollout(row),
        })),
    },
    options,
  );
}

/** What a rollout says besides its prompt and completion. */
export const rolloutColumns = {
  reward: 'float',
  group: 'string',
  advantages: 'string',
  steps: { list: 'string' },
  step_advantages: 'string',
  logprob: { optional: 'float' },
} as const;

/** The values of {@link rolloutColumns}. What estimators there are differs from rule to rule: JSON text. */
export function writeRollout(row: RolloutRow): {
  readonly [Name in keyof typeof rolloutColumns]: string | number | null | readonly string[];
} {
  return {
    reward: row.reward,
    group: row.group,
    advantages: JSON.stringify(row.advantages),
    steps: row.steps,
    step_advantages: JSON.stringify(row.stepAdvantages),
    logprob: Number.isNaN(row.logprob) ? null : row.logprob,
  };
}

function trlStepwise(options: FormatOptions = {}): RowFormat<StepwiseRow> {
  const texts = rowTexts(options);
  return rowFormat(
    {
      name: 'trl-stepwise',
      kind: 'stepwise',
      columns: { prompt: 'string', completions: { list: 'string' }, labels: { list: 'boolean' } },
      usage: stepwiseUsage,
      write(row) {
        const steps = row.steps.map(({ text }) => text.trim());
        if (steps.length === 0) return 'The row has no steps.';
        if (steps.includes('')) return 'A step is empty.';
        if (row.delimiter !== '' && steps.some((step) => step.includes(row.delimiter))) {
          return 'A step holds what steps are parted by.';
        }
        const { text, lead } = texts.prompt(row);
        return {
          prompt: text,
          completions: steps.map((step, place) => (place === 0 ? lead + step : step)),
          labels: row.steps.map(({ label }) => label),
        };
      },
    },
    options,
  );
}

/** A row of a completion that could be said, else why not. */
export function whole<Value>(
  completion: CompletionText,
  write: (text: string) => Value,
): Value | string {
  return 'refused' in completion ? completion.refused : write(completion.text);
}
