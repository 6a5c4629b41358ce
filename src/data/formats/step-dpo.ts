import type { Message } from '../../contracts/language-model.ts';
import type { PreferenceRow } from '../rows.ts';
import { datasetInfo, llamaFactoryUsage } from './dataset-info.ts';
import type { FormatFamily, FormatOptions, RowFormat } from './format.ts';
import { rowFormat } from './row-format.ts';
import { pairWriter } from './trl.ts';

/**
 * The files of Step-DPO: the question, the steps so far, and two next steps. The last turn of the user is the
 * question; its trainer has a system turn of its own.
 *
 * @see Lai et al., "Step-DPO: Step-wise Preference Optimization for Long-chain Reasoning of LLMs", 2024.
 */
export const stepDpoFiles: FormatFamily<'preference'> = {
  name: 'step-dpo',
  title: 'Step-DPO: question, steps so far, two next steps',
  formats: { preference: stepDpoPreference },
};

/**
 * The files of Step-APO, the step-level advantage preference optimisation of CPL: the rendered beginning, two next
 * steps, and what each is worth.
 *
 * @see Wang et al., "CPL: Critical Plan Step Learning Boosts LLM Generalization in Reasoning Tasks", 2024.
 */
export const stepApoFiles: FormatFamily<'preference'> = {
  name: 'step-apo',
  title: 'Step-APO: text so far, two next steps with their values',
  formats: { preference: stepApoPreference },
};

function stepDpoPreference(options: FormatOptions = {}): RowFormat<PreferenceRow> {
  const pair = pairWriter({ ...options, render: stepsSoFar });
  return rowFormat(
    {
      name: 'step-dpo-preference',
      kind: 'preference',
      columns: {
        prompt: 'string',
        initial_reason_steps: 'string',
        chosen: 'string',
        rejected: 'string',
      },
      usage:
        'Read by `train.py` of <https://github.com/dvlab-research/Step-DPO> with `--data_path`. It puts its own template around the question.',
      write(row) {
        const question = questionOf(row.prompt);
        if (question === undefined) {
          return 'The prompt is more than a question and the steps so far.';
        }
        const written = pair(row);
        if (typeof written === 'string') return written;
        const { prompt, chosen, rejected } = written;
        return { prompt: question, initial_reason_steps: prompt, chosen, rejected };
      },
    },
    options,
  );
}

function stepsSoFar(messages: readonly Message[]): string {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? last.content : '';
}

/** The question, where nobody has spoken before it but the system. */
function questionOf(messages: readonly Message[]): string | undefined {
  const spoken = messages.filter(({ role }) => role !== 'system');
  const [question, steps, ...others] = spoken;
  const isPlain =
    question?.role === 'user' &&
    (steps === undefined || steps.role === 'assistant') &&
    others.length === 0;
  return isPlain ? question.content : undefined;
}

function stepApoPreference(options: FormatOptions = {}): RowFormat<PreferenceRow> {
  const pair = pairWriter(options);
  return rowFormat(
    {
      name: 'step-apo-preference',
      kind: 'preference',
      columns: {
        instruction: 'string',
        chosen: 'string',
        rejected: 'string',
        q_chosen: 'float',
        q_rejected: 'float',
      },
      usage: `${llamaFactoryUsage('dpo', true)}

Step-APO needs the patched LLaMA-Factory 0.8.3 of CPL, which reads both values (\`pref_loss: sigmoid_a_<α>\`).`,
      write(row) {
        const written = pair(row);
        if (typeof written === 'string') return written;
        const { prompt, chosen, rejected } = written;
        return {
          instruction: prompt,
          chosen,
          rejected,
          q_chosen: row.chosenScore,
          q_rejected: row.rejectedScore,
        };
      },
      extraFiles: (files) =>
        datasetInfo(files, {
          ranking: true,
          columns: {
            prompt: 'instruction',
            chosen: 'chosen',
            rejected: 'rejected',
            q_chosen: 'q_chosen',
            q_rejected: 'q_rejected',
          },
        }),
    },
    options,
  );
}
