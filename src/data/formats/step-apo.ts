import { datasetFormat } from './dataset-format.ts';
import { datasetInfo, llamaFactoryUsage } from './dataset-info.ts';
import type { DatasetFormat, FormatOptions } from './format.ts';
import { sidesOf } from './reading.ts';
import { rowTexts, said } from './text.ts';

/**
 * The files of Step-APO, the step-level advantage preference optimisation of CPL: the rendered beginning, two next
 * steps, and their values.
 *
 * @see Wang et al., "CPL: Critical Plan Step Learning Boosts LLM Generalization in Reasoning Tasks", 2024.
 */
export function stepApoFiles(options: FormatOptions = {}): DatasetFormat<'preference'> {
  const texts = rowTexts(options);
  return datasetFormat(
    {
      name: 'step-apo',
      title: 'Step-APO: text so far, two next steps with their values',
      paper: 'Wang et al., 2024, arXiv 2409.08642',
    },
    {
      preference: {
        columns: {
          instruction: 'string',
          chosen: 'string',
          rejected: 'string',
          q_chosen: 'float',
          q_rejected: 'float',
        },
        usage: `${llamaFactoryUsage('dpo', true)}

Step-APO needs the patched LLaMA-Factory 0.8.3 of CPL, which reads both values (\`pref_loss: sigmoid_a_<α>\`).`,
        write: (row) =>
          said(texts.pair(row), ({ prompt, ...sides }) => ({
            instruction: prompt,
            ...sides,
            q_chosen: row.chosenScore,
            q_rejected: row.rejectedScore,
          })),
        extraFiles: datasetInfo({
          ranking: true,
          columns: {
            prompt: 'instruction',
            chosen: 'chosen',
            rejected: 'rejected',
            q_chosen: 'q_chosen',
            q_rejected: 'q_rejected',
          },
        }),
        reads: {
          needs: ['instruction', 'chosen', 'q_chosen'],
          parts: (reader) => ({ prompt: reader.content('instruction'), ...sidesOf(reader) }),
        },
      },
    },
    options,
  );
}
