import type { PromptRow, RolloutRow, RowKind } from '../rows.ts';
import type { FileRow } from './columns.ts';
import { datasetFormat, type Form } from './dataset-format.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { implicitReading, usualReadings } from './reading.ts';
import { plainPrompt } from './render.ts';
import { type RowTexts, rowTexts, said } from './text.ts';
import { grpoUsage, rolloutUsage, stepwiseUsage, trainerUsage } from './trl-usage.ts';

/**
 * TRL, with text: the prompt is rendered, and a step continues the steps before it. White space at the beginning of a
 * completion, and around labelled steps, is left out.
 */
export function trl(options: FormatOptions = {}): DatasetFormat<RowKind> {
  const texts = rowTexts(options);
  return datasetFormat(
    {
      name: 'trl',
      title: 'TRL, as text: DPO, KTO, PRM, SFT, GRPO',
      readings: [
        implicitReading('trl-preference-implicit', { chosen: 'string', rejected: 'string' }),
        implicitReading('trl-text', { text: 'string' }),
      ],
    },
    {
      preference: {
        columns: { prompt: 'string', chosen: 'string', rejected: 'string' },
        usage: trainerUsage('DPO', options),
        write: texts.pair,
        reads: usualReadings.pair,
      },
      prompt: {
        columns: { prompt: 'string', answer: 'string' },
        usage: grpoUsage,
        write: (row) =>
          hidesTools(row, options)
            ? 'The model was offered tools, which this text does not show: the form trl-tools says them, or a chat template that does (`--chat-template`).'
            : { prompt: texts.prompt(row).text, answer: row.answer },
        reads: usualReadings.prompt,
      },
      rollout: {
        columns: { prompt: 'string', completion: 'string', ...rolloutColumns },
        usage: rolloutUsage,
        write: (row) =>
          said(texts.single(row, true), (single) => ({ ...single, ...writeRollout(row) })),
        reads: usualReadings.rollout,
      },
      sft: {
        columns: { prompt: 'string', completion: 'string' },
        usage: trainerUsage('SFT', options),
        write: (row) => texts.single(row, row.ends),
        reads: usualReadings.completion,
      },
      stepwise: stepwise(texts),
      unpaired: {
        columns: { prompt: 'string', completion: 'string', label: 'boolean' },
        usage: trainerUsage('KTO', options),
        write: (row) =>
          said(texts.single(row, row.ends), (single) => ({ ...single, label: row.label })),
        reads: usualReadings.unpaired,
      },
    },
    options,
  );
}

/** Whether tools were offered that a prompt looks the same without. */
function hidesTools({ prompt, tools = [] }: PromptRow, options: FormatOptions): boolean {
  const { render = plainPrompt } = options;
  return tools.length > 0 && render(prompt, tools) === render(prompt);
}

function stepwise(texts: RowTexts): Form<'stepwise'> {
  return {
    columns: { prompt: 'string', completions: { list: 'string' }, labels: { list: 'boolean' } },
    usage: stepwiseUsage,
    write(row) {
      const steps = row.steps.map(({ text }) => text.trim());
      if (steps.length === 0) return 'The row has no steps.';
      if (steps.includes('')) return 'A step is empty.';
      if (row.delimiter !== '' && steps.some((step) => step.includes(row.delimiter))) {
        return 'A step holds what steps are parted by: give the rule another `delimiter`.';
      }
      const { text, lead } = texts.prompt(row);
      return {
        prompt: text,
        completions: steps.map((step, place) => (place === 0 ? lead + step : step)),
        labels: row.steps.map(({ label }) => label),
      };
    },
    reads: {
      needs: ['completions', 'labels'],
      parts: (reader) => ({
        joined: true,
        prompt: reader.content('prompt'),
        steps: reader.list('completions'),
        labels: reader.list('labels'),
      }),
    },
  };
}

/**
 * TRL's `RewardTrainer`, which reads the margin. Apart from the margin, the rows are those of {@link trl}: white space at
 * the beginning of a completion is left out.
 */
export function trlReward(options: FormatOptions = {}): DatasetFormat<'preference'> {
  const texts = rowTexts(options);
  return datasetFormat(
    { name: 'trl-reward', title: 'TRL, for reward models: preferences with their margin' },
    {
      preference: {
        columns: { prompt: 'string', chosen: 'string', rejected: 'string', margin: 'float' },
        usage: trainerUsage('Reward', options),
        write: (row) => said(texts.pair(row), (pair) => ({ ...pair, margin: row.margin })),
      },
    },
    options,
  );
}

/** The parts of a rollout besides its prompt and completion. */
export const rolloutColumns = {
  reward: 'float',
  group: 'string',
  advantages: 'string',
  steps: { list: 'string' },
  step_advantages: 'string',
} as const;

/** The values of {@link rolloutColumns}. What estimators there are differs from rule to rule: JSON text. */
export function writeRollout(row: RolloutRow): FileRow {
  return {
    reward: row.reward,
    group: row.group,
    advantages: JSON.stringify(row.advantages),
    steps: row.steps,
    step_advantages: JSON.stringify(row.stepAdvantages),
  };
}
